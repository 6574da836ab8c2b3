//! Listing and purging walk over all keys, and touch only the store's own.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use counterfoil_core::{
    lifecycle::State,
    store::{Cache, Listing, Store},
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_redis::{RedisCache, RedisStore};

use crate::{
    common::{
        client::{Redis, key},
        config, keys, prefix,
    },
    op::{LONG, Op, RETENTION, alone, done},
};

async fn list(store: &RedisStore, state: State) -> BTreeSet<counterfoil_core::OperationId> {
    let page = store.list(&Listing::new(state)).await.expect("an answer");
    assert!(!page.more);
    page.records.iter().map(|record| record.id).collect()
}

/// A prefix is a text, whatever it means to a pattern; and one that another begins with is not that other.
#[tokio::test]
async fn a_walk_keeps_to_its_prefix() {
    let url = shared(Shared::Redis);
    let base = prefix();
    let prefixes = [
        base.clone(),
        format!("{base}*"),
        format!("{base}[a-z]?\\^"),
        format!("{base}x"),
    ];
    let mut stores = Vec::new();
    for prefix in prefixes {
        let config = config(&url).with_prefix(prefix).expect("a valid prefix");
        let store = alone(config).await;
        let op = Op::new();
        op.reach(&store, State::Done).await;
        stores.push((store, op.id));
    }
    for (store, id) in &stores {
        assert_eq!(list(store, State::Done).await, [*id].into());
    }
}

/// Whoever shares the server may write a key under the prefix that is no text.
#[tokio::test]
async fn a_key_that_is_no_text_hides_nothing() {
    let url = shared(Shared::Redis);
    let prefix = prefix();
    let store = alone(config(&url).with_prefix(&prefix).expect("a valid prefix")).await;
    let op = Op::new();
    op.reach(&store, State::Done).await;
    let redis = Redis::connect(&url).await;
    let script = r"redis.call('SET', ARGV[1] .. '{\255}', 'x') return 1";
    assert_eq!(redis.ask::<i64>("EVAL", &[script, "0", &prefix]).await, 1);
    assert_eq!(list(&store, State::Done).await, [op.id].into());
    assert_eq!(store.purge(10).await.expect("an answer"), 0);
}

/// A store and a cache may share a prefix.
#[tokio::test]
async fn a_caches_copies_are_no_records() {
    let url = shared(Shared::Redis);
    let prefix = prefix();
    let config = || config(&url).with_prefix(&prefix).expect("a valid prefix");
    let store = alone(config()).await;
    let cache = RedisCache::connect(config(), keys())
        .await
        .expect("a cache");
    let op = Op::new();
    op.reach(&store, State::Done).await;
    let record = op.record(&store).await;
    crate::outages::until_it_answers(|| cache.put(&record)).await;
    assert_eq!(list(&store, State::Done).await, [op.id].into());
    let copy = cache.get(op.id).await.expect("an answer").expect("a copy");
    assert_eq!(*copy, op.record(&store).await);
}

/// More than a server shows at a time, on each node of a cluster.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_follow_each_other_over_many_keys() {
    for server in [Shared::Redis, Shared::RedisCluster] {
        let store = alone(config(&shared(server))).await;
        let ops: Vec<_> = (0..2_500).map(|_| Op::new()).collect();
        for some in ops.chunks(100) {
            let claims = some.iter().map(|op| op.claim(&store));
            futures_util::future::join_all(claims).await;
        }
        let mut listed = Vec::new();
        let mut listing = Listing::new(State::InFlight).with_limit(900);
        loop {
            let page = store.list(&listing).await.expect("an answer");
            assert!(page.records.len() <= 900);
            listed.extend(page.records.iter().map(|record| record.id));
            match listed.last() {
                Some(last) if page.more => listing = listing.with_after(*last),
                _ => break,
            }
        }
        let mut ids: Vec<_> = ops.iter().map(|op| op.id).collect();
        ids.sort();
        assert_eq!(listed, ids);
    }
}

/// What can't be read is left out of a listing, so that the others are told, and is never dropped.
#[tokio::test]
async fn a_corrupt_record_hides_no_other_and_is_not_dropped() {
    let url = shared(Shared::Redis);
    let prefix = prefix();
    let config = config(&url).with_prefix(&prefix).expect("a valid prefix");
    let ahead = Arc::new(AtomicU64::new(0));
    let store = RedisStore::with_clock_ahead(config, keys(), Arc::clone(&ahead))
        .await
        .expect("the server is there");
    let redis = Redis::connect(&url).await;
    let (good, bad) = (Op::new(), Op::new());
    for op in [&good, &bad] {
        let held = op.claim(&store).await;
        store
            .complete(&held, &done("paid"))
            .await
            .expect("an answer");
    }
    let bad_key = key(&prefix, bad.id);
    let value = redis.value(&bad_key).await;
    redis.set(&bad_key, value.slice(..50)).await;
    assert_eq!(list(&store, State::Done).await, [good.id].into());

    let hours = (LONG + RETENTION) * 2;
    ahead.store(hours.as_millis() as u64, Ordering::SeqCst);
    assert_eq!(store.purge(10).await.expect("an answer"), 1);
    assert_eq!(store.purge(10).await.expect("an answer"), 0);
    assert_eq!(redis.ask::<i64>("EXISTS", &[&bad_key]).await, 1);
}
