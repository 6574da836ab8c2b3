//! Gives claims back that nobody runs: left alone they would lapse and read as unknown, though nothing happened.
//!
//! Each tries for as long as a run may take, and for as long as a caller waits once the process drains. It holds its
//! place among what runs meanwhile: while a store is in trouble, no more of them are under way than may run.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};
use tracing::{info, warn};

use super::{Admission, later, shared::Shared};
use crate::{
    Owner,
    lifecycle::{Seen, State},
    store::{Acquire, Acquired, Lease, Record, StoreError},
};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Releases a claim under which nothing ran.
pub(super) async fn release(
    shared: Arc<Shared>,
    lease: Lease,
    max_run: Duration,
    _place: Admission,
) {
    let mut patience = Patience::new(&shared, max_run);
    while !released(&shared, lease).await && patience.lasts().await {}
}

/// Seeks out a claim of which its caller could not learn whether it was applied, and releases it.
pub(super) async fn take_back(
    shared: Arc<Shared>,
    request: Acquire,
    max_run: Duration,
    _place: Admission,
) {
    let mut patience = Patience::new(&shared, max_run);
    loop {
        let over = match seek(&shared, &request).await {
            Ok(Some(lease)) => released(&shared, lease).await,
            Ok(None) => true,
            Err(error) => !error.may_retry(),
        };
        if over || !patience.lasts().await {
            return;
        }
    }
}

/// The claim, if it stands. Asked for by the guarded write that it was, and not by a read; written now, it keeps a
/// delayed copy of the first one out.
///
/// Not so for a takeover: written now, it would end an attempt that may still be running and complete, for nothing. Its
/// epoch is known without asking, and releasing that one tells the rest.
async fn seek(shared: &Shared, request: &Acquire) -> Result<Option<Lease>, StoreError> {
    let (id, owner) = (request.id, request.claim.owner);
    if let Some(Seen {
        state: State::Unknown,
        epoch,
    }) = request.claim.seen
    {
        let epoch = epoch.next();
        return Ok(Some(Lease { id, owner, epoch }));
    }
    Ok(match shared.store.acquire(request).await? {
        Acquired::Claimed(claimed) => Some(claimed.lease),
        Acquired::Found(record) => own_claim(&record, owner),
        _ => None,
    })
}

/// The claim of `owner`, if it stands and has not ended.
pub(super) fn own_claim(record: &Record, owner: Owner) -> Option<Lease> {
    let open = matches!(record.life.state, State::InFlight | State::Unknown);
    (open && record.life.owner == Some(owner)).then_some(Lease {
        id: record.id,
        owner,
        epoch: record.life.epoch,
    })
}

/// Whether there is no more to try.
async fn released(shared: &Shared, lease: Lease) -> bool {
    match shared.store.release(&lease).await {
        Ok(released) => {
            info!(operation_id = %lease.id, ?released, "a claim that nobody runs is given back");
            true
        }
        Err(error) => {
            warn!(operation_id = %lease.id, %error, "a claim that nobody runs could not be given back");
            !error.may_retry()
        }
    }
}

struct Patience<'a> {
    shared: &'a Shared,
    give_up: Instant,
    pause: Duration,
    draining: bool,
}

impl<'a> Patience<'a> {
    fn new(shared: &'a Shared, max_run: Duration) -> Self {
        Self {
            shared,
            give_up: later(Instant::now(), max_run),
            pause: FIRST_PAUSE,
            draining: false,
        }
    }

    /// Waits before the next try; `false` where it is not worth one any more.
    async fn lasts(&mut self) -> bool {
        tokio::select! {
            () = sleep(self.pause) => self.pause = (self.pause * 2).min(LONGEST_PAUSE),
            () = self.shared.draining.cancelled(), if !self.draining => {
                self.draining = true;
                self.pause = FIRST_PAUSE;
                let end = later(Instant::now(), self.shared.answer_within);
                self.give_up = self.give_up.min(end);
            }
        }
        Instant::now() < self.give_up
    }
}
