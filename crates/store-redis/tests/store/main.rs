//! What is Redis' own: lost replies, outages, what a record may weigh, what becomes of one that somebody changed.

#[path = "../common/mod.rs"]
mod common;

mod addresses;
mod bench;
mod changed;
mod late;
mod lost_replies;
mod many;
mod moving;
mod op;
mod outages;
mod refusals;
mod rotation;
mod scripts;
mod walks;
mod weight;
mod written_by_lua;
