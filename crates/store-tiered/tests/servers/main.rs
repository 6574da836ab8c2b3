//! A real Postgres behind a real Redis that is flushed, killed, frozen, restarted, failed over and lied in: no answer
//! changes.

mod copies;
mod harmed;
mod racing;
mod wire;
mod world;
