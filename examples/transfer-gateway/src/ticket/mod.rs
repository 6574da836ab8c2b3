//! Tickets: three actions whose callers are programs, and name each operation by an idempotency key.

mod handlers;

use counterfoil::{Scope, params::ParamsPolicy};
use serde::{Deserialize, Serialize};

use crate::transfer::{Name, Title};

pub(crate) use handlers::{create, remove, show, update};

/// The actions' names. The same key on another of them is another request.
pub(crate) const CREATE: Scope = Scope::new("tickets.create");
pub(crate) const UPDATE: Scope = Scope::new("tickets.update");
pub(crate) const DELETE: Scope = Scope::new("tickets.delete");

/// What stands on a ticket, validated.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ticket {
    project: Name,
    title: Title,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<Priority>,
    /// What the ticket came of. It is kept, and not a guard yet: two tickets of one event are two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_event_id: Option<Name>,
}

/// How much it hurries.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Priority {
    Low,
    Normal,
    High,
    Urgent,
}

/// A deletion has no params: the path says all.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

impl Priority {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Urgent => "urgent",
        }
    }
}

/// All of it is bound.
pub(crate) fn policy(max_bytes: usize) -> ParamsPolicy {
    ParamsPolicy::default().with_max_bytes(max_bytes)
}
