//! The store: one script for each transition, and the clock that they are judged by.

mod claim;
mod finish;
mod scan;
mod scripts;
mod settle;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use counterfoil_core::{
    OperationId, Timestamp,
    fingerprint::ValueKeys,
    store::{
        Acquire, Acquired, Annotated, Annotation, Cancellation, Cancelled, Capabilities, Completed,
        Completion, Decided, Decision, FenceRequest, Fenced, Lease, Listing, Page, Proposal,
        Proposed, Receipt, Received, Released, Renewed, Resolution, Resolved, Sighting, Store,
        StoreError, StoreErrorKind, Watch,
    },
};
use fred::types::Value;
use tokio::time::Instant;

use crate::{
    RedisConfig,
    codec::{
        seal::CurrentSeals,
        value::{Stored, decode},
    },
    failure,
    keys::KeySpace,
    link::{Link, Place, Use},
    script::{Reply, Script},
};
use scripts::Scripts;

/// Written down by whoever lets Redis alone decide: a write that it acknowledged can be lost, and the operation is then
/// run again.
///
/// Redis copies to its replicas, and to its disk, after it has answered. A failover, a restart or a `FLUSHALL` can so take
/// a claim back, or a result, and the next confirm finds nothing and runs. Where that costs money, take a truth that keeps
/// what it acknowledged, with [`RedisCache`](crate::RedisCache) in front.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ALostWriteMayBeRepeated;

/// Keeps the records in Redis alone, as well as Redis can.
///
/// **It is fit only for operations that may be run twice**: see [`ALostWriteMayBeRepeated`]. Its
/// [`Capabilities::may_lose_writes`] is true, and a gate is built on it only if it is marked as repeatable.
///
/// The server must be set to `maxmemory-policy noeviction`: any other policy drops records of what runs.
///
/// It holds no guards and no approvals. Listing and purging walk all keys of the server, each in bounded steps; they are
/// for operators, not for requests. Nothing has to call purge: what has ended expires by itself.
///
/// `Debug` shows no address and no record.
pub struct RedisStore {
    link: Link,
    keys: KeySpace,
    seals: CurrentSeals,
    scripts: Scripts,
    /// How far a test lets the clock run ahead.
    ahead: Option<Arc<AtomicU64>>,
}

impl RedisStore {
    /// How long a call may wait for Redis unless told otherwise: 500 ms. A healthy server answers in a millisecond, and
    /// pauses for some hundred where it forks a large process. Whoever waits longer waits for a server that is ill, and is
    /// better told so.
    pub const DEFAULT_COMMAND_TIMEOUT: Duration = Duration::from_millis(500);

    /// Redis as the only store. Returns once it is connected.
    ///
    /// ```no_run
    /// # async fn start(keyring: counterfoil_core::fingerprint::Keyring) -> Result<(), Box<dyn std::error::Error>> {
    /// use counterfoil_store_redis::{ALostWriteMayBeRepeated, RedisConfig, RedisStore};
    ///
    /// let config = RedisConfig::from_url("redis://127.0.0.1:6379")?;
    /// let store = RedisStore::alone(config, keyring.value_keys(), ALostWriteMayBeRepeated).await?;
    /// # let _ = store;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `NotApplied` if there is no connection within twice the connect timeout; its source says why. `Misuse` if the client
    /// can't be made of this configuration.
    pub async fn alone(
        config: RedisConfig,
        keys: ValueKeys,
        _: ALostWriteMayBeRepeated,
    ) -> Result<Self, StoreError> {
        Self::start(config, keys, None).await
    }

    /// Other keys from now on, as after a rotation, for all who share this store. What is on its way keeps the keys that it
    /// began with.
    ///
    /// What is read has to be sealed by one of them, else it is `Corrupt`: keep a retired key in the ring for as long as
    /// records live that it sealed, and give the next one to every process before it signs in any. Each round of a rotation
    /// is two calls: this one with the ring's [`value_keys`], and [`Counterfoil::replace_keys`] with the ring.
    ///
    /// [`Counterfoil::replace_keys`]: counterfoil_core::engine::Counterfoil::replace_keys
    /// [`value_keys`]: counterfoil_core::fingerprint::Keyring::value_keys
    pub fn replace_keys(&self, keys: ValueKeys) {
        self.seals.replace(keys);
    }

    /// A store whose clock runs ahead of its server's by so many milliseconds. For tests alone: retention, leases and `exp`
    /// are judged by it, while what the server drops by itself goes by the server's clock.
    ///
    /// # Errors
    ///
    /// As [`alone`](Self::alone).
    #[doc(hidden)]
    pub async fn with_clock_ahead(
        config: RedisConfig,
        keys: ValueKeys,
        ahead_ms: Arc<AtomicU64>,
    ) -> Result<Self, StoreError> {
        Self::start(config, keys, Some(ahead_ms)).await
    }

    async fn start(
        config: RedisConfig,
        keys: ValueKeys,
        ahead: Option<Arc<AtomicU64>>,
    ) -> Result<Self, StoreError> {
        let timeout = config
            .command_timeout()
            .unwrap_or(Self::DEFAULT_COMMAND_TIMEOUT);
        let link = Link::open(&config, timeout, Use::Commands).map_err(|error| {
            failure::misuse("no client of redis can be made of this configuration")
                .with_source(error)
        })?;
        link.connected(Instant::now() + config.connect_timeout() * 2)
            .await?;
        Ok(Self {
            link,
            keys: KeySpace::new(config.prefix().to_owned()),
            seals: CurrentSeals::new(keys, config.prefix()),
            scripts: match ahead {
                None => Scripts::new(),
                Some(_) => Scripts::ahead(),
            },
            ahead,
        })
    }

    async fn run(
        &self,
        script: &Script,
        id: OperationId,
        args: Vec<Value>,
        until: Instant,
    ) -> Result<Reply, StoreError> {
        self.link.connected(until).await?;
        let (key, args) = (self.keys.key(id), self.on_clock(args));
        self.link.call(script, id, key, args, until).await
    }

    /// A script on many keys of one server; `id` is any of theirs.
    async fn run_on_many(
        &self,
        script: &Script,
        id: OperationId,
        (place, mut keys): (Place, Vec<Value>),
        mut args: Vec<Value>,
        until: Instant,
    ) -> Result<Reply, StoreError> {
        self.link.connected(until).await?;
        if self.link.is_clustered() {
            // Keys of several slots can't be declared together.
            args.append(&mut keys);
        }
        let args = self.on_clock(args);
        self.link
            .call_at(script, id, place, keys, args, until)
            .await
    }

    fn on_clock(&self, mut args: Vec<Value>) -> Vec<Value> {
        if let Some(ahead) = &self.ahead {
            args.push(number(ahead.load(Ordering::SeqCst)));
        }
        args
    }

    /// The record in a reply, verified.
    fn stored(&self, id: OperationId, value: &[u8]) -> Result<Stored, StoreError> {
        decode(&self.seals.now(), id, value).map_err(|_| failure::corrupt())
    }

    fn record(
        &self,
        id: OperationId,
        reply: Reply,
    ) -> Result<Box<counterfoil_core::store::Record>, StoreError> {
        let now = reply.now;
        Ok(self.stored(id, &reply.value()?)?.at(now))
    }

    /// What stands, to make words for it; and what a script compares it by.
    async fn read(&self, id: OperationId, until: Instant) -> Result<Option<Read>, StoreError> {
        let reply = self.run(&self.scripts.find, id, Vec::new(), until).await?;
        match &*reply.what {
            "absent" => Ok(None),
            "found" => {
                let now = reply.now;
                let value = reply.value()?;
                Ok(Some(Read {
                    stored: self.stored(id, &value)?,
                    digest: crate::script::digest(&value),
                    now,
                }))
            }
            _ => Err(failure::out_of_step()),
        }
    }
}

/// What stood when it was read.
struct Read {
    stored: Stored,
    digest: String,
    now: Timestamp,
}

/// A record that moves between reading and writing is read again, so often at most.
const MAX_TRIES: usize = 8;

/// It moved each time: others are at it.
fn keeps_moving() -> StoreError {
    StoreError::new(
        StoreErrorKind::NotApplied,
        "the record moved each time that it was read",
    )
}

fn number(number: u64) -> Value {
    number.to_string().into()
}

fn bytes(bytes: impl Into<Vec<u8>>) -> Value {
    Value::Bytes(Bytes::from(bytes.into()))
}

fn flag(is: bool) -> Value {
    Value::from_static_str(if is { "1" } else { "0" })
}

/// A slot that stays as it is, or nothing where a number may be.
fn nothing() -> Value {
    Value::from_static_str("")
}

/// Some 140,000 years: far enough, and with the present added still exact in Lua.
const LONGEST: Duration = Duration::from_millis(1 << 52);

fn span(span: Duration) -> Value {
    number(crate::codec::fields::millis(span.min(LONGEST)))
}

/// Shows where, never what.
impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("link", &self.link)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for RedisStore {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::basic(Duration::ZERO);
        capabilities.may_lose_writes = true;
        capabilities
    }

    async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        self.claim(request).await
    }

    async fn renew(&self, held: &Lease, lease: Duration) -> Result<Renewed, StoreError> {
        self.lengthen(held, lease).await
    }

    async fn complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        self.finish(held, completion).await
    }

    async fn release(&self, held: &Lease) -> Result<Released, StoreError> {
        self.give_back(held).await
    }

    async fn annotate(&self, held: &Lease, note: &Annotation) -> Result<Annotated, StoreError> {
        self.note(held, note).await
    }

    async fn receive(&self, receipt: &Receipt) -> Result<Received, StoreError> {
        self.take_receipt(receipt).await
    }

    async fn fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
        self.hold(request).await
    }

    async fn resolve(&self, resolution: &Resolution) -> Result<Resolved, StoreError> {
        self.settle(resolution).await
    }

    async fn propose(&self, _: &Proposal) -> Result<Proposed, StoreError> {
        Err(failure::misuse("the redis store keeps no approvals"))
    }

    async fn decide(&self, _: &Decision) -> Result<Decided, StoreError> {
        Err(failure::misuse("the redis store keeps no approvals"))
    }

    async fn cancel(&self, cancellation: &Cancellation) -> Result<Cancelled, StoreError> {
        self.call_off(cancellation).await
    }

    async fn find(&self, id: OperationId) -> Result<Sighting, StoreError> {
        let until = self.link.deadline();
        let reply = self.run(&self.scripts.find, id, Vec::new(), until).await?;
        let now = reply.now;
        let record = match &*reply.what {
            "absent" => None,
            "found" => Some(*self.record(id, reply)?),
            _ => return Err(failure::out_of_step()),
        };
        Ok(Sighting { record, now })
    }

    async fn list(&self, listing: &Listing) -> Result<Page, StoreError> {
        self.walk_and_list(listing).await
    }

    async fn purge(&self, limit: usize) -> Result<usize, StoreError> {
        self.walk_and_drop(limit).await
    }

    fn watch(&self, _: OperationId) -> Watch {
        Watch::silent()
    }
}
