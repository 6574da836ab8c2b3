//! What tests of stores and of services need: clocks that tests move, a store that misbehaves on request, and the
//! conformance suite that every store passes.
//!
//! - [`ManualClock`] stands still until it is moved; [`TokioClock`] follows tokio's clock, paused or not.
//! - [`Flaky`] wraps a store and loses replies, refuses calls, delays and holds them, and counts them.
//! - [`mod@conformance`] is the suite; [`conformance!`] expands it into tests.
//! - [`lockstep`] plays random calls on a store and on the reference, and compares.
//! - [`races`] lets many callers ask for the same operations at once.
//! - [`killed`] ends a process in the middle of a handler.
//! - [`Testimony`] notes what a store said while its server failed, and holds it to that.

mod clock;
pub mod conformance;
mod flaky;
pub mod killed;
pub mod lockstep;
pub mod races;
mod testimony;
mod wish;

pub use clock::{ManualClock, TokioClock};
pub use flaky::{Fault, Flaky, Gate, Method, Watches};
pub use testimony::{Tally, Testimony, Words};
