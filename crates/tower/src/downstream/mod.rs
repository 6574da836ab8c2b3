//! What goes downstream: a layer for clients, which sets the key and asks for the lease.

mod error;
mod layer;
mod service;

pub use error::{DownstreamError, NotSent};
pub use layer::DownstreamKeyLayer;
pub use service::{DownstreamFuture, DownstreamKeyed};
