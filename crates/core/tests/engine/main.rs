//! The engine over the in-memory store, by moved clocks and a store that misbehaves on request.

mod builder;
mod faults;
mod identity;
mod recovery;
mod runs;
mod time;
mod world;
