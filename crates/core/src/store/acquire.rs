//! Acquire and renew: what is asked, and what a store answers.

use std::time::Duration;

use super::{Fence, GuardClaim, Identity, Record};
use crate::{
    Epoch, OperationId, Owner, Timestamp,
    lifecycle::{Claim, Seen},
};

/// The wish to run an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Acquire {
    /// The operation.
    pub id: OperationId,
    /// Subject, scope and hash; compared with the record's, in every state.
    pub identity: Identity,
    /// Owner, lease, `exp`, and what was read before.
    pub claim: Claim,
    /// How long the record is kept, from the later of its end and `exp`.
    pub retention: Duration,
    /// Guards to claim in the same step; all or none.
    pub guards: Vec<GuardClaim>,
}

impl Acquire {
    /// A wish without guards.
    #[must_use]
    pub const fn new(
        id: OperationId,
        identity: Identity,
        claim: Claim,
        retention: Duration,
    ) -> Self {
        Self {
            id,
            identity,
            claim,
            retention,
            guards: Vec::new(),
        }
    }

    /// The same wish, naming what was read: how a claim from RELEASED, or a takeover, is asked for.
    #[must_use]
    pub fn with_seen(mut self, seen: Seen) -> Self {
        self.claim.seen = Some(seen);
        self
    }

    /// The same wish with guards.
    #[must_use]
    pub fn with_guards(mut self, guards: Vec<GuardClaim>) -> Self {
        self.guards = guards;
        self
    }
}

/// A store's answer to [`Acquire`]: the claim or the record, never "nothing".
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Acquired {
    /// It is the caller's to run.
    Claimed(Claimed),
    /// A record stands that answers the call. RELEASED and UNKNOWN may be asked for again, by naming them.
    Found(Box<Record>),
    /// Another hash than the record's. Nothing changed.
    ParamsChanged(Box<Record>),
    /// Another subject or scope than the record's. Nothing changed, and the caller learns nothing.
    Foreign,
    /// At or after `exp`, by the store's clock `now`; with the record if there is one.
    Expired {
        /// The record, if one stands (APPROVED or RELEASED).
        record: Option<Box<Record>>,
        /// The store's clock.
        now: Timestamp,
    },
    /// The credential needs an approval, and none is on record.
    ApprovalMissing,
    /// The wait for the person, or the approval, is over.
    ApprovalExpired(Box<Record>),
    /// The record that the claim named is gone. Ask without naming it.
    Gone,
    /// A guard is held by another operation.
    GuardHeld {
        /// Which of the request's guards.
        guard: GuardClaim,
        /// Who holds it.
        holder: Box<Record>,
    },
    /// The resource has another version than expected.
    VersionConflict {
        /// The version that it has.
        current: u64,
    },
}

/// A claim that was won.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Claimed {
    /// What later calls name.
    pub lease: Lease,
    /// How many attempts there were, this one included.
    pub attempt: u32,
    /// Fencing numbers of exclusive guards.
    pub fences: Vec<Fence>,
}

impl Claimed {
    /// A claim without fences.
    #[must_use]
    pub const fn new(lease: Lease, attempt: u32) -> Self {
        Self {
            lease,
            attempt,
            fences: Vec::new(),
        }
    }
}

/// Who runs an operation: compared, all three, by renew, complete, release and annotate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lease {
    /// The operation.
    pub id: OperationId,
    /// The attempt's owner.
    pub owner: Owner,
    /// The epoch that it was given.
    pub epoch: Epoch,
}

/// A store's answer to renew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Renewed {
    /// The lease runs at least as long as asked from the store's now.
    Renewed,
    /// It had lapsed. The operation reads as unknown; its owner may still complete.
    Lapsed,
    /// Somebody else has the epoch, or the operation has ended.
    NotOwner,
}
