//! Confirm: the layer around one handler.
//!
//! A request's way: `service` reads and checks it; `guarded` claims, in a task of its own; the handler runs; `capture`
//! reads its response up to the limit; `classify` says what it means; `deliver` has it stored, and hands it over.

mod capture;
mod classify;
mod deliver;
mod guarded;
mod layer;
mod service;
mod settings;

#[cfg(feature = "grpc")]
pub(crate) use capture::Limits;
pub use classify::{Accepted, Doubt, Failures};
pub use layer::ConfirmLayer;
pub use service::Confirm;
pub use settings::{DEFAULT_CAPTURE_TIME, DEFAULT_MAX_RESULT};

pub(crate) use guarded::{Gone, Guarded, Prepared, Rest};
pub(crate) use settings::{Settings, settings_methods};
