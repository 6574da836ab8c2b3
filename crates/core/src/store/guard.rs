//! Facts of the business that a claim takes along: what no credential knows.

use std::time::Duration;

use crate::OperationId;

/// A guard that is claimed inside acquire, in the same atomic step.
///
/// Keys are unique in tenant and scope. A store that can't hold a guard says so in its
/// [`Capabilities`](super::Capabilities), and the gate is not built.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GuardClaim {
    /// One operation per business key: an order, an invoice, a source event.
    Unique {
        /// The guard's name, such as `purchase_order`.
        name: String,
        /// The key.
        key: String,
        /// How long a done operation keeps the key; `None` for as long as its record is kept.
        keep: Option<Duration>,
    },
    /// One operation at a time per resource.
    Exclusive {
        /// The resource, such as `environment/production`.
        resource: String,
        /// The version that the resource must have.
        expected_version: Option<u64>,
    },
    /// An equal operation of the same subject is a question, not a second effect.
    Repeat {
        /// How long a done twin counts, from its end.
        window: Duration,
        /// The twin that this one repeats on purpose.
        repeat_of: Option<OperationId>,
    },
}

/// A fencing number of a resource that an exclusive guard handed out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fence {
    /// The resource.
    pub resource: String,
    /// The number, higher than any handed out before for this resource.
    pub number: u64,
}
