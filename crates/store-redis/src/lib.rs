//! The Redis store: a cache in front of truth, or alone where a lost write may be repeated.

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
