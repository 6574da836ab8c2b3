//! The Postgres store: truth.

mod builder;
mod calls;
mod connect_error;
mod database;
mod evidence;
mod failure;
mod lane;
mod lanes;
mod machine;
mod migrate;
mod partitions;
mod row;
mod startup;
mod store;
mod template;
mod transaction;
mod values;
mod wire;

pub use builder::PostgresStoreBuilder;
pub use calls::drop_days::DroppedDays;
pub use connect_error::ConnectError;
pub use store::PostgresStore;
pub use {rustls, tokio_postgres};
