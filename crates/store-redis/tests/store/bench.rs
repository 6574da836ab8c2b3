//! A store on the shared server, and a look past it.

use counterfoil_core::fingerprint::ValueKeys;
use counterfoil_servers::{Shared, shared};
use counterfoil_store_redis::{ALostWriteMayBeRepeated, RedisStore};

use crate::{
    common::{client::Redis, config, prefix},
    op::alone,
};

pub(crate) struct Bench {
    pub(crate) redis: Redis,
    pub(crate) store: RedisStore,
    pub(crate) prefix: String,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let url = shared(Shared::Redis);
        let prefix = prefix();
        let config = config(&url).with_prefix(&prefix).expect("a valid prefix");
        Self {
            redis: Redis::connect(&url).await,
            store: alone(config).await,
            prefix,
        }
    }

    /// Another process on the same records.
    pub(crate) async fn with_keys(&self, keys: ValueKeys) -> RedisStore {
        let config = config(&shared(Shared::Redis))
            .with_prefix(&self.prefix)
            .expect("a valid prefix");
        RedisStore::alone(config, keys, ALostWriteMayBeRepeated)
            .await
            .expect("the server is there")
    }
}
