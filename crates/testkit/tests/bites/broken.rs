//! A store that is right but for one defect.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use counterfoil_core::{
    Clock, OperationId, Owner, Timestamp,
    lifecycle::State,
    store::{
        Acquire, Acquired, Annotated, Annotation, Cancellation, Cancelled, Capabilities, Completed,
        Completion, Decided, Decision, FenceRequest, Fenced, Lease, Listing, Page, Proposal,
        Proposed, Receipt, Received, Record, Released, Renewed, Resolution, Resolved, Sighting,
        Store, StoreError, Watch,
    },
};
use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::ManualClock;

use crate::defects::Defect;

/// A memory store whose requests, replies and records are spoiled as one defect says. Without a defect it only passes
/// them on.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) inner: MemoryStore,
    pub(crate) clock: ManualClock,
    pub(crate) defect: Option<Defect>,
    memo: Mutex<Memo>,
}

/// What a defect has to remember.
#[derive(Default, Debug)]
pub(crate) struct Memo {
    /// Under which id the store inside knows an operation. A forgotten record is one whose operation got another.
    inside: HashMap<OperationId, OperationId>,
    /// Operations that a defect has met before.
    pub(crate) met: HashSet<OperationId>,
    /// When a shortened lease ends.
    pub(crate) until: HashMap<OperationId, Timestamp>,
    /// What was said over a terminal outcome.
    pub(crate) overwritten: HashMap<OperationId, Completion>,
}

impl Broken {
    pub(crate) fn new(clock: ManualClock, defect: Option<Defect>) -> Self {
        Self {
            inner: MemoryStore::with_clock(clock.clone()),
            clock,
            defect,
            memo: Mutex::default(),
        }
    }

    pub(crate) fn is(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn memo(&self) -> MutexGuard<'_, Memo> {
        self.memo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn meet(&self, id: OperationId) -> bool {
        self.memo().met.insert(id)
    }

    pub(crate) fn known(&self) -> Vec<OperationId> {
        self.memo().inside.keys().copied().collect()
    }

    pub(crate) fn inside(&self, id: OperationId) -> OperationId {
        *self.memo().inside.entry(id).or_insert(id)
    }

    /// Makes the record absent.
    pub(crate) fn forget(&self, id: OperationId) {
        let mut bytes = *Owner::mint().as_bytes();
        bytes[6] = 0x81;
        self.memo()
            .inside
            .insert(id, OperationId::from_bytes(bytes));
    }

    /// The true record, as it reads now.
    pub(crate) async fn stands(&self, id: OperationId) -> Option<Record> {
        let sighting = self.inner.find(self.inside(id)).await.ok()?;
        sighting.record.map(|mut record| {
            record.id = id;
            record
        })
    }

    /// What the caller is shown of a record.
    pub(crate) fn show(&self, mut record: Record) -> Record {
        let memo = self.memo();
        let outside = memo.inside.iter().find(|(_, inside)| **inside == record.id);
        if let Some((&id, _)) = outside {
            record.id = id;
        }
        match self.defect {
            Some(Defect::ForgetsExp) => record.exp = None,
            Some(Defect::ForgetsWhoResolved) => record.settled_by = None,
            Some(Defect::ForgetsReasons) => record.reason = None,
            Some(Defect::ForgetsProviderRefs) => record.provider_ref = None,
            Some(Defect::ForgetsResultRefs) => record.result_ref = None,
            Some(Defect::KeepsNoEvidence) => record.evidence.clear(),
            Some(Defect::KeepsOneEvidence) => {
                let older = record.evidence.len().saturating_sub(1);
                record.evidence.drain(..older);
            }
            Some(Defect::ForgetsTheReleasedOwner) if record.life.state == State::Released => {
                record.life.owner = None;
            }
            Some(Defect::ShortensLeases) => {
                let until = memo.until.get(&record.id);
                if record.life.state == State::InFlight
                    && until.is_some_and(|&until| self.clock.now() >= until)
                {
                    record.life.state = State::Unknown;
                }
            }
            Some(Defect::RewritesTheEnded) => {
                if let Some(Completion::Ended { ending, result, .. }) =
                    memo.overwritten.get(&record.id)
                {
                    record.life.state = ending.state();
                    record.result.clone_from(result);
                }
            }
            _ => {}
        }
        record
    }

    pub(crate) fn show_box(&self, record: Box<Record>) -> Box<Record> {
        Box::new(self.show(*record))
    }
}

/// Whether it is unknown by the passing of time, and nobody has doubted, fenced or taken it over.
pub(crate) fn is_lapsed(record: &Record) -> bool {
    record.life.state == State::Unknown && record.reason.is_none() && record.life.deadline.is_none()
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Store for Broken {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }
    async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        self.spoil_acquire(request).await
    }
    async fn renew(&self, held: &Lease, lease: Duration) -> Result<Renewed, StoreError> {
        self.spoil_renew(held, lease).await
    }
    async fn complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        self.spoil_complete(held, completion).await
    }
    async fn release(&self, held: &Lease) -> Result<Released, StoreError> {
        self.spoil_release(held).await
    }
    async fn annotate(&self, held: &Lease, note: &Annotation) -> Result<Annotated, StoreError> {
        self.spoil_annotate(held, note).await
    }
    async fn receive(&self, receipt: &Receipt) -> Result<Received, StoreError> {
        self.spoil_receive(receipt).await
    }
    async fn fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
        self.spoil_fence(request).await
    }
    async fn resolve(&self, resolution: &Resolution) -> Result<Resolved, StoreError> {
        self.spoil_resolve(resolution).await
    }
    async fn propose(&self, proposal: &Proposal) -> Result<Proposed, StoreError> {
        self.inner.propose(proposal).await
    }
    async fn decide(&self, decision: &Decision) -> Result<Decided, StoreError> {
        self.inner.decide(decision).await
    }
    async fn cancel(&self, cancellation: &Cancellation) -> Result<Cancelled, StoreError> {
        self.spoil_cancel(cancellation).await
    }
    async fn find(&self, id: OperationId) -> Result<Sighting, StoreError> {
        self.spoil_find(id).await
    }
    async fn list(&self, listing: &Listing) -> Result<Page, StoreError> {
        self.spoil_list(listing).await
    }
    async fn purge(&self, limit: usize) -> Result<usize, StoreError> {
        self.spoil_purge(limit).await
    }

    fn watch(&self, _: OperationId) -> Watch {
        Watch::silent()
    }
}
