//! Idempotency keys: the layer around a handler whose callers are programs.
//!
//! A request's way is that of `confirm`, but for its credential: `sent` finds the key, and `guarded` claims by it.

mod guarded;
mod layer;
mod sent;

pub use layer::KeyLayer;

pub(crate) use sent::in_header;
