//! The engine over the in-memory store, by moved clocks and a store that misbehaves on request.

mod builder;
mod downstream;
mod draining;
mod extremes;
mod faults;
mod giving_back;
mod identity;
mod keys;
mod lost_record;
mod recovery;
mod runs;
mod security;
mod time;
mod waiting;
mod world;
