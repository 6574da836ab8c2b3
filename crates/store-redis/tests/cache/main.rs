//! The cache: what it holds and what it refuses to believe, its outages, and its news.

#[path = "../common/mod.rs"]
mod common;

mod copies;
mod events;
mod outages;
mod watches;
mod world;
