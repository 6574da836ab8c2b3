//! Counterfoil without I/O and without HTTP.
//!
//! The modules follow the way of a request: words, fingerprint or key, params, lifecycle, store, engine, answer.

pub mod answer;
pub mod engine;
pub mod fingerprint;
pub mod grant;
pub mod idempotency;
pub mod lifecycle;
pub mod params;
mod random;
pub mod store;
mod words;

pub use words::{
    Clock, Epoch, InvalidKeyId, InvalidOperationId, InvalidScope, InvalidStep, InvalidSubject,
    KeyId, OperationId, Owner, ParamHash, Scope, Step, Subject, SystemClock, Timestamp,
};
