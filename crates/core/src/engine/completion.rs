//! Writes down how a run ended, for as long as that is worth trying, and decides what its caller is told.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::{Admission, Outcome, answers, later, run::Run, security};
use crate::{
    answer::{Answer, Executed, OperationState, Status, ThisCall},
    lifecycle::{Ending, State},
    store::{Completed, Completion, Released, StoreError, StoreErrorKind, StoredResult},
};

/// What the caller of a run is to be told.
#[derive(Clone, Debug)]
#[must_use]
pub struct Settled {
    /// Whether the handler's own response stands, and goes to its caller. Otherwise the answer goes out in its place:
    /// somebody else's result counts, or what the handler said could not be stored.
    pub own_response: bool,
    /// What stands. Its status and operation id go along with the handler's response too.
    pub answer: Answer,
}

/// How the store took it.
enum End {
    Stands,
    InDoubt,
    NotOwner,
    /// A release was refused after one whose reply was lost: that one was most likely taken, and somebody went on from
    /// there, as is everybody's right.
    MovedOn,
    Unstored,
}

pub(super) async fn complete(
    run: &Arc<Run>,
    outcome: Outcome,
    stop: CancellationToken,
    admission: Option<Admission>,
) -> Settled {
    let (tx, rx) = oneshot::channel();
    // Read once: a number that the handler gives from now on is neither stored nor told.
    let result_ref = run.result_ref();
    let writer = {
        let (run, outcome, result_ref) = (Arc::clone(run), outcome.clone(), result_ref.clone());
        // However this ends, nobody is left who could complete what is kept alive.
        let stop = stop.drop_guard();
        async move {
            let end = write_down(&run, &outcome, result_ref).await;
            drop(stop);
            drop(admission);
            // The caller may have stopped waiting, or be gone.
            let _ = tx.send(end);
        }
    };
    run.spawn(writer);
    let end = match timeout(run.shared.answer_within, rx).await {
        Ok(Ok(end)) => end,
        // Still trying, or the writer is gone: not stored as far as this caller can be told.
        Ok(Err(_)) | Err(_) => End::Unstored,
    };
    settle(run, outcome, result_ref, end).await
}

async fn settle(run: &Run, outcome: Outcome, result_ref: Option<String>, end: End) -> Settled {
    match (end, outcome) {
        (End::Stands, outcome) => stands(run, outcome, result_ref),
        // The effect is there, whether or not we could write it down.
        (End::Unstored, outcome @ Outcome::Done(_)) => stands(run, outcome, result_ref),
        (End::Unstored | End::InDoubt, _) => Settled {
            own_response: false,
            answer: ran(run, Status::OutcomeUnknown).with_state(State::Unknown),
        },
        (end @ (End::NotOwner | End::MovedOn), outcome) => {
            if matches!(end, End::NotOwner) {
                security::stale_owner(run.lease.id, run.lease.epoch.as_u64());
            }
            let stands = answers::by_id(&run.shared, &run.scope, run.lease.id, run.exp).await;
            let untrue = match outcome {
                // Somebody settled it as not done, and this process knows better: nobody is to build on that "no".
                Outcome::Done(_) | Outcome::Accepted(_) => {
                    matches!(stands.executed, Executed::No | Executed::NotYet)
                }
                // Nobody settled anything: the store has lost the record, and knows less than this process.
                Outcome::Unknown(_) => matches!(
                    stands.status,
                    Status::NotStarted | Status::FingerprintExpired | Status::NotFound
                ),
                Outcome::Failed(_) | Outcome::NotExecuted => false,
            };
            let answer = if untrue {
                ran(run, Status::OutcomeUnknown).with_state(OperationState::Unknown)
            } else {
                stands.with_this_call(ThisCall::Ran)
            };
            Settled {
                own_response: false,
                answer,
            }
        }
    }
}

fn stands(run: &Run, outcome: Outcome, result_ref: Option<String>) -> Settled {
    let told = |status, state, result: Option<StoredResult>| {
        let mut answer = ran(run, status).with_state(state);
        answer.result = result;
        answer.result_ref = result_ref;
        answer
    };
    let answer = match outcome {
        Outcome::Done(result) => told(Status::Completed, State::Done, result),
        Outcome::Failed(result) => told(Status::AlreadyFailed, State::Failed, result),
        Outcome::Accepted(result) => told(Status::InProgress, State::Accepted, result),
        Outcome::NotExecuted => {
            told(Status::NotExecuted, State::Released, None).with_executed(Executed::NotYet)
        }
        Outcome::Unknown(_) => told(Status::OutcomeUnknown, State::Unknown, None),
    };
    Settled {
        own_response: true,
        answer,
    }
}

fn ran(run: &Run, status: Status) -> Answer {
    let answer = Answer::new(status)
        .with_operation(run.lease.id)
        .with_attempt(run.number)
        .with_this_call(ThisCall::Ran);
    answers::with_poll_hint(answer, &run.shared, &run.scope)
}

/// Sends it until the store says something that lasts: at least for as long as a caller waits, and up to `max_run`. Then
/// the lease lapses, and the operation reads as UNKNOWN.
async fn write_down(run: &Run, outcome: &Outcome, result_ref: Option<String>) -> End {
    let give_up =
        later(run.began, run.time.max_run()).max(later(Instant::now(), run.shared.answer_within));
    let mut pause = Duration::from_millis(25);
    let completion = as_completion(outcome, result_ref);
    let mut may_be_stored = false;
    loop {
        let failed = match send(run, completion.as_ref()).await {
            Ok(end) => {
                let end = match end {
                    End::NotOwner if completion.is_none() && may_be_stored => End::MovedOn,
                    end => end,
                };
                let epoch = run.lease.epoch.as_u64();
                info!(operation_id = %run.lease.id, epoch, outcome = name(outcome), stored = end.name(), "run ended");
                return end;
            }
            Err(failed) => failed,
        };
        if !failed.may_retry() || Instant::now() + pause >= give_up {
            error!(operation_id = %run.lease.id, error = %failed, outcome = name(outcome), "how a run ended could not be stored");
            return End::Unstored;
        }
        may_be_stored |= failed.kind() == StoreErrorKind::Indeterminate;
        warn!(operation_id = %run.lease.id, error = %failed, "a completion is sent again");
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(1));
    }
}

async fn send(run: &Run, completion: Option<&Completion>) -> Result<End, StoreError> {
    let store = &run.shared.store;
    Ok(match completion {
        Some(completion) => match store.complete(&run.lease, completion).await? {
            Completed::Completed => End::Stands,
            Completed::InDoubt => End::InDoubt,
            Completed::NotOwner => End::NotOwner,
        },
        None => match store.release(&run.lease).await? {
            Released::Released => End::Stands,
            Released::InDoubt => End::InDoubt,
            Released::NotOwner => End::NotOwner,
        },
    })
}

/// `None` is a release.
fn as_completion(outcome: &Outcome, result_ref: Option<String>) -> Option<Completion> {
    let ended = |ending, result: &Option<StoredResult>| Completion::Ended {
        ending,
        result: result.clone(),
        result_ref: result_ref.clone(),
    };
    Some(match outcome {
        Outcome::Done(result) => ended(Ending::Done, result),
        Outcome::Failed(result) => ended(Ending::Failed, result),
        Outcome::Accepted(result) => Completion::Accepted {
            deadline: None,
            result: result.clone(),
            result_ref: result_ref.clone(),
        },
        Outcome::Unknown(reason) => Completion::Unknown {
            reason: (*reason).to_owned(),
        },
        Outcome::NotExecuted => return None,
    })
}

impl End {
    const fn name(&self) -> &'static str {
        match self {
            Self::Stands => "as said",
            Self::InDoubt => "as unknown, after a takeover",
            Self::NotOwner => "as evidence, the epoch was lost",
            Self::MovedOn => "as said, and somebody went on from there",
            Self::Unstored => "not",
        }
    }
}

const fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "done",
        Outcome::Failed(_) => "failed",
        Outcome::Accepted(_) => "accepted",
        Outcome::NotExecuted => "not_executed",
        Outcome::Unknown(_) => "unknown",
    }
}
