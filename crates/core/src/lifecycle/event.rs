//! What may happen to an operation, and why it may not.

use std::time::Duration;

use super::State;
use crate::{Epoch, Owner, Timestamp};

/// Something that happens to an operation.
///
/// Exhaustive on purpose, as [`State`] is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A preview asks for a person's approval.
    Propose {
        /// When the wait for the person, and the approval itself, end.
        approval_ends: Timestamp,
    },
    /// A person agrees.
    Approve {
        /// When the approval ends.
        approval_ends: Timestamp,
    },
    /// A person refuses.
    Deny,
    /// The caller calls it off before it ran.
    Cancel {
        /// The end of the fingerprint's life; judged only where no record stands.
        exp: Option<Timestamp>,
    },
    /// A caller wants to run it.
    Claim(Claim),
    /// The owner asks for more time.
    Renew {
        /// Who asks.
        owner: Owner,
        /// The epoch that it was given.
        epoch: Epoch,
        /// How long the lease is from now on.
        lease: Duration,
    },
    /// The owner says how it ended.
    Complete {
        /// Who says it.
        owner: Owner,
        /// The epoch that it was given.
        epoch: Epoch,
        /// How it ended.
        ending: Ending,
    },
    /// The owner handed it on; the receipt is outstanding.
    Accept {
        /// Who says it.
        owner: Owner,
        /// The epoch that it was given.
        epoch: Epoch,
        /// When the receipt is overdue; `None` for never.
        deadline: Option<Timestamp>,
    },
    /// The owner can't say whether it happened.
    Doubt {
        /// Who says it.
        owner: Owner,
        /// The epoch that it was given.
        epoch: Epoch,
    },
    /// The owner did nothing.
    Release {
        /// Who says it.
        owner: Owner,
        /// The epoch that it was given.
        epoch: Epoch,
    },
    /// Downstream's receipt for what an epoch handed on.
    Receipt {
        /// The epoch that handed it on.
        epoch: Epoch,
        /// How it ended.
        ending: Ending,
    },
    /// A reconciler takes the epoch, so that whatever the old owner still says changes nothing.
    Fence {
        /// The reconciler's own owner id.
        owner: Owner,
        /// The epoch that it read.
        seen: Epoch,
        /// How long it holds it.
        hold: Duration,
    },
    /// A reconciler or a person settles an unknown outcome.
    Resolve {
        /// The reconciler's owner id, or a fresh one for a person.
        owner: Owner,
        /// The epoch that it read, or got by fencing.
        seen: Epoch,
        /// What was found.
        verdict: Verdict,
        /// Whether it is vouched that nothing late can still land.
        vouched: bool,
    },
    /// A sweeper writes down what [`Life::at`](super::Life::at) reads.
    Lapse,
}

/// A claim: the wish to run, and what it knows.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Claim {
    /// A fresh owner, the same for each repetition of this one call.
    pub owner: Owner,
    /// How long the lease is.
    pub lease: Duration,
    /// The end of the credential's life; `None` for credentials without one. A claim needs now < exp.
    pub exp: Option<Timestamp>,
    /// Whether the credential says that a person must have approved. Then a missing record is no way in.
    pub needs_approval: bool,
    /// What the caller read before, if it claims from RELEASED or takes over from UNKNOWN. A delayed copy of an older
    /// claim names something else, or nothing, and is refused.
    pub seen: Option<Seen>,
    /// Takeover is declared safe for operations first claimed less than this ago: downstream deduplicates within it.
    pub takeover_within: Option<Duration>,
}

impl Claim {
    /// A first claim, without an end, an approval or a takeover.
    #[must_use]
    pub const fn new(owner: Owner, lease: Duration) -> Self {
        Self {
            owner,
            lease,
            exp: None,
            needs_approval: false,
            seen: None,
            takeover_within: None,
        }
    }
}

/// A state and epoch that were read, named again by whoever acts on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The state.
    pub state: State,
    /// The epoch.
    pub epoch: Epoch,
}

/// How an operation ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// It happened.
    Done,
    /// It did not happen, and that is final.
    Failed,
}

impl Ending {
    /// The state that it leads to.
    #[must_use]
    pub const fn state(self) -> State {
        match self {
            Self::Done => State::Done,
            Self::Failed => State::Failed,
        }
    }
}

/// What a reconciler or a person found out about an unknown outcome.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// It happened.
    Done,
    /// It did not happen, and that is final.
    Failed,
    /// It did not happen, and may be tried again.
    NotExecuted,
}

/// Why an event changed nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no record that this could happen to.
    #[error("there is no record")]
    Absent,
    /// A record stands that answers the call.
    #[error("a record stands that answers the call")]
    Found,
    /// A claim or a tombstone at or after `exp`.
    #[error("the credential's life is over")]
    Expired,
    /// A person must have approved, and no decision is on record. A missing decision is not an approval.
    #[error("no approval is on record")]
    ApprovalMissing,
    /// The wait for the person, or the approval, is over.
    #[error("the approval's time is over")]
    ApprovalExpired,
    /// Another owner, or another epoch.
    #[error("another owner or epoch holds it")]
    NotOwner,
    /// The lease was over when the renewal came. The owner may still complete.
    #[error("the lease has lapsed")]
    Lapsed,
    /// It runs, waits for its receipt, or is terminal: too late to cancel, deny or resolve.
    #[error("it is too late for that")]
    TooLate,
    /// `failed` and `not executed` need the vouch that nothing late can land.
    #[error("that needs the vouch that nothing late can land")]
    Unvouched,
    /// A reconciler holds it.
    #[error("a reconciler holds it")]
    Held,
}
