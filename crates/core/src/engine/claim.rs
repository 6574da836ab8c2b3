//! Asks the store for a claim until it is known how it stands.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};
use tracing::{debug, error, info, warn};

use super::{Admission, answers, giving_back, later, security, shared::Shared};
use crate::{
    OperationId,
    answer::{Answer, Executed, OperationState, Status, executed_of},
    idempotency::InvalidKey,
    lifecycle::{Seen, State},
    store::{Acquire, Acquired, Claimed, GuardClaim, Lease, Record, Released, StoreErrorKind},
};

/// How often a claim follows a record that moves under it (released and claimed again) before it gives way.
const MAX_HOPS: u32 = 8;

/// What names the operation: it decides what a caller is told of a record that is not this request's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Credential {
    /// The server's word, signed over subject, scope and params.
    Fingerprint,
    /// The client's word, made of nothing but itself.
    Key,
}

/// A claim, and when it was sent: its lease began no earlier.
pub(super) struct Won {
    pub(super) admission: Admission,
    pub(super) claimed: Claimed,
    pub(super) sent: Instant,
}

/// What a claim comes to that was not won.
pub(super) enum Lost {
    /// This is to be told.
    Answer(Answer),
    /// Another attempt runs: told as it is, or waited for.
    Runs(Box<Record>),
}

impl From<Answer> for Lost {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

/// Claims, or says what the caller is to be told.
///
/// An error that leaves open whether the claim was applied is asked again with the same owner, which is a guarded write
/// and no read. It is never treated as free to run, nor as taken by another. One that is won too late, or that nobody
/// can be told of, is given back: nothing ran under it, and nothing may any more.
pub(super) async fn claim(
    shared: &Arc<Shared>,
    mut request: Acquire,
    admission: Admission,
    credential: Credential,
) -> Result<Won, Lost> {
    let give_up = later(Instant::now(), shared.answer_within);
    let mut pause = Duration::from_millis(25);
    let mut may_be_claimed = false;
    let mut hops = 0;
    loop {
        let sent = Instant::now();
        match shared.store.acquire(&request).await {
            Ok(Acquired::Claimed(claimed)) if sent.elapsed() >= request.claim.lease => {
                return Err(give_back(shared, &request, claimed.lease, admission)
                    .await
                    .into());
            }
            Ok(Acquired::Claimed(claimed)) => {
                let (epoch, attempt) = (claimed.lease.epoch.as_u64(), claimed.attempt);
                info!(operation_id = %request.id, scope = %request.identity.scope, epoch, attempt, "claimed");
                return Ok(Won {
                    admission,
                    claimed,
                    sent,
                });
            }
            Ok(Acquired::Found(record))
                if let Some(lease) = giving_back::own_claim(&record, request.claim.owner) =>
            {
                return Err(give_back(shared, &request, lease, admission).await.into());
            }
            Ok(Acquired::Found(record)) if record.life.state == State::InFlight => {
                return Err(Lost::Runs(record));
            }
            Ok(Acquired::Found(record)) if may_claim(&request, &record) && hops < MAX_HOPS => {
                hops += 1;
                request = request.with_seen(Seen {
                    state: record.life.state,
                    epoch: record.life.epoch,
                });
            }
            Ok(Acquired::Gone) if hops < MAX_HOPS => {
                hops += 1;
                request.claim.seen = None;
            }
            Ok(other) => return Err(told(shared, &request, other, credential).into()),
            Err(failed) => {
                may_be_claimed |= failed.kind() == StoreErrorKind::Indeterminate;
                let more = failed.may_retry() && Instant::now() + pause < give_up;
                if !more || !may_be_claimed {
                    if failed.kind() == StoreErrorKind::Forgotten {
                        debug!(operation_id = %request.id, error = %failed, "nothing is claimed");
                    } else {
                        error!(operation_id = %request.id, error = %failed, may_be_claimed, "the store gave no claim and no record");
                    }
                    let answer = answers::of_error(&failed, request.id);
                    if may_be_claimed {
                        take_back(shared, request, admission);
                    }
                    return Err(answer.into());
                }
                debug!(operation_id = %request.id, error = %failed, "a claim is asked again");
                sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
        }
    }
}

/// RELEASED is anybody's who names it; UNKNOWN where a takeover was declared safe.
fn may_claim(request: &Acquire, record: &Record) -> bool {
    match record.life.state {
        State::Released => true,
        State::Unknown => {
            request.claim.takeover_within.is_some()
                && record.life.deadline.is_none()
                && request.claim.seen.is_none()
        }
        _ => false,
    }
}

/// Our own claim lapsed before its reply came: by now somebody may have looked, found no sign of life, and settled it.
/// Nothing ran, since only this call could have run it; so nothing may run any more.
async fn give_back(
    shared: &Arc<Shared>,
    request: &Acquire,
    lease: Lease,
    admission: Admission,
) -> Answer {
    let answer = Answer::new(Status::Unavailable).with_operation(lease.id);
    match shared.store.release(&lease).await {
        Ok(released) => {
            warn!(operation_id = %lease.id, ?released, "a claim that lapsed before it ran is given back");
            match released {
                Released::Released => answer.with_executed(Executed::NotYet),
                Released::InDoubt | Released::NotOwner => answer,
            }
        }
        Err(error) => {
            warn!(operation_id = %lease.id, %error, "a claim that lapsed before it ran is not given back yet");
            if error.may_retry() {
                let max_run = shared.facts(&request.identity.scope).max_run;
                let release = giving_back::release(Arc::clone(shared), lease, max_run, admission);
                shared.spawn(release);
            }
            answer
        }
    }
}

fn take_back(shared: &Arc<Shared>, request: Acquire, admission: Admission) {
    let max_run = shared.facts(&request.identity.scope).max_run;
    let undo = giving_back::take_back(Arc::clone(shared), request, max_run, admission);
    shared.spawn(undo);
}

/// What the caller is told where there was nothing to claim.
fn told(shared: &Shared, request: &Acquire, acquired: Acquired, credential: Credential) -> Answer {
    let (id, identity) = (request.id, &request.identity);
    match acquired {
        Acquired::Found(record) => answers::of_record(shared, *record, None),
        // The key was used before, with another request or for another action: told before anything about its state.
        Acquired::ParamsChanged(_) | Acquired::Foreign if credential == Credential::Key => {
            security::key_reused(id, &identity.subject, &identity.scope);
            key_reused(id)
        }
        Acquired::ParamsChanged(record) => {
            security::record_changed(id, &identity.subject, &identity.scope);
            params_changed(id, Some(record.life.state))
        }
        Acquired::Foreign => {
            security::foreign_record(id, &identity.subject, Some(&identity.scope));
            Answer::new(Status::FingerprintInvalid)
        }
        Acquired::Expired {
            record: Some(record),
            now,
        } => answers::of_record(shared, *record, Some(now)),
        Acquired::Expired { record: None, .. } if credential == Credential::Key => {
            Answer::from(InvalidKey::TooOld).with_operation(id)
        }
        Acquired::Expired { record: None, now } => {
            let exp = request.claim.exp.unwrap_or(now);
            answers::of_absence(shared, id, exp, Some(request.retention), now)
        }
        Acquired::ApprovalMissing => Answer::new(Status::ApprovalExpired)
            .with_executed(Executed::Unknown)
            .with_operation(id),
        // Nobody may claim it any more, whatever its state says.
        Acquired::ApprovalExpired(_) => Answer::new(Status::ApprovalExpired)
            .with_operation(id)
            .with_state(OperationState::Cancelled),
        Acquired::GuardHeld { guard, holder } => guard_held(&guard, *holder, request),
        Acquired::VersionConflict { .. } => Answer::new(Status::VersionConflict).with_operation(id),
        Acquired::Claimed(_) | Acquired::Gone => {
            Answer::new(Status::Unavailable).with_operation(id)
        }
    }
}

pub(super) const fn key_reused(id: OperationId) -> Answer {
    Answer::new(Status::KeyReused).with_operation(id)
}

pub(super) fn params_changed(id: OperationId, state: Option<State>) -> Answer {
    let answer = Answer::new(Status::ParamsChanged)
        .with_operation(id)
        .with_executed(executed_of(state));
    match state {
        Some(state) => answer.with_state(state),
        None => answer,
    }
}

/// Another operation holds a guard: the caller learns its id and state, no result.
fn guard_held(guard: &GuardClaim, holder: Record, request: &Acquire) -> Answer {
    let (status, operation) = match guard {
        GuardClaim::Unique { .. } => (Status::AlreadyExists, holder.id),
        GuardClaim::Repeat { .. } => (Status::PossibleDuplicate, holder.id),
        GuardClaim::Exclusive { .. } => (Status::ResourceBusy, request.id),
    };
    let answer = Answer::new(status).with_operation(operation);
    if status == Status::ResourceBusy {
        return answer;
    }
    let state = holder.life.state;
    let mut answer = answer
        .with_state(state)
        .with_executed(executed_of(Some(state)));
    if status == Status::AlreadyExists {
        answer = answer.with_same_params(holder.identity.hash == request.identity.hash);
    }
    answer.result_ref = holder.result_ref;
    answer
}
