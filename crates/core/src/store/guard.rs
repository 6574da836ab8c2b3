//! Facts of the business that a claim takes along: what no credential knows.

use std::{fmt, time::Duration};

use crate::OperationId;

/// A guard that is claimed inside acquire, in the same atomic step.
///
/// Keys are unique in tenant and scope. A store that can't hold a guard says so in its
/// [`Capabilities`](super::Capabilities), and the gate is not built.
///
/// `Debug` shows no key and no resource: they come from params.
#[derive(Clone, PartialEq, Eq)]
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

impl fmt::Debug for GuardClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unique { name, keep, .. } => f
                .debug_struct("Unique")
                .field("name", name)
                .field("keep", keep)
                .finish_non_exhaustive(),
            Self::Exclusive {
                expected_version, ..
            } => f
                .debug_struct("Exclusive")
                .field("expected_version", expected_version)
                .finish_non_exhaustive(),
            Self::Repeat { window, repeat_of } => f
                .debug_struct("Repeat")
                .field("window", window)
                .field("repeat_of", repeat_of)
                .finish(),
        }
    }
}

/// A fencing number of a resource that an exclusive guard handed out.
///
/// `Debug` doesn't show the resource: it comes from params.
#[derive(Clone, PartialEq, Eq)]
pub struct Fence {
    /// The resource.
    pub resource: String,
    /// The number, higher than any handed out before for this resource.
    pub number: u64,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
