//! The table: what each status says of the operation and of this call, unless the engine knows more.

use std::time::Duration;

use super::{Executed, Status, ThisCall};

/// How long to wait before a running operation is asked for.
pub const POLL_RUNNING: Duration = Duration::from_secs(2);
/// How long to wait where a person or a reconciler has to act.
pub const POLL_SLOW: Duration = Duration::from_secs(30);
/// How long to wait before this very call is sent again.
pub const SEND_AGAIN: Duration = Duration::from_secs(5);

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// What the operation may be, the default first.
    pub(super) executed: &'static [Executed],
    /// Whether the next step is to send this very call again.
    pub(super) retryable: bool,
    /// Whether this call ran the handler.
    pub(super) this_call: ThisCall,
}

impl Status {
    /// What `executed` may be with this status, the default first. Texts exist for each of them.
    #[must_use]
    pub const fn possible_executed(self) -> &'static [Executed] {
        row(self).executed
    }
}

/// The row of a status.
pub(super) const fn row(status: Status) -> Row {
    use Executed::{No, NotYet, Pending, Unknown, Yes};

    match status {
        Status::Completed => Row {
            this_call: ThisCall::Ran,
            ..settled(&[Yes])
        },
        Status::AlreadyCompleted => settled(&[Yes]),
        Status::AlreadyFailed | Status::NotImplemented => settled(&[No]),
        Status::InProgress => settled(&[Pending]),
        // "Unknown" is for a key: it has no end, and so no record may also mean a record that was dropped.
        Status::NotStarted => settled(&[NotYet, Unknown]),
        Status::ApprovalRequired | Status::VersionConflict => settled(&[NotYet]),
        Status::NotExecuted => settled(&[NotYet, No]),

        // Of the operation, the twin or the holder. Whoever doesn't say which it is, doesn't know.
        Status::ParamsChanged => settled(&[Unknown, Yes, No, NotYet, Pending]),
        Status::PossibleDuplicate => settled(&[Unknown, Yes, Pending]),
        Status::AlreadyExists => settled(&[Unknown, Yes, NotYet, Pending]),
        Status::TooLate => settled(&[Unknown, Yes, No, Pending]),

        // Told from a record, which rules out a run; "unknown" is for an approval whose record is missing.
        Status::ApprovalDenied | Status::ApprovalExpired | Status::Cancelled => {
            settled(&[No, Unknown])
        }
        // Told without a record. "No" needs more: a clock past every margin, and not past retention.
        Status::FingerprintExpired => settled(&[Unknown, No]),

        // Told without the record, or with one that doesn't know.
        Status::OutcomeUnknown
        | Status::ParamsInvalid
        | Status::FingerprintMistyped
        | Status::FingerprintInvalid
        | Status::FingerprintRequired
        | Status::Unauthenticated
        | Status::BodyTooLarge
        | Status::BodyTimeout
        | Status::CredentialsDiffer
        | Status::NotFound
        | Status::KeyRequired
        | Status::KeyInvalid
        | Status::KeyReused => settled(&[Unknown]),

        Status::ResourceBusy => send_again(&[NotYet]),
        // "Not yet" where the record was seen all the same, as by whoever lost a race for it.
        Status::Unavailable => send_again(&[Unknown, NotYet]),
        Status::OverCapacity => send_again(&[Unknown]),
    }
}

/// What `executed` becomes with this status. A pair that the table doesn't have would be told in a text that is about
/// another one: then it is not known, or what the status alone says.
pub(super) fn settle(status: Status, executed: Executed) -> Executed {
    let possible = row(status).executed;
    if possible.contains(&executed) {
        executed
    } else if possible.contains(&Executed::Unknown) {
        Executed::Unknown
    } else {
        possible[0]
    }
}

/// Whether the next step is to ask for the operation's status.
///
/// Not for `already_exists`, whose operation may be another subject's, and not for `possible_duplicate`, where the user
/// is asked first.
pub(super) const fn polls(status: Status, executed: Executed) -> bool {
    match status {
        Status::InProgress | Status::OutcomeUnknown | Status::ApprovalRequired => true,
        Status::ParamsChanged | Status::TooLate => {
            matches!(executed, Executed::Pending | Executed::Unknown)
        }
        _ => false,
    }
}

/// How long to wait before the next step, where waiting is part of it.
pub(super) const fn poll_after(status: Status, executed: Executed) -> Option<Duration> {
    if row(status).retryable {
        return Some(SEND_AGAIN);
    }
    if !polls(status, executed) {
        return None;
    }
    Some(match executed {
        Executed::Pending => POLL_RUNNING,
        _ => POLL_SLOW,
    })
}

/// A row where the same call again changes nothing.
const fn settled(executed: &'static [Executed]) -> Row {
    Row {
        executed,
        retryable: false,
        this_call: ThisCall::NotRun,
    }
}

/// A row where the same call is to be sent again.
const fn send_again(executed: &'static [Executed]) -> Row {
    Row {
        executed,
        retryable: true,
        this_call: ThisCall::NotRun,
    }
}
