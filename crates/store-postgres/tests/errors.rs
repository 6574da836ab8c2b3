//! What a call is told when something is in its way: the right kind, in time, and the store works on afterwards.

mod common;

use common::place;

#[path = "errors/codes.rs"]
mod codes;
#[path = "errors/locked.rs"]
mod locked;
#[path = "errors/server.rs"]
mod server;
