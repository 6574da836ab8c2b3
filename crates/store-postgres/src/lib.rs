//! The Postgres store: truth. What it has acknowledged stays, and of any number of callers that race for an operation one
//! gets it, because a unique constraint decides.
//!
//! ```no_run
//! use std::time::Duration;
//! use counterfoil_core::{
//!     Clock, OperationId, Owner, ParamHash, Scope, Subject, SystemClock,
//!     lifecycle::Claim,
//!     store::{Acquire, Acquired, Identity, Store},
//! };
//! use counterfoil_store_postgres::PostgresStore;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let postgres = PostgresStore::builder("postgres://service@db.internal/payments")?
//!     .with_max_connections(8);
//! postgres.migrate().await?; // does nothing where it is done; many processes may start at once
//! let store = postgres.connect().await?; // looks at the server, and refuses one that isn't fit
//!
//! let identity = Identity {
//!     subject: Subject::new("acme", "agent-7")?,
//!     scope: Scope::new("payments.transfer"),
//!     hash: ParamHash::from_bytes([7; 32]),
//! };
//! let request = Acquire::new(
//!     OperationId::mint(SystemClock.now()),
//!     identity,
//!     Claim::new(Owner::mint(), Duration::from_secs(30)),
//!     Duration::from_secs(86_400),
//! );
//! match store.acquire(&request).await? {
//!     Acquired::Claimed(claimed) => { /* run it, then complete with claimed.lease */ }
//!     stands => { /* tell what stands */ }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! Each transition is one function in the database, kept in a `.sql` file: one round trip, one transaction. It is written
//! for READ COMMITTED, where each of its statements sees what was committed before it. Under load the claims and
//! completions of many callers share a statement and its commit.
//!
//! Ids that carry their time (UUIDv7) live in one partition for each day, all others in a plain table. A partition is made
//! before its day begins; an id of a day without one is kept in the default partition. Times are milliseconds since 1970,
//! by the server's `clock_timestamp()`, which alone judges `exp`, leases and retention; times some 73 million years off
//! are kept as that.
//!
//! # Waits and errors
//!
//! Every wait has an end: see the limits of [`PostgresStoreBuilder`]. A call that has to write a record which another
//! transaction has written and not committed waits for that one, up to half a second; so does a claim of an operation whose
//! first claim is not committed. A claim that has only to be told what stands waits for nobody.
//!
//! `NotApplied` is what never was sent, and what the server rolled back, by its SQLSTATE. `Indeterminate` is a connection
//! that broke, a reply that did not come in time, a server that shut down or failed over, and a commit that was
//! acknowledged with a warning, since then a synchronous standby may not have it. A claim is confirmed by asking again with
//! the same owner, which writes.
//!
//! # Cancellation
//!
//! A call whose future is dropped may have been applied, wholly or not at all. The server is not told to cancel: a claim or a
//! completion on its way may well commit.
//!
//! # Connections
//!
//! The connection of a call that was dropped or that ran out of time keeps its place in the pool until the server has ended
//! the statement, so that the server never has more sessions of a store than its pool is large, also while every commit
//! waits for a standby that is gone. Calls that find no place are `NotApplied`. The places come back when the statements
//! end, at once when the server does, after some ten seconds without a sign of life from the other end, and in any case
//! after ten minutes; only then one more session can stand beside each that was given up.
//!
//! # What voids the promise
//!
//! - An asynchronous standby that is promoted, a backup that is restored: the last commits are gone.
//! - `fsync`, `full_page_writes` or `synchronous_commit` switched off. They are looked at when a store connects, and not
//!   again.
//! - A replica, or a proxy that balances reads, in the URL.
//! - Rows that are changed by hand.
//!
//! # Rights
//!
//! Whoever migrates creates the schema, or tables and functions in one that exists. Whoever serves needs `USAGE` on the
//! schema and to read and write its tables; to make and drop partitions it must own them, else operations go to the default
//! partition and the store says so in the log. With more than 64 days it had better own the functions too, so that calls
//! can be made to lock only their own day.

mod builder;
mod calls;
mod connect_error;
mod connecting;
mod database;
mod evidence;
mod failure;
mod lane;
mod lanes;
mod lent;
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
