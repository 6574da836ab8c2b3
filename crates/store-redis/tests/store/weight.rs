//! What a record weighs, and how long Redis keeps it.

use counterfoil_core::{
    Clock, KeyId, SystemClock,
    fingerprint::{Key, Keyring},
    lifecycle::Ending,
    store::{Completion, Lease, RETENTION_SKEW, Store},
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_redis::{ALostWriteMayBeRepeated, RedisConfig, RedisStore};

use crate::{
    bench::Bench,
    common::client::{Redis, key},
    op::{LONG, Op, RETENTION, claimed, done, seen},
};

/// With the default prefix, a key id as long as a month's, and names as they are.
#[tokio::test]
async fn a_record_without_a_result_takes_at_most_400_bytes() {
    let url = shared(Shared::Redis);
    let id = KeyId::parse("2027-01").expect("a short id");
    let keys = Keyring::new(Key::random(id)).value_keys();
    let config = RedisConfig::from_url(&url).expect("a valid address");
    let store = RedisStore::alone(config, keys, ALostWriteMayBeRepeated)
        .await
        .expect("the server is there");
    let redis = Redis::connect(&url).await;
    let key = |op: &Op| key(RedisConfig::DEFAULT_PREFIX, op.id);

    let mut weights = Vec::new();
    let op = Op::new();
    let held = op.claim(&store).await;
    let said = |ending| Completion::Ended {
        ending,
        result: None,
        result_ref: None,
    };
    weights.push(redis.ask::<u64>("MEMORY", &["USAGE", &key(&op)]).await);
    store
        .complete(&held, &said(Ending::Done))
        .await
        .expect("done");
    weights.push(redis.ask("MEMORY", &["USAGE", &key(&op)]).await);
    let released = Op::new();
    let held = released.claim(&store).await;
    store.release(&held).await.expect("released");
    weights.push(redis.ask("MEMORY", &["USAGE", &key(&released)]).await);
    assert!(weights.iter().all(|weight| *weight <= 400), "{weights:?}");
}

impl Bench {
    /// -1 where there is none.
    async fn expires_at(&self, op: &Op) -> i64 {
        self.redis.expires_at(&key(&self.prefix, op.id)).await
    }

    async fn complete(&self, held: &Lease, said: &Completion) {
        self.store.complete(held, said).await.expect("an answer");
    }
}

const NEVER: i64 = -1;

#[tokio::test]
async fn what_is_open_never_expires() {
    let bench = Bench::new().await;
    let op = Op::new();
    let held = op.claim(&bench.store).await;
    assert_eq!(bench.expires_at(&op).await, NEVER);
    bench.store.renew(&held, LONG).await.expect("renewed");
    assert_eq!(bench.expires_at(&op).await, NEVER);
    let reason = "the connection broke".to_owned();
    bench.complete(&held, &Completion::Unknown { reason }).await;
    assert_eq!(bench.expires_at(&op).await, NEVER);
    let accepted = Completion::Accepted {
        deadline: None,
        result: None,
        result_ref: None,
    };
    bench.complete(&held, &accepted).await;
    assert_eq!(bench.expires_at(&op).await, NEVER);
}

/// At the later of its end and `exp`, plus retention and skew.
#[tokio::test]
async fn what_has_ended_expires_when_its_time_is_over() {
    let bench = Bench::new().await;
    let op = Op::new();
    let held = op.claim(&bench.store).await;
    bench.complete(&held, &done("paid")).await;
    let record = op.record(&bench.store).await;
    let purge_at = record.purge_at().expect("it has ended");
    assert_eq!(bench.expires_at(&op).await, purge_at.unix_ms() as i64);
    assert_eq!(
        purge_at,
        record.exp.expect("it has one") + RETENTION + RETENTION_SKEW
    );

    let endless = Op::new();
    let mut wish = endless.wish();
    wish.claim.exp = None;
    let held = claimed(bench.store.acquire(&wish).await.expect("an answer"));
    bench.complete(&held, &done("paid")).await;
    let record = endless.record(&bench.store).await;
    let purge_at = record.updated + RETENTION + RETENTION_SKEW;
    assert_eq!(bench.expires_at(&endless).await, purge_at.unix_ms() as i64);
}

#[tokio::test]
async fn a_released_operation_that_is_claimed_again_expires_no_more() {
    let bench = Bench::new().await;
    let op = Op::new();
    let held = op.claim(&bench.store).await;
    bench.store.release(&held).await.expect("released");
    assert!(bench.expires_at(&op).await > SystemClock.now().unix_ms() as i64);
    let wish = op.wish().with_seen(seen(&op.record(&bench.store).await));
    claimed(bench.store.acquire(&wish).await.expect("an answer"));
    assert_eq!(bench.expires_at(&op).await, NEVER);
}

/// A retention that no clock reaches is no expiry, and no number that Redis refuses.
#[tokio::test]
async fn a_record_that_is_kept_for_ever_never_expires() {
    use std::time::Duration;

    let bench = Bench::new().await;
    for retention in [Duration::MAX, Duration::from_millis(1 << 60)] {
        let op = Op::new();
        let mut wish = op.wish();
        wish.retention = retention;
        wish.claim.lease = Duration::MAX;
        let held = claimed(bench.store.acquire(&wish).await.expect("an answer"));
        assert!(op.record(&bench.store).await.life.deadline > Some(SystemClock.now()));
        bench
            .store
            .renew(&held, Duration::MAX)
            .await
            .expect("renewed");
        bench.complete(&held, &done("paid")).await;
        assert_eq!(bench.expires_at(&op).await, NEVER);
        op.record(&bench.store).await;
    }
}
