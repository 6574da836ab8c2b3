//! One answer for each case that has a text of its own, as the engine would give it.

use counterfoil_core::{
    OperationId,
    answer::{Answer, Case, Executed, OperationState, Status, ThisCall},
    store::StoredResult,
};

/// An answer, and the name of its golden file.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) answer: Answer,
}

/// One sample of each case.
pub(crate) fn all() -> Vec<Sample> {
    Case::all()
        .map(|case| Sample {
            name: name(case),
            answer: answer(case),
        })
        .collect()
}

/// `status[.executed][.without_result]`.
fn name(case: Case) -> String {
    let mut name = case.status().to_string();
    if let Some(executed) = case.executed()
        && case.status().possible_executed().len() > 1
    {
        name.push('.');
        name.push_str(executed.as_str());
    }
    if case.has_result() == Some(false) {
        name.push_str(".without_result");
    }
    name
}

fn answer(case: Case) -> Answer {
    let status = case.status();
    let mut answer = Answer::new(status);
    if let Some(executed) = case.executed() {
        answer = answer.with_executed(executed);
    }
    if knows_the_operation(status) {
        answer = answer.with_operation(OperationId::from_bytes([
            0x01, 0x92, 0xf3, 0xa4, 0xb5, 0xc6, 0x77, 0xd8, 0x89, 0xea, 0xfb, 0x0c, 0x1d, 0x2e,
            0x3f, 0x40,
        ]));
        if let Some(state) = state(&answer) {
            answer = answer.with_state(state);
        }
    }
    match status {
        Status::InProgress => answer = answer.with_attempt(2),
        Status::OutcomeUnknown => {
            answer = answer
                .with_this_call(ThisCall::Ran)
                .with_attempt(1)
                .with_trace_id("4bf92f3577b34da6a3ce929d0e0e4736");
        }
        Status::ParamsInvalid => {
            answer = answer
                .with_field("/lines/0/amount")
                .with_reason("wrong_type");
        }
        Status::AlreadyExists => {
            answer = answer.with_same_params(case.has_result() == Some(true));
        }
        _ => {}
    }
    match (case.has_result(), answer.executed) {
        (Some(true), Executed::No) => answer.with_result(StoredResult::json(
            r#"{"title":"Insufficient funds"}"#.into(),
        )),
        (Some(true), _) => answer
            .with_result(StoredResult::json(
                r#"{"transfer_id":"T-1041","amount":10.00,"status":"settled"}"#.into(),
            ))
            .with_result_ref("T-1041"),
        (Some(false), Executed::Yes) => answer.with_result_ref("T-1041"),
        _ => answer,
    }
}

/// What is refused before the fingerprint is known to be its caller's names no operation.
fn knows_the_operation(status: Status) -> bool {
    !matches!(
        status,
        Status::ParamsInvalid
            | Status::FingerprintMistyped
            | Status::FingerprintInvalid
            | Status::FingerprintRequired
            | Status::Unauthenticated
            | Status::BodyTooLarge
            | Status::BodyTimeout
            | Status::CredentialsDiffer
            | Status::OverCapacity
            | Status::NotFound
            | Status::NotImplemented
            | Status::KeyRequired
            | Status::KeyInvalid
            | Status::KeyReused
    )
}

fn state(answer: &Answer) -> Option<OperationState> {
    match (answer.status, answer.executed) {
        (_, Executed::Yes) => Some(OperationState::Succeeded),
        (Status::AlreadyFailed, _) => Some(OperationState::Failed),
        (_, Executed::No) => Some(OperationState::Cancelled),
        (_, Executed::NotYet) => Some(OperationState::Queued),
        (_, Executed::Pending) => Some(OperationState::Running),
        (Status::OutcomeUnknown | Status::PossibleDuplicate | Status::AlreadyExists, _) => {
            Some(OperationState::Unknown)
        }
        // The record wasn't there to be read.
        (_, Executed::Unknown) => None,
    }
}
