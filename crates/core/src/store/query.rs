//! Find and list, and what a store can do.

use std::time::Duration;

use super::Record;
use crate::{OperationId, Timestamp, lifecycle::State};

/// A store's answer to find: the record, if there is one, and the clock that judged it.
#[derive(Clone, PartialEq, Debug)]
pub struct Sighting {
    /// The record, its life as it reads at `now`.
    pub record: Option<Record>,
    /// The store's clock. Beside a terminal record it may be an earlier time of that clock, as a cache knows it: nothing
    /// that is read of such a record depends on the time.
    pub now: Timestamp,
}

/// Which operations to list, oldest id first.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Listing {
    /// Only those that read as this state now.
    pub state: State,
    /// Only those of this tenant.
    pub tenant: Option<String>,
    /// Only ids after this one: the last id of the page before.
    pub after: Option<OperationId>,
    /// At most so many; a store may cap it, also by how large the records are.
    pub limit: usize,
}

impl Listing {
    /// The first hundred in a state.
    #[must_use]
    pub const fn new(state: State) -> Self {
        Self {
            state,
            tenant: None,
            after: None,
            limit: 100,
        }
    }

    /// Only those of a tenant.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// The page after an id.
    #[must_use]
    pub const fn with_after(mut self, id: OperationId) -> Self {
        self.after = Some(id);
        self
    }

    /// At most so many.
    #[must_use]
    pub const fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

/// A page of a listing.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    /// The records, oldest id first.
    pub records: Vec<Record>,
    /// Whether there may be more after the last one.
    pub more: bool,
}

/// What a store can do; a gate that asks for more is not built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Capabilities {
    /// Unique guards.
    pub unique: bool,
    /// Exclusive guards.
    pub exclusive: bool,
    /// Repeat guards.
    pub repeat: bool,
    /// Approvals.
    pub approvals: bool,
    /// A write that was acknowledged may be lost later (a failover, a flush). Then a second effect is possible, and a
    /// gate must be marked as repeatable.
    pub may_lose_writes: bool,
    /// The longest that a claim may take from judging `exp` to being visible. Until `exp` plus this, "there is no
    /// record" is not yet "there will be none".
    pub commit_delay: Duration,
}

impl Capabilities {
    /// Leases and results, no guards, no approvals, no lost writes.
    #[must_use]
    pub const fn basic(commit_delay: Duration) -> Self {
        Self {
            unique: false,
            exclusive: false,
            repeat: false,
            approvals: false,
            may_lose_writes: false,
            commit_delay,
        }
    }
}
