//! What is kept, and what is believed.

use std::{sync::Arc, time::Duration};

use counterfoil_core::{
    KeyId, Subject,
    fingerprint::Keyring,
    lifecycle::State,
    store::{Cache, RETENTION_SKEW, Record, StoreErrorKind},
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_redis::RedisCache;

use crate::{
    common::{key, ring},
    events::counted,
    world::{LONG, World, connected, record},
};

const TERMINAL: [State; 4] = [State::Done, State::Failed, State::Denied, State::Cancelled];

async fn get(cache: &RedisCache, record: &Record) -> Option<Record> {
    let copy = cache.get(record.id).await.expect("an answer");
    copy.map(|record| *record)
}

/// A miss, and a security event.
async fn is_refused(cache: &RedisCache, record: &Record) {
    let (copy, events) = counted("corrupt_copy", get(cache, record)).await;
    assert_eq!((copy, events), (None, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_the_record_on_every_kind_of_server() {
    for server in [Shared::Redis, Shared::RedisCluster, Shared::RedisSentinel] {
        let world = World::on(&shared(server));
        let (one, other) = (world.cache().await, world.cache().await);
        for state in TERMINAL {
            let record = record(state);
            assert_eq!(get(&other, &record).await, None);
            one.put(&record).await.expect("kept");
            assert_eq!(get(&other, &record).await, Some(record.clone()));
            let bare = Record::new(
                record.id,
                record.identity.clone(),
                record.life.clone(),
                None,
                LONG,
                record.created,
            );
            one.put(&bare).await.expect("kept");
            assert_eq!(get(&other, &bare).await, Some(bare));
        }
    }
}

#[tokio::test]
async fn what_may_still_change_is_not_taken() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    for state in State::ALL {
        if state.is_terminal() {
            continue;
        }
        let open = record(state);
        let error = cache.put(&open).await.expect_err("it may still change");
        assert_eq!(error.kind(), StoreErrorKind::Misuse, "{state:?}");
        assert_eq!(redis.get(&world.key(open.id)).await, None);
    }
}

/// No longer than truth keeps the record, even where the clocks are apart by the skew.
#[tokio::test]
async fn a_copy_expires_before_the_record_does() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    let record = record(State::Done);
    cache.put(&record).await.expect("kept");
    let ends = record.purge_at().expect("it has ended") - RETENTION_SKEW;
    assert_eq!(
        redis.expires_at(&world.key(record.id)).await,
        ends.unix_ms() as i64
    );

    let mut late = crate::world::record(State::Done);
    late.exp = None;
    late.retention = Duration::ZERO;
    late.updated = late.updated - LONG;
    cache.put(&late).await.expect("an answer");
    assert_eq!(get(&cache, &late).await, None);

    let mut endless = crate::world::record(State::Done);
    endless.retention = Duration::MAX;
    cache.put(&endless).await.expect("kept");
    assert!(get(&cache, &endless).await.is_some());
}

/// Where a copy names the key that sealed it: behind the tag, with its length.
const KEY_ID: std::ops::Range<usize> = 16..19;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_with_any_byte_changed_is_a_miss() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    let record = record(State::Done);
    cache.put(&record).await.expect("kept");
    let key = world.key(record.id);
    let good = redis.get(&key).await.expect("a copy");
    for at in 0..good.len() {
        let mut bad = good.to_vec();
        bad[at] ^= 1 << (at % 8);
        redis.set(&key, bad).await;
        let (copy, events) = counted("corrupt_copy", missed(&cache, &record)).await;
        assert_eq!(copy, None, "byte {at}");
        // The name of the key: another one is unknown, and says nothing of who wrote the copy.
        assert!(events >= 1 || KEY_ID.contains(&at), "byte {at}");
    }
    for bad in [&good[..good.len() - 1], &good[..16], b"", b"{}"] {
        redis.set(&key, bad.to_vec()).await;
        assert_eq!(missed(&cache, &record).await, None);
    }
    redis.set(&key, good).await;
    connected(&cache).await;
    assert_eq!(get(&cache, &record).await, Some(record));
}

/// What can't be believed makes the cache doubt its connection, and it makes another: an error, now and then.
async fn missed(cache: &RedisCache, record: &Record) -> Option<Record> {
    for _ in 0..1_000 {
        match cache.get(record.id).await {
            Ok(copy) => return copy.map(|record| *record),
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
    panic!("the cache does not connect again");
}

#[tokio::test]
async fn a_copy_of_another_operation_is_a_miss() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    let (one, other) = (record(State::Done), record(State::Failed));
    cache.put(&one).await.expect("kept");
    cache.put(&other).await.expect("kept");
    let (first, second) = (world.key(one.id), world.key(other.id));
    let (a, b) = (redis.get(&first).await, redis.get(&second).await);
    redis.set(&first, b.expect("a copy")).await;
    redis.set(&second, a.expect("a copy")).await;
    is_refused(&cache, &one).await;
    connected(&cache).await;
    is_refused(&cache, &other).await;
}

#[tokio::test]
async fn another_tenants_copy_is_a_miss() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    let ours = record(State::Done);
    let mut theirs = record(State::Done);
    theirs.identity.subject = Subject::new("umbrella", "agent-7").expect("a short subject");
    cache.put(&theirs).await.expect("kept");
    let value = redis.get(&world.key(theirs.id)).await.expect("a copy");
    redis.set(&world.key(ours.id), value).await;
    is_refused(&cache, &ours).await;
}

#[tokio::test]
async fn another_keys_copy_is_a_miss_and_a_retired_keys_is_not() {
    let world = World::on(&shared(Shared::Redis));
    let cache = world.cache().await;
    let record = record(State::Done);
    cache.put(&record).await.expect("kept");

    let foreign = Keyring::new(key("k1", 8)).value_keys();
    let unknown = Keyring::new(key("k2", 7)).value_keys();
    // A key of the same name and another content: somebody forges. A name that is not known: a rotation that is not
    // everywhere yet, and no event.
    for (keys, forged) in [(foreign, 1), (unknown, 0)] {
        let cache = RedisCache::connect(world.config(), keys)
            .await
            .expect("a cache");
        connected(&cache).await;
        let (copy, events) = counted("corrupt_copy", get(&cache, &record)).await;
        assert_eq!((copy, events), (None, forged));
    }
    let mut ring = ring();
    ring.rotate(key("k2", 9), record.created)
        .expect("another key");
    let cache = RedisCache::connect(world.config(), ring.value_keys())
        .await
        .expect("a cache");
    connected(&cache).await;
    assert_eq!(get(&cache, &record).await, Some(record));
}

#[tokio::test]
async fn keys_that_come_while_it_runs_read_the_old_copies_and_seal_the_new_ones() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (Arc::new(world.cache().await), world.client().await);
    let sharer = Arc::clone(&cache);
    let (old, new) = (record(State::Done), record(State::Done));
    cache.put(&old).await.expect("kept");
    let mut ring = ring();
    ring.rotate(key("k2", 9), old.created).expect("another key");
    cache.replace_keys(ring.value_keys());
    assert_eq!(get(&sharer, &old).await.as_ref(), Some(&old));
    sharer.put(&new).await.expect("kept");
    let value = redis.value(&world.key(new.id)).await;
    assert_eq!(&value[KEY_ID], b"\x02k2");

    // Without the retired key its copies are misses, and no event: nothing says who sealed them.
    let id = KeyId::parse("k1").expect("a short id");
    ring.drop_key_anyway(&id).expect("it is retired");
    cache.replace_keys(ring.value_keys());
    let (copy, events) = counted("corrupt_copy", get(&sharer, &old)).await;
    assert_eq!((copy, events), (None, 0));
    assert_eq!(get(&sharer, &new).await, Some(new));
}

#[tokio::test]
async fn a_copy_that_was_moved_to_another_prefix_is_refused() {
    let (here, there) = (
        World::on(&shared(Shared::Redis)),
        World::on(&shared(Shared::Redis)),
    );
    let (cache, redis) = (here.cache().await, here.client().await);
    let record = record(State::Done);
    cache.put(&record).await.expect("kept");
    let () = redis
        .ask("RENAME", &[&here.key(record.id), &there.key(record.id)])
        .await;
    is_refused(&there.cache().await, &record).await;
}

/// Something that a GET does not give is an error, and truth is asked.
#[tokio::test]
async fn a_key_of_another_type_is_an_error() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    let record = record(State::Done);
    let _: i64 = redis
        .ask("HSET", &[&world.key(record.id), "state", "done"])
        .await;
    let error = cache.get(record.id).await.expect_err("it is no copy");
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

#[tokio::test]
async fn debug_shows_nothing_of_what_is_kept() {
    let world = World::on("redis://:secret@127.0.0.1:1");
    let cache = RedisCache::connect(world.config(), crate::common::keys())
        .await
        .expect("a cache");
    let shown = format!("{cache:?}");
    assert!(!shown.contains("secret"), "{shown}");
}
