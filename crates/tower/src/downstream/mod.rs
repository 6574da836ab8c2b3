//! What goes downstream: a layer for clients, which sets the key and asks for the lease.

mod error;
mod layer;
#[cfg(feature = "reqwest")]
pub mod reqwest;
mod service;

pub use error::{DownstreamError, NotSent};
pub use layer::DownstreamKeyLayer;
pub use service::{DownstreamFuture, DownstreamKeyed};
