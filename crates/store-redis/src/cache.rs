//! The cache: copies of records that never change again, each sealed whole.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use counterfoil_core::{
    Clock, OperationId, SystemClock, Timestamp,
    fingerprint::ValueKeys,
    store::{Cache, RETENTION_SKEW, Record, StoreError, Watch},
};
use fred::{error::Error, types::Value, util::redis_keyslot};
use futures_util::future::try_join;

use crate::{
    RedisConfig,
    channels::Channels,
    codec::{copy, seal::CurrentSeals},
    failure::{misuse, not_connected, out_of_step, store_error},
    keys::KeySpace,
    link::{Link, Place, Use},
    security,
};

/// Copies in Redis of records that truth has and that never change again.
///
/// It decides nothing, and may lose everything at any time: eviction, a flush, a failover cost a question to truth. A copy
/// that was changed on the way, belongs to another operation, or was not put there by a holder of the keys is a miss, and
/// a security event (`corrupt_copy`). One that a key sealed which this process was not given is a miss.
///
/// It connects in the background and is usable at once; without a connection every call is an error at once. `Debug`
/// shows no address and no record.
pub struct RedisCache {
    link: Link,
    keys: KeySpace,
    seals: CurrentSeals,
    channels: Channels,
}

/// Behind the prefix, so that a store and a cache may share one.
const COPIES: &str = "copy:";

impl RedisCache {
    /// How long a call may wait for Redis unless told otherwise: 30 ms. An operation waits for it before it asks truth, so
    /// that it has to be shorter than what it saves under load; and it is thirty times what a healthy server takes.
    pub const DEFAULT_COMMAND_TIMEOUT: Duration = Duration::from_millis(30);

    /// A cache that begins to connect, and needs not be waited for.
    ///
    /// ```no_run
    /// # async fn start(keyring: counterfoil_core::fingerprint::Keyring) -> Result<(), Box<dyn std::error::Error>> {
    /// use counterfoil_store_redis::{RedisCache, RedisConfig};
    ///
    /// let config = RedisConfig::from_url("redis://127.0.0.1:6379")?;
    /// let cache = RedisCache::connect(config, keyring.value_keys()).await?;
    /// # let _ = cache;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `Misuse` if the client can't be made of this configuration. That the server is down is no error.
    pub async fn connect(config: RedisConfig, keys: ValueKeys) -> Result<Self, StoreError> {
        let timeout = config
            .command_timeout()
            .unwrap_or(Self::DEFAULT_COMMAND_TIMEOUT);
        let link = |way| {
            Link::open(&config, timeout, way).map_err(|error| {
                misuse("no client of redis can be made of this configuration").with_source(error)
            })
        };
        Ok(Self {
            link: link(Use::Commands)?,
            keys: KeySpace::new(format!("{}{COPIES}", config.prefix())),
            seals: CurrentSeals::new(keys, config.prefix()),
            channels: Channels::new(link(Use::Channels)?),
        })
    }

    /// Other keys from now on, as after a rotation, for all who share this cache. What is on its way keeps the keys that it
    /// began with. A copy that none of them sealed is a miss.
    pub fn replace_keys(&self, keys: ValueKeys) {
        self.seals.replace(keys);
    }

    async fn send(&self, name: &'static str, key: &str, more: Vec<Value>) -> Result<Value, Error> {
        let slot = redis_keyslot(key.as_bytes());
        let mut args = Vec::with_capacity(more.len() + 1);
        args.push(key.into());
        args.extend(more);
        let until = self.link.deadline();
        self.link.send(name, Place::Slot(slot), args, until).await
    }

    async fn publish(&self, id: OperationId) -> Result<Value, Error> {
        let name = if self.link.is_clustered() {
            "SPUBLISH"
        } else {
            "PUBLISH"
        };
        let nothing = vec![Value::from_static_str("")];
        self.send(name, &self.keys.channel(id), nothing).await
    }

    fn check_connection(&self) -> Result<(), StoreError> {
        if self.link.is_connected() {
            Ok(())
        } else {
            Err(not_connected())
        }
    }

    /// A reply that no such command gives is another command's.
    fn mixed_up<T>(&self) -> Result<T, StoreError> {
        self.link.suspect();
        Err(out_of_step())
    }
}

/// Shows where, never what.
impl fmt::Debug for RedisCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisCache")
            .field("link", &self.link)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Cache for RedisCache {
    async fn get(&self, id: OperationId) -> Result<Option<Box<Record>>, StoreError> {
        self.check_connection()?;
        let reply = self.send("GET", &self.keys.key(id), Vec::new()).await;
        let sealed = match reply.map_err(store_error)? {
            Value::Null => return Ok(None),
            Value::Bytes(bytes) => bytes,
            Value::String(text) => text.into_inner(),
            _ => return self.mixed_up(),
        };
        let seals = self.seals.now();
        match copy::decode(&seals, id, &sealed) {
            // Redis drops it by then, unless somebody told it not to. Where ids come from clients' keys, one may be used
            // anew once truth has forgotten the first.
            Ok(record) if is_over(&record, SystemClock.now()) => Ok(None),
            Ok(record) => Ok(Some(record)),
            Err(_) if seals.is_of_an_unknown_key(&sealed) => {
                // Another process has keys that this one was not given, or has none of them any more.
                tracing::debug!(operation_id = %id, "a copy is sealed by a key that is not known here");
                Ok(None)
            }
            Err(_) => {
                // Somebody wrote it there, or it is the reply to another's call.
                security::corrupt_copy(id);
                self.link.suspect();
                Ok(None)
            }
        }
    }

    async fn put(&self, record: &Record) -> Result<(), StoreError> {
        let Some(purge_at) = record
            .purge_at()
            .filter(|_| record.life.state.is_terminal())
        else {
            return Err(misuse("only what never changes again is cached"));
        };
        let sealed = copy::encode(&self.seals.now(), record)
            .ok_or_else(|| misuse("the record holds what this cache does not know"))?;
        self.check_connection()?;
        let args = vec![
            Value::Bytes(Bytes::from(sealed)),
            Value::from_static_str("PXAT"),
            expiry(purge_at).to_string().into(),
        ];
        let key = self.keys.key(record.id);
        // Both are on their way at once, in this order: whoever is woken finds the copy.
        let told = try_join(self.send("SET", &key, args), self.publish(record.id)).await;
        match told.map_err(store_error)? {
            (Value::String(done), Value::Integer(_)) if &*done == "OK" => Ok(()),
            _ => self.mixed_up(),
        }
    }

    async fn announce(&self, id: OperationId) -> Result<(), StoreError> {
        self.check_connection()?;
        match self.publish(id).await.map_err(store_error)? {
            Value::Integer(_) => Ok(()),
            _ => self.mixed_up(),
        }
    }

    fn watch(&self, id: OperationId) -> Watch {
        let ticket = u64::from_be_bytes(self.link.nonce());
        self.channels.watch(self.keys.channel(id), ticket)
    }
}

/// When Redis drops the copy, by its own clock. Truth keeps the record for longer by the skew, so that clocks may differ by
/// as much; a time that Redis can't count is far enough.
fn expiry(purge_at: Timestamp) -> u64 {
    const FAR: u64 = 1 << 52;
    (purge_at - RETENTION_SKEW).unix_ms().clamp(1, FAR)
}

/// Whether truth may have forgotten the record.
fn is_over(record: &Record, now: Timestamp) -> bool {
    record.purge_at().is_some_and(|end| end <= now)
}

#[cfg(test)]
mod tests {
    use counterfoil_core::{
        ParamHash, Scope, Subject,
        lifecycle::{Life, State},
        store::Identity,
    };

    use super::*;

    #[test]
    fn a_copy_is_over_once_truth_may_have_forgotten_its_record() {
        let ended = Timestamp::from_unix_secs(1_000);
        let day = Duration::from_secs(86_400);
        let identity = Identity {
            subject: Subject::new("acme", "agent-7").expect("a subject"),
            scope: Scope::new("payments.transfer"),
            hash: ParamHash::from_bytes([7; 32]),
        };
        let id = OperationId::mint(ended);
        let record = Record::new(id, identity, Life::new(State::Done), None, day, ended);
        let end = ended + day + RETENTION_SKEW;
        assert!(!is_over(&record, end - Duration::from_millis(1)));
        assert!(is_over(&record, end));
    }
}
