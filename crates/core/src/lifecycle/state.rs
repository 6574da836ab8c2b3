//! What stands: the state of an operation and what goes with it.

use crate::{Epoch, Owner, Timestamp};

/// Where an operation stands. A missing record is no state: it is `None` wherever a [`Life`] may be missing.
///
/// Exhaustive on purpose: whoever handles states must handle each, since a state that falls through is a write that
/// runs twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum State {
    /// Proposed; a person has to decide before it may run.
    AwaitingApproval,
    /// A person agreed; nobody has claimed it yet.
    Approved,
    /// A person refused. Terminal.
    Denied,
    /// Called off before it ran. Terminal.
    Cancelled,
    /// An owner runs it under a lease.
    InFlight,
    /// Handed to downstream or an outbox; the receipt is outstanding.
    Accepted,
    /// It may have happened or not. Never free to run.
    Unknown,
    /// The last attempt did nothing, on its handler's word. A later claim takes the next epoch.
    Released,
    /// It happened. Terminal, with the result.
    Done,
    /// It did not happen, and that is final. Terminal, with the result.
    Failed,
}

impl State {
    /// Every state, in the order of a life.
    pub const ALL: [Self; 10] = [
        Self::AwaitingApproval,
        Self::Approved,
        Self::Denied,
        Self::Cancelled,
        Self::InFlight,
        Self::Accepted,
        Self::Unknown,
        Self::Released,
        Self::Done,
        Self::Failed,
    ];

    /// Whether the state never changes again.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Denied | Self::Cancelled | Self::Done | Self::Failed
        )
    }

    /// Whether a store may drop the record once its time is over: terminal states and RELEASED. Anything else is open
    /// business and outlives every retention.
    #[must_use]
    pub const fn may_be_purged(self) -> bool {
        self.is_terminal() || matches!(self, Self::Released)
    }

    /// The name that stores and operators use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AwaitingApproval => "awaiting_approval",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::InFlight => "in_flight",
            Self::Accepted => "accepted",
            Self::Unknown => "unknown",
            Self::Released => "released",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Reads the name back.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// The part of a record that the state machine reads and writes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Life {
    /// The state, as it was written. Read it through [`Life::at`], which lets time pass.
    pub state: State,
    /// The last owner: who runs, ran, or holds it for reconciling. Kept in RELEASED, so that a delayed copy of its
    /// claim is known.
    pub owner: Option<Owner>,
    /// The last owner's epoch; [`Epoch::NONE`] before the first claim.
    pub epoch: Epoch,
    /// IN_FLIGHT: the end of the lease. ACCEPTED: when the receipt is overdue. UNKNOWN: the end of a reconciler's hold.
    pub deadline: Option<Timestamp>,
    /// An epoch began by takeover, and nobody has resolved it with a vouch since: an earlier attempt may still land, so
    /// `failed` and `release` speak of their own attempt only.
    pub in_doubt: bool,
    /// When the first owner claimed: nothing was sent downstream before.
    pub first_claimed: Option<Timestamp>,
    /// The end of the approval, where one was asked for.
    pub approval_ends: Option<Timestamp>,
}

impl Life {
    /// A life that begins in `state`, unowned. For stores that read one back; [`step`](super::step) makes all others.
    #[must_use]
    pub const fn new(state: State) -> Self {
        Self {
            state,
            owner: None,
            epoch: Epoch::NONE,
            deadline: None,
            in_doubt: false,
            first_claimed: None,
            approval_ends: None,
        }
    }

    /// What stands at `now`, by the store's clock: a lapsed lease and an overdue receipt read as UNKNOWN, a
    /// reconciler's lapsed hold as free for the next one. Time does nothing else.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Self {
        let mut life = self.clone();
        let over = self.deadline.is_some_and(|deadline| now >= deadline);
        if over
            && matches!(
                self.state,
                State::InFlight | State::Accepted | State::Unknown
            )
        {
            life.state = State::Unknown;
            life.deadline = None;
        }
        life
    }

    /// Whether `owner` holds `epoch`.
    #[must_use]
    pub fn is_held_by(&self, owner: Owner, epoch: Epoch) -> bool {
        self.owner == Some(owner) && self.epoch == epoch
    }
}
