//! The Postgres store: truth.

mod lane;
