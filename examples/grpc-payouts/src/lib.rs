//! A tonic service whose writes happen once, in two ways: `Confirm` by the helper inside the method, under a fingerprint that
//! `Preview` handed out, and `Settle` by the layer around the service, under a key of the caller's own, with a stream for a
//! reply.
//!
//! `params` says what messages mean, `service` has the methods, `server` puts them together, `store` says where operations
//! are kept.

pub mod params;
mod server;
mod service;
mod store;

pub use server::{authenticate, serve};
pub use service::{Payouts, Settings};
pub use store::Place;

/// What the `.proto` says, as it is generated.
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::pedantic,
    reason = "not written by hand"
)]
pub mod pb {
    tonic::include_proto!("payouts.v1");
}

/// The descriptors of the `.proto`, for clients that read them at run time.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/payouts.bin"));
