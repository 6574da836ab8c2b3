//! What is Redis' own: lost replies, outages, what a record may weigh, what becomes of one that somebody changed.

#[path = "../common/mod.rs"]
mod common;

mod addresses;
mod changed;
mod client;
mod lost_replies;
mod moving;
mod op;
mod outages;
mod refusals;
mod scripts;
mod walks;
mod weight;
mod written_by_lua;
