//! Two stores side by side.

use std::time::Duration;

use counterfoil_core::{
    Clock, OperationId, Timestamp,
    store::{Store, StoreError},
};
use counterfoil_store_memory::MemoryStore;

use super::{
    call::{Answer, Call},
    compare::Frame,
    part::{Operation, Part, Times},
    script::{Ask, OPERATIONS, Step},
};
use crate::{
    ManualClock,
    conformance::{Harness, timeless_id},
};

/// A store under test and the reference, each with the same operations.
pub(super) struct Stage<'h> {
    h: &'h Harness,
    reference: MemoryStore,
    clock: ManualClock,
    began: Timestamp,
    operations: Vec<Operation>,
    sent: Vec<Call>,
}

impl<'h> Stage<'h> {
    /// New operations, and a reference whose time is the store's own.
    pub(super) async fn new(h: &'h Harness) -> Result<Self, String> {
        let probe = Call::Find(timeless_id());
        let began = match answer(h, &**h.store(), &probe).await? {
            Answer::Sighting(sighting) => sighting.now,
            other => return Err(format!("find answered {other:?}")),
        };
        let minutes = |n: u64| Duration::from_secs(60 * n);
        let clock = ManualClock::new(began - minutes(10));
        let reference = MemoryStore::with_clock(clock.clone());
        clock.set(began);
        let ids: [OperationId; OPERATIONS] = [
            OperationId::mint(began),
            timeless_id(),
            OperationId::mint(began - minutes(5)),
        ];
        Ok(Self {
            h,
            reference,
            clock,
            began,
            operations: ids.into_iter().map(Operation::new).collect(),
            sent: Vec::new(),
        })
    }

    /// Takes a step, and compares what both stores answer and then have on record.
    pub(super) async fn take(&mut self, step: &Step) -> Result<(), String> {
        let call = match step {
            Step::Wait(units) => {
                let by = self.h.unit() * *units;
                self.h.advance(by).await;
                self.clock.advance(by);
                return self.compare_all().await;
            }
            Step::Ask(operation, ask) => self.call(*operation, ask).await,
            Step::Again(back) => match self.sent.iter().rev().nth(*back) {
                Some(call) => call.clone(),
                None => return Ok(()),
            },
        };
        let (theirs, ours) = self.send_both(&call).await?;
        let look = self.look(call.id()).await?;
        look.frame
            .compare(theirs, ours)
            .map_err(|difference| format!("{call:#?}\nis answered otherwise:\n{difference}"))?;
        self.sent.push(call);
        look.compare()
    }

    /// Compares the records of all operations.
    pub(super) async fn compare_all(&self) -> Result<(), String> {
        for operation in &self.operations {
            self.look(operation.id).await?.compare()?;
        }
        Ok(())
    }

    async fn look(&self, id: OperationId) -> Result<Look, String> {
        let (mut theirs, mut ours) = self.send_both(&Call::Find(id)).await?;
        let unit = self.h.unit();
        let frame = if theirs.tells_no_time() {
            let (mut theirs, mut ours) = self.send_both(&Call::Find(timeless_id())).await?;
            Frame::new(theirs.now(), ours.now(), unit)?
        } else {
            Frame::new(theirs.now(), ours.now(), unit)?
        };
        Ok(Look {
            id,
            theirs,
            ours,
            frame,
        })
    }

    async fn send_both(&self, call: &Call) -> Result<(Answer, Answer), String> {
        let theirs = answer(self.h, &**self.h.store(), call).await?;
        let ours = answer(self.h, &self.reference, call).await?;
        Ok((theirs, ours))
    }

    /// What a step asks, in the light of what is on record.
    async fn call(&self, operation: usize, ask: &Ask) -> Call {
        let operation = &self.operations[operation];
        let record = match self.reference.find(operation.id).await {
            Ok(sighting) => sighting.record,
            Err(_) => None,
        };
        let times = Times {
            began: self.began,
            now: self.clock.now(),
            unit: self.h.unit(),
        };
        Part::new(operation, record.as_ref(), times).call(ask)
    }
}

/// What both stores have on record of an operation.
struct Look {
    id: OperationId,
    theirs: Answer,
    ours: Answer,
    frame: Frame,
}

impl Look {
    fn compare(self) -> Result<(), String> {
        let id = self.id;
        self.frame
            .compare(self.theirs, self.ours)
            .map_err(|difference| format!("then the record of {id} differs:\n{difference}"))
    }
}

/// A call of a store, which must end in time.
async fn answer(h: &Harness, store: &dyn Store, call: &Call) -> Result<Answer, String> {
    let failed = |error: StoreError| format!("{call:#?}\nfailed: {error} ({:?})", error.kind());
    match tokio::time::timeout(h.call_limit(), call.send(store)).await {
        Ok(answer) => answer.map_err(failed),
        Err(_) => Err(format!(
            "{call:#?}\ndid not end within {:?}",
            h.call_limit()
        )),
    }
}
