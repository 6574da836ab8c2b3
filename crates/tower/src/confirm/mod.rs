//! Confirm: the layer around one handler.
//!
//! A request's way: `service` reads it, and `guarded` checks it; the handler runs, in a task that no caller ends; `capture`
//! reads its response up to the limit; `classify` says what it means; `deliver` hands it over once it is stored.

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

pub(crate) use guarded::Guarded;
pub(crate) use settings::{Settings, settings_methods};
