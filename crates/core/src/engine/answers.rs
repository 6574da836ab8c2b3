//! Answers from what stands on record.

use std::time::Duration;

use super::shared::Shared;
use crate::{
    OperationId, Scope, Timestamp,
    answer::{Answer, Executed, OperationState, Status, executed_of},
    lifecycle::State,
    store::{Record, Sighting, StoreError, StoreErrorKind},
};

/// What stands, for the operation's own subject.
///
/// `now` is the store's clock. `None` is for a record that an acquire has just found: its life was read by that clock
/// already, and its time is not over, or the store would have said so.
pub(super) fn of_record(shared: &Shared, record: Record, now: Option<Timestamp>) -> Answer {
    let state = now.map_or(record.life.state, |now| record.state_at(now));
    let past = |end: Option<Timestamp>| now.zip(end).is_some_and(|(now, end)| now >= end);
    let status = match state {
        State::Done => Status::AlreadyCompleted,
        State::Failed => Status::AlreadyFailed,
        State::InFlight | State::Accepted => Status::InProgress,
        State::Unknown => Status::OutcomeUnknown,
        State::Released => Status::NotExecuted,
        State::Denied => Status::ApprovalDenied,
        State::Cancelled => Status::Cancelled,
        State::AwaitingApproval | State::Approved
            if past(record.life.approval_ends) || past(record.exp) =>
        {
            Status::ApprovalExpired
        }
        State::AwaitingApproval => Status::ApprovalRequired,
        // To a confirm it is the caller's to claim: whoever gets here lost a race, and may ask again.
        State::Approved if now.is_none() => Status::Unavailable,
        State::Approved => Status::NotStarted,
    };
    let executed = match state {
        // No claim can come any more: then "not yet" has become "no".
        State::Released | State::Approved | State::AwaitingApproval => {
            nothing_ran(shared, record.exp, now)
        }
        state => executed_of(Some(state)),
    };
    // Whatever nobody may claim any more is over, and is told as such.
    let told = match executed {
        Executed::No if !state.is_terminal() => OperationState::Cancelled,
        _ => state.into(),
    };
    let mut answer = Answer::new(status)
        .with_executed(executed)
        .with_operation(record.id)
        .with_state(told);
    if record.attempts > 0 {
        answer = answer.with_attempt(record.attempts);
    }
    if matches!(state, State::Done | State::Failed) {
        answer.result = record.result;
    }
    answer.result_ref = record.result_ref;
    with_poll_hint(answer, shared, &record.identity.scope)
}

fn nothing_ran(shared: &Shared, exp: Option<Timestamp>, now: Option<Timestamp>) -> Executed {
    match exp.zip(now) {
        Some((exp, now)) if now >= exp + shared.store.capabilities().commit_delay => Executed::No,
        _ => Executed::NotYet,
    }
}

/// No record, and a fingerprint that ends at `exp`. "No" only when no claim can come any more, and none can have been
/// made and forgotten: that needs to be known how long its record would have been kept.
pub(super) fn of_absence(
    shared: &Shared,
    id: OperationId,
    exp: Timestamp,
    retention: Option<Duration>,
    now: Timestamp,
) -> Answer {
    if now < exp {
        return Answer::new(Status::NotStarted)
            .with_operation(id)
            .with_state(OperationState::Queued);
    }
    let settled = now >= exp + shared.store.capabilities().commit_delay;
    let kept = retention.is_some_and(|retention| now < exp + retention);
    let (executed, state) = if settled && kept {
        (Executed::No, OperationState::Cancelled)
    } else {
        (Executed::Unknown, OperationState::Unknown)
    };
    Answer::new(Status::FingerprintExpired)
        .with_executed(executed)
        .with_operation(id)
        .with_state(state)
}

/// The store could not say.
pub(super) fn of_error(error: &StoreError, id: OperationId) -> Answer {
    let status = match error.kind() {
        StoreErrorKind::Corrupt | StoreErrorKind::Forgotten => Status::OutcomeUnknown,
        _ => Status::Unavailable,
    };
    Answer::new(status).with_operation(id)
}

/// Looks the operation up; `exp` is the end of its fingerprint, where there is one.
pub(super) async fn by_id(
    shared: &Shared,
    scope: &Scope,
    id: OperationId,
    exp: Option<Timestamp>,
) -> Answer {
    match shared.store.find(id).await {
        Ok(Sighting {
            record: Some(record),
            now,
        }) => of_record(shared, record, Some(now)),
        Ok(Sighting { record: None, now }) => match exp {
            Some(exp) => of_absence(shared, id, exp, shared.facts(scope).retention, now),
            None => Answer::new(Status::NotFound),
        },
        Err(error) => with_poll_hint(of_error(&error, id), shared, scope),
    }
}

/// The gate's own hint, where the next step is to ask again.
pub(super) fn with_poll_hint(answer: Answer, shared: &Shared, scope: &Scope) -> Answer {
    match (answer.status, shared.facts(scope).poll_after) {
        (Status::InProgress, Some(hint)) => answer.with_poll_after(hint),
        _ => answer,
    }
}
