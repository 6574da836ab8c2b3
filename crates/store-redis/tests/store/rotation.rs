//! Keys that come while a store runs.

use std::sync::Arc;

use counterfoil_core::{
    Clock, KeyId, SystemClock,
    fingerprint::{Keyring, SignedUntil, ValueKeys},
    lifecycle::State,
    store::{Acquired, Completed, Store, StoreErrorKind},
};
use counterfoil_store_redis::RedisStore;

use crate::{
    bench::Bench,
    common::{client, key, keys, ring},
    op::{Op, done},
};

/// The old key signed until now, and the new one signs.
fn rotated() -> Keyring {
    let mut ring = ring();
    ring.rotate(key("k2", 9), SystemClock.now())
        .expect("another key");
    ring
}

fn new_key_alone() -> ValueKeys {
    let (mut ring, old) = (rotated(), KeyId::parse("k1").expect("a short id"));
    ring.drop_key_anyway(&old).expect("it is retired");
    ring.value_keys()
}

/// Which of the keys sealed something in the record: a slot has the key's id, with its length in front.
async fn sealed_by(bench: &Bench, op: &Op) -> (bool, bool) {
    let value = bench.redis.value(&client::key(&bench.prefix, op.id)).await;
    let has = |id: &[u8]| value.windows(id.len()).any(|part| part == id);
    (has(b"\x02k1"), has(b"\x02k2"))
}

async fn is_corrupt(store: &RedisStore, op: &Op) -> bool {
    match store.find(op.id).await {
        Err(error) => error.kind() == StoreErrorKind::Corrupt,
        Ok(_) => false,
    }
}

#[tokio::test]
async fn after_a_rotation_old_records_are_read_and_new_ones_are_sealed_by_the_new_key() {
    let bench = Bench::new().await;
    let store = Arc::new(&bench.store);
    let sharer = Arc::clone(&store);
    let (old, running, new) = (Op::new(), Op::new(), Op::new());
    old.reach(&store, State::Done).await;
    let held = running.claim(&store).await;
    assert_eq!(sealed_by(&bench, &old).await, (true, false));

    store.replace_keys(rotated().value_keys());
    assert_eq!(old.record(&sharer).await.life.state, State::Done);
    let replay = sharer.acquire(&old.wish()).await.expect("an answer");
    assert!(matches!(replay, Acquired::Found(_)), "{replay:?}");
    // Claimed under the old key, and completed under the new one: by the same owner, once and again.
    for _ in 0..2 {
        let completed = sharer.complete(&held, &done("paid")).await;
        assert_eq!(completed.expect("an answer"), Completed::Completed);
    }
    assert_eq!(sealed_by(&bench, &running).await, (true, true));
    assert!(running.record(&sharer).await.evidence.is_empty());
    new.reach(&sharer, State::Done).await;
    assert_eq!(sealed_by(&bench, &new).await, (false, true));
}

#[tokio::test]
async fn a_store_without_the_key_that_sealed_a_record_calls_it_corrupt() {
    let bench = Bench::new().await;
    let (old, mixed, new) = (Op::new(), Op::new(), Op::new());
    old.reach(&bench.store, State::Done).await;
    let held = mixed.claim(&bench.store).await;
    bench.store.replace_keys(rotated().value_keys());
    let completed = bench.store.complete(&held, &done("paid")).await;
    assert_eq!(completed.expect("an answer"), Completed::Completed);
    new.reach(&bench.store, State::Done).await;

    let behind = bench.with_keys(keys()).await;
    let ahead = bench.with_keys(new_key_alone()).await;
    for (store, of_old, of_new) in [(&behind, false, true), (&ahead, true, false)] {
        assert_eq!(is_corrupt(store, &old).await, of_old);
        assert_eq!(is_corrupt(store, &new).await, of_new);
        assert!(is_corrupt(store, &mixed).await);
        let claim = store.acquire(&mixed.wish()).await.expect_err("no claim");
        assert_eq!(claim.kind(), StoreErrorKind::Corrupt);
    }
    // The first round of a rotation reaches it late, and that is enough.
    let first = ring().with_verifying(key("k2", 9), SignedUntil::Open);
    behind.replace_keys(first.expect("another key").value_keys());
    for op in [&old, &mixed, &new] {
        assert_eq!(op.record(&behind).await.life.state, State::Done);
    }
    assert_eq!(
        behind.find(Op::new().id).await.expect("an answer").record,
        None
    );
}

/// Each call has the keys of one ring from its beginning to its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_are_replaced_again_and_again_disturb_no_call() {
    let bench = Bench::new().await;
    let first = ring().with_verifying(key("k2", 9), SignedUntil::Open);
    let rings = [first.expect("another key"), rotated()].map(|ring| ring.value_keys());
    let work = async {
        for _ in 0..200 {
            let op = Op::new();
            op.reach(&bench.store, State::Done).await;
            assert_eq!(op.record(&bench.store).await.life.state, State::Done);
        }
    };
    let rotating = async {
        for keys in rings.iter().cycle() {
            bench.store.replace_keys(keys.clone());
            tokio::task::yield_now().await;
        }
    };
    bench.store.replace_keys(rings[0].clone());
    tokio::select! {
        () = work => {}
        () = rotating => {}
    }
}
