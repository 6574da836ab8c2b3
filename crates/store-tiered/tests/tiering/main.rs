//! The rules of the tiers, one by one.

mod breaker;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod told;
mod trust;
mod watching;
mod world;
