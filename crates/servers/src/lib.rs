//! Real servers for tests: started on free ports, ended with whoever started them.
//!
//! - [`Redis`], [`RedisCluster`], [`RedisSentinel`], [`Postgres`] and [`PgBouncer`] are servers of one's own: to kill,
//!   to freeze, to restart.
//!   A Postgres can have a [standby](Postgres::standby_of), and a [small disk](PostgresStarter::small_disk) to fill up.
//! - [`shared`] gives the address of a server that all tests of a run share, and that none of them harms.
//!   [`SharedServers`] starts those; `cargo xtask test` and `cargo xtask servers` do.
//! - [`Proxy`] is a wire to one of them that can be made to fail.
//!
//! Every server listens on 127.0.0.1 alone, on a port that was free, and keeps its data in a fresh directory. It is ended
//! and its directory removed when its value is dropped, and as well when the process that started it dies, also by
//! `kill -9`. Starting one waits until it answers, for 30 seconds at most.
//!
//! ```
//! use counterfoil_servers::Redis;
//!
//! # fn main() -> Result<(), counterfoil_servers::Error> {
//! let redis = Redis::start()?;
//! assert!(redis.url().starts_with("redis://127.0.0.1:"));
//!
//! redis.kill()?; // as `kill -9` does
//! redis.restart()?; // on the same port
//! # Ok(())
//! # }
//! ```
//!
//! Caveats: it needs a Unix. Whoever holds a value holds a whole server, so a test that needs one nobody harms takes
//! [`shared`].

mod account;
mod bounded;
mod error;
mod guard;
mod port;
mod postgres;
mod processes;
mod program;
mod proxy;
mod redis;
mod server;
mod shared;
mod shared_servers;
mod tls;

pub use error::Error;
pub use postgres::{PgBouncer, PgBouncerStarter, Postgres, PostgresStarter};
pub use proxy::{Proxy, Weather};
pub use redis::{Redis, RedisCluster, RedisSentinel, RedisStarter};
pub use shared::{Shared, shared};
pub use shared_servers::SharedServers;
