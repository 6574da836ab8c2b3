//! The Postgres store: truth.
