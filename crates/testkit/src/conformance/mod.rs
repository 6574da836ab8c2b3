//! The conformance suite: what every store must do, one named behaviour per case.
//!
//! A store's tests make a [`Harness`] and expand the suite with [`conformance!`](crate::conformance!), which writes one
//! test per case. Cases make their own ids and tenants and wipe nothing, so that a store may be shared.
//!
//! The cases are public functions in this module's submodules, and [`cases`] lists them, for runners of another kind.
//! They panic where the store breaks the contract that [`Store`](counterfoil_core::store::Store) states.
//!
//! Guards and approvals have no cases yet, since no store holds them yet.

pub mod accept;
pub mod annotate;
pub mod cancel;
pub mod claims;
pub mod complete;
pub mod exp;
mod harness;
pub mod identity;
pub mod lease;
mod list;
mod op;
pub mod query;
pub mod reconcile;
pub mod release;
pub mod retention;
pub mod takeover;

pub use harness::Harness;
pub(crate) use harness::timeless_id;
pub use list::{Case, cases};
