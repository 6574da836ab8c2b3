//! Whether the operation happened, whether this call ran it, and where the operation stands, in a caller's words.

use std::fmt;

use crate::lifecycle::State;

/// Whether the **operation** happened, whatever this call did.
///
/// An answer that is given without the operation's record says [`Unknown`](Self::Unknown): an agent that lost the first
/// reply would read "no", and pay twice.
///
/// Exhaustive on purpose: whoever acts on it must act on each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Executed {
    /// It happened.
    Yes,
    /// It did not happen, and never will.
    No,
    /// It has not happened, and a confirm under way or to come may still run it.
    NotYet,
    /// It was taken on and has not ended.
    Pending,
    /// It may have happened or not.
    Unknown,
}

impl Executed {
    /// Every value.
    pub const ALL: [Self; 5] = [
        Self::Yes,
        Self::No,
        Self::NotYet,
        Self::Pending,
        Self::Unknown,
    ];

    /// The word in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::NotYet => "not_yet",
            Self::Pending => "pending",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Executed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether an operation in `state` happened; `None`, a record that is missing or could not be read, is unknown.
///
/// Time is not looked at: RELEASED, waiting and approved operations are `not_yet`, and become `no` only once their
/// fingerprint can't be used any more, which the caller of this function has to judge.
#[must_use]
pub const fn executed_of(state: Option<State>) -> Executed {
    match state {
        Some(State::Done) => Executed::Yes,
        Some(State::Failed | State::Denied | State::Cancelled) => Executed::No,
        Some(State::AwaitingApproval | State::Approved | State::Released) => Executed::NotYet,
        Some(State::InFlight | State::Accepted) => Executed::Pending,
        Some(State::Unknown) | None => Executed::Unknown,
    }
}

/// Whether this very call ran the handler.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ThisCall {
    /// It did.
    Ran,
    /// It did not.
    NotRun,
}

impl ThisCall {
    /// The word in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ran => "ran",
            Self::NotRun => "not_run",
        }
    }
}

/// Where an operation stands, in the six words that callers get.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OperationState {
    /// It may still run: awaiting approval, approved, or released.
    Queued,
    /// It runs, or downstream's receipt is outstanding.
    Running,
    /// It happened.
    Succeeded,
    /// It did not happen, and that is final.
    Failed,
    /// It did not happen and can't any more: denied, cancelled, or expired before it ran.
    Cancelled,
    /// It may have happened or not.
    Unknown,
}

impl OperationState {
    /// Every value.
    pub const ALL: [Self; 6] = [
        Self::Queued,
        Self::Running,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
        Self::Unknown,
    ];

    /// The word in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

impl From<State> for OperationState {
    fn from(state: State) -> Self {
        match state {
            State::AwaitingApproval | State::Approved | State::Released => Self::Queued,
            State::InFlight | State::Accepted => Self::Running,
            State::Done => Self::Succeeded,
            State::Failed => Self::Failed,
            State::Denied | State::Cancelled => Self::Cancelled,
            State::Unknown => Self::Unknown,
        }
    }
}
