//! Both tiers on real servers, and an operation that has ended.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use counterfoil_core::{
    Clock, KeyId, OperationId, Owner, ParamHash, Scope, Subject, SystemClock,
    fingerprint::{Key, Keyring},
    lifecycle::{Claim, Ending},
    store::{
        Acquire, Acquired, Completed, Completion, Identity, Record, Store, StoreError, StoredResult,
    },
};
use counterfoil_store_postgres::PostgresStore;
use counterfoil_store_redis::{RedisCache, RedisConfig};
use counterfoil_store_tiered::TieredStore;
use tokio::time::{Instant, timeout};

pub(crate) const BOUND: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_secs(3_600);

/// A store of a test's own over these servers. The cache is waited for a little longer than by default, since the machine
/// that runs the tests has much else to do.
pub(crate) async fn store(truth: &str, cache: &str) -> TieredStore {
    let random = u128::from_le_bytes(*Owner::mint().as_bytes());
    let builder = PostgresStore::builder(truth)
        .expect("it is a URL")
        .with_schema(format!("test_{random:032x}"))
        .with_wait(Duration::from_secs(5));
    builder.migrate().await.expect("it can be migrated");
    let truth = builder.connect().await.expect("it is fit for it");
    let config = RedisConfig::from_url(cache)
        .and_then(|config| config.with_prefix(format!("t{:08x}:", random as u32)))
        .and_then(|config| config.with_command_timeout(CACHE_LIMIT))
        .expect("a valid configuration");
    let key = Key::new(KeyId::parse("k1").expect("a short id"), &[7; 32]).expect("32 bytes");
    let cache = RedisCache::connect(config, Keyring::new(key).value_keys())
        .await
        .expect("a client can be made");
    TieredStore::new(truth, cache).with_cache_limit(CACHE_LIMIT)
}

pub(crate) const CACHE_LIMIT: Duration = Duration::from_millis(200);

/// An operation that was claimed and completed.
pub(crate) struct Ended {
    store: Arc<TieredStore>,
    wish: Acquire,
    result: StoredResult,
}

impl Ended {
    pub(crate) async fn new(store: &Arc<TieredStore>) -> Self {
        let now = SystemClock.now();
        let identity = Identity {
            subject: Subject::new("acme", "agent").expect("a short subject"),
            scope: Scope::new("test.transfer"),
            hash: ParamHash::from_bytes([7; 32]),
        };
        let mut claim = Claim::new(Owner::mint(), LONG);
        claim.exp = Some(now + LONG);
        let wish = Acquire::new(OperationId::mint(now), identity, claim, LONG);
        let claimed = match store.acquire(&wish).await {
            Ok(Acquired::Claimed(claimed)) => claimed,
            other => panic!("a fresh operation is {other:?}"),
        };
        let result = StoredResult::json(Bytes::copy_from_slice(claimed.lease.owner.as_bytes()));
        let said = Completion::Ended {
            ending: Ending::Done,
            result: Some(result.clone()),
            result_ref: None,
        };
        let completed = store.complete(&claimed.lease, &said).await;
        assert_eq!(completed.ok(), Some(Completed::Completed));
        Self {
            store: Arc::clone(store),
            wish,
            result,
        }
    }

    /// Replays until Redis has a copy: the connection may still be on its way.
    pub(crate) async fn copied(store: &Arc<TieredStore>, port: u16) -> Self {
        let ended = Self::new(store).await;
        let end = Instant::now() + BOUND;
        while ended.copy(port).is_none() {
            assert!(Instant::now() < end, "no copy is made");
            ended.assert_replayed().await;
            store.settled().await;
        }
        ended
    }

    /// A retry of another caller gets the first result.
    pub(crate) async fn assert_replayed(&self) {
        let record = self.replay().await.expect("truth is well");
        assert_eq!(record.result.as_ref(), Some(&self.result), "{record:?}");
        assert_eq!(record.id, self.wish.id);
    }

    pub(crate) async fn replay(&self) -> Result<Box<Record>, StoreError> {
        let mut retry = self.wish.clone();
        retry.claim.owner = Owner::mint();
        let answer = timeout(BOUND, self.store.acquire(&retry)).await;
        match answer.expect("it ends in time")? {
            Acquired::Found(record) => Ok(record),
            other => panic!("what has ended is {other:?}"),
        }
    }

    /// The key of its copy in Redis, if it has one.
    pub(crate) fn copy(&self, port: u16) -> Option<Vec<u8>> {
        let pattern = format!("*{}*", self.wish.id.simple());
        crate::wire::ask(port, &[b"KEYS", pattern.as_bytes()]).pop()
    }
}
