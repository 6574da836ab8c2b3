//! Redis, in one of two parts.
//!
//! **Alone it is fit only for operations that may be run twice.** Redis answers before its disk and its replicas have what
//! it acknowledged, so that a failover, a restart or a `FLUSHALL` can take back a claim, or the result of an effect that
//! happened; the next confirm then finds nothing and runs. Numbers that fence such a second attempt off must not come from
//! Redis either: they are lost with the rest. [`RedisStore::alone`] asks for [`ALostWriteMayBeRepeated`], which says so in
//! the code, and a gate on it has to be marked as repeatable. Where a repetition costs money, take a truth that keeps what
//! it acknowledged, and Redis in front of it.
//!
//! **As a cache** in front of such a truth it may lose everything at any time: [`RedisCache`] holds copies of records that
//! never change again, decides nothing, and tells who waits for an operation that there is news.
//!
//! What holds for both:
//!
//! - One server, Sentinel, or Cluster, by the address in [`RedisConfig`]; with TLS or without. Redis 7 is what it is tested
//!   with; sharded channels, which news in a cluster goes over, need it.
//! - What is kept is sealed with keys of the service ([`Keyring::value_keys`]), and what nobody with these keys has vouched
//!   for is not believed: [`Corrupt`] for the store, a miss and a security event for the cache. A key has to stay in the
//!   ring for as long as values live that it sealed; after a rotation both take new keys while they run.
//! - Every call ends in a time of its own, whatever becomes of the server, and nothing is sent twice behind the caller's
//!   back. A connection that gives a reply which is another call's is dropped.
//! - They connect again by themselves, for ever. Dropping one ends its connections at once.
//! - They need a tokio runtime that goes on for as long as they live.
//!
//! What the store alone needs of a server: `maxmemory-policy noeviction`, else records of what runs are dropped to make
//! room; and whatever persistence and `min-replicas-to-write` make a loss rarer. They don't make it impossible.
//!
//! [`Keyring::value_keys`]: counterfoil_core::fingerprint::Keyring::value_keys
//! [`Corrupt`]: counterfoil_core::store::StoreErrorKind::Corrupt

mod cache;
mod channels;
mod codec;
mod config;
mod failure;
mod keys;
mod link;
mod script;
mod security;
mod store;
mod tls;

pub use cache::RedisCache;
pub use config::{ConfigError, RedisConfig};
pub use store::{ALostWriteMayBeRepeated, RedisStore};
