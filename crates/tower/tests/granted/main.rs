//! A service downstream that takes no write but with a grant.

mod bodies;
mod ear;
mod epochs;
mod ledger;
mod refused;
