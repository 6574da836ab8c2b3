//! The engine: preview and confirm, running the handler, and what is told of it. No HTTP.
//!
//! [`Counterfoil`], one per process, holds the store, the keys, the clock and what runs; it makes one [`Gate`] per
//! action. A gate reads params one way, issues fingerprints ([`Gate::preview`]) and lets one execution through
//! ([`Gate::run`]). The tower layer is built on the same parts; services that are not HTTP use them as they are.
//!
//! Where the callers are programs, a key that they make takes the fingerprint's place ([`Gate::keyed`],
//! [`Gate::run_keyed`]): the same engine, from the claim on the same way.
//!
//! From the moment a claim is sent, a task of its own has the operation. A caller that goes away changes nothing: the
//! handler runs to its end, and its result is kept. Task-locals of the caller don't travel; the tracing span does.
//!
//! A duplicate of what is in flight is answered at once, or waits a while for the result where its gate says so. It holds
//! no place among what runs.
//!
//! Left to later versions: approvals, reconciling, caps per subject (there is a global one).

mod answers;
mod attempt;
mod claim;
mod completion;
mod config;
mod counterfoil;
mod counterfoil_builder;
mod downstream_key;
mod execution;
mod gate;
mod gate_builder;
mod gate_run;
mod giving_back;
mod guards;
mod incoming;
mod keyed;
mod lease_time;
mod outcome;
mod reader;
mod renewal;
mod run;
mod security;
mod shared;
mod waiting;

pub use attempt::{AnnotateError, Attempt, LeaseLost};
pub use completion::Settled;
pub use config::ConfigError;
pub use counterfoil::{Counterfoil, StillRunning};
pub use counterfoil_builder::CounterfoilBuilder;
pub use downstream_key::{DownstreamKey, GrantRefused};
pub use execution::{Execution, Running};
pub use gate::{Gate, Preview, Verdict};
pub use gate_builder::{ApprovalTime, GateBuilder, Recovery};
pub use guards::Guard;
pub use incoming::{Bound, Incoming, Params, RawParams};
pub use lease_time::LeaseTime;
pub use outcome::{Disposition, Outcome};
pub use security::SECURITY_TARGET;
pub use shared::Admission;

use std::time::Duration;

use tokio::time::Instant;

/// `after` from `start`. An instant can't hold every duration that can be configured; thirty years are for ever here.
fn later(start: Instant, after: Duration) -> Instant {
    const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    start + after.min(FOREVER)
}
