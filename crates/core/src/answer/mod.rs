//! What a caller is told: whether the operation ran, whether calling again changes anything, and the one next step.
//!
//! An [`Answer`] holds facts; a [`Wording`] says them in a language; [`Answer::to_agent_json`] renders both for a
//! model, [`Answer::to_problem_json`] for a program. What a status says by default stands in one table. A transport maps statuses to its own codes.
//!
//! Rules:
//!
//! - `executed` speaks of the operation, not of the call, and is `unknown` wherever the record wasn't seen.
//! - `meaning` and `instruction` are fixed texts with typed values. What came from a request, a handler or an error
//!   stands in members of its own (`field`, `result`, `result_ref`), as data.
//! - An answer never says what another subject did, and never repeats a stored request.
//!
//! ```
//! use counterfoil_core::{
//!     answer::{Answer, Status, Wording, executed_of},
//!     lifecycle::State,
//! };
//!
//! // Changed params, while the operation runs with the original ones.
//! let state = State::InFlight;
//! let answer = Answer::new(Status::ParamsChanged)
//!     .with_state(state)
//!     .with_executed(executed_of(Some(state)));
//! let said = Wording::english().say(&answer);
//! assert!(said.meaning.contains("under way with its original params"));
//! ```

mod defaults;
mod executed;
mod json;
mod problem;
mod status;
mod told;
mod visible;
mod wording;

#[cfg(test)]
mod tests;

pub use defaults::{POLL_RUNNING, POLL_SLOW, SEND_AGAIN};
pub use executed::{Executed, OperationState, ThisCall, executed_of};
pub use status::Status;
pub use told::Answer;
pub use wording::{Case, InvalidText, Said, Text, Wording};
