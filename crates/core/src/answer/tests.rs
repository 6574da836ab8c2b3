//! The table, and what the answer's builder does with it.

use std::{collections::BTreeSet, time::Duration};

use super::{
    Answer, Executed, OperationState, POLL_RUNNING, POLL_SLOW, SEND_AGAIN, Status, ThisCall,
    executed_of,
};
use crate::{lifecycle::State, store::StoredResult};

#[test]
fn every_status_has_a_word_of_its_own_that_reads_back() {
    let words: BTreeSet<_> = Status::ALL.iter().map(|status| status.as_str()).collect();
    assert_eq!(words.len(), Status::ALL.len());
    for &status in Status::ALL {
        assert_eq!(Status::parse(status.as_str()), Some(status));
        assert_eq!(snake_case(&format!("{status:?}")), status.as_str());
    }
    assert_eq!(Status::parse("Completed"), None);
}

#[test]
fn only_three_statuses_ask_for_the_same_call_again() {
    let retryable: Vec<_> = Status::ALL
        .iter()
        .copied()
        .filter(|&status| Answer::new(status).retryable)
        .collect();
    assert_eq!(
        retryable,
        [
            Status::ResourceBusy,
            Status::Unavailable,
            Status::OverCapacity
        ]
    );
    for status in retryable {
        assert_eq!(Answer::new(status).poll_after, Some(SEND_AGAIN));
    }
}

#[test]
fn an_answer_that_is_told_nothing_claims_nothing() {
    // "No" and "yes" by default only where the status itself is a fact about the operation.
    let facts = [
        Status::Completed,
        Status::AlreadyCompleted,
        Status::AlreadyFailed,
        Status::ApprovalDenied,
        Status::ApprovalExpired,
        Status::Cancelled,
        Status::NotImplemented,
    ];
    for &status in Status::ALL {
        let executed = Answer::new(status).executed;
        let claims = matches!(executed, Executed::Yes | Executed::No);
        assert_eq!(claims, facts.contains(&status), "{status}: {executed}");
        assert_eq!(status.possible_executed()[0], executed);
    }
}

#[test]
fn only_a_first_run_ran() {
    for &status in Status::ALL {
        let ran = Answer::new(status).this_call == ThisCall::Ran;
        assert_eq!(ran, status == Status::Completed, "{status}");
    }
}

#[test]
fn every_state_says_whether_it_happened() {
    let table = [
        (
            State::AwaitingApproval,
            Executed::NotYet,
            OperationState::Queued,
        ),
        (State::Approved, Executed::NotYet, OperationState::Queued),
        (State::Denied, Executed::No, OperationState::Cancelled),
        (State::Cancelled, Executed::No, OperationState::Cancelled),
        (State::InFlight, Executed::Pending, OperationState::Running),
        (State::Accepted, Executed::Pending, OperationState::Running),
        (State::Unknown, Executed::Unknown, OperationState::Unknown),
        (State::Released, Executed::NotYet, OperationState::Queued),
        (State::Done, Executed::Yes, OperationState::Succeeded),
        (State::Failed, Executed::No, OperationState::Failed),
    ];
    assert_eq!(table.map(|(state, ..)| state), State::ALL);
    for (state, executed, told) in table {
        assert_eq!(executed_of(Some(state)), executed);
        assert_eq!(OperationState::from(state), told);
    }
    assert_eq!(executed_of(None), Executed::Unknown);
}

#[test]
fn the_waiting_time_follows_what_is_known_unless_it_was_set() {
    let changed = Answer::new(Status::ParamsChanged);
    assert_eq!(changed.poll_after, Some(POLL_SLOW));
    let running = changed.clone().with_executed(Executed::Pending);
    assert_eq!(running.poll_after, Some(POLL_RUNNING));
    let done = running.with_executed(Executed::Yes);
    assert!(done.poll_after.is_none() && !done.polls());

    let mine = Duration::from_millis(700);
    let set = changed
        .with_poll_after(mine)
        .with_executed(Executed::Pending);
    assert_eq!(set.poll_after, Some(mine));
}

#[test]
fn a_value_that_the_status_cannot_have_is_not_told() {
    let told = |status, executed| Answer::new(status).with_executed(executed).executed;
    assert_eq!(
        told(Status::ApprovalExpired, Executed::NotYet),
        Executed::Unknown
    );
    assert_eq!(told(Status::Unavailable, Executed::No), Executed::Unknown);
    assert_eq!(told(Status::InProgress, Executed::No), Executed::Pending);
    for &status in Status::ALL {
        for executed in Executed::ALL {
            let possible = status.possible_executed();
            let told = told(status, executed);
            assert!(possible.contains(&told), "{status}");
            assert!(
                told == executed || !possible.contains(&executed),
                "{status}"
            );
        }
    }
}

#[test]
fn whatever_polls_says_when() {
    for &status in Status::ALL {
        for &executed in status.possible_executed() {
            let answer = Answer::new(status).with_executed(executed);
            assert!(
                !(answer.polls() && answer.retryable),
                "{status}: two next steps"
            );
            assert_eq!(
                answer.poll_after.is_some(),
                answer.polls() || answer.retryable,
                "{status}"
            );
        }
    }
}

#[test]
fn debug_shows_no_result() {
    let answer = Answer::new(Status::AlreadyCompleted)
        .with_result(StoredResult::json(r#"{"iban":"secret"}"#.into()));
    assert!(!format!("{answer:?}").contains("secret"));
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
