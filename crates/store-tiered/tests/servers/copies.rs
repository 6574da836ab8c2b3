//! Copies that are flushed, edited and mixed up, and a cache that is frozen.

use std::{sync::Arc, time::Duration};

use counterfoil_servers::{Postgres, Redis, Shared, shared};
use tokio::time::Instant;

use crate::{
    wire::ask,
    world::{BOUND, CACHE_LIMIT, Ended, store},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_replay_after_a_flush_gets_the_same_result() {
    let redis = Redis::start().expect("it starts");
    let store = Arc::new(store(&shared(Shared::Postgres), redis.url()).await);
    let ended = Ended::copied(&store, redis.port()).await;
    for _ in 0..5 {
        ask(redis.port(), &[b"FLUSHALL"]);
        assert_eq!(ended.copy(redis.port()), None);
        ended.assert_replayed().await;
        store.settled().await;
        ended.assert_replayed().await;
    }
    assert!(ended.copy(redis.port()).is_some(), "it is filled again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_copy_that_was_edited_or_belongs_to_another_operation_is_never_an_answer() {
    let postgres = Postgres::start().expect("it starts");
    let redis = Redis::start().expect("it starts");
    let port = redis.port();
    let store = store(postgres.url(), redis.url()).await;
    let store = Arc::new(store.with_breaker(3, Duration::from_millis(50)));
    let (ended, other) = (
        Ended::copied(&store, port).await,
        Ended::copied(&store, port).await,
    );
    let key = ended.copy(port).expect("there is one");
    let set = |value: &[u8]| ask(port, &[b"SET", &key, value]);
    let get = |key: &[u8]| ask(port, &[b"GET", key]).pop().expect("it has a value");
    let copy = get(&key);
    let mut poisons = vec![
        get(&other.copy(port).expect("there is one")),
        Vec::new(),
        copy[..copy.len() - 1].to_vec(),
        edited(&copy, copy.len() - 1),
    ];
    let throughout = (0..copy.len()).step_by(copy.len() / 8);
    poisons.extend(throughout.map(|at| edited(&copy, at)));

    for poison in &poisons {
        set(poison);
        let end = Instant::now() + BOUND;
        while get(&key) == *poison {
            assert!(Instant::now() < end, "the copy is made anew");
            ended.assert_replayed().await;
            store.settled().await;
        }
    }
    // Without truth a copy is all the answer that there is, and a poisoned one is none.
    postgres.kill().expect("it runs");
    for poison in &poisons {
        set(&copy);
        answered(&ended).await;
        set(poison);
        let replayed = ended.replay().await;
        assert!(replayed.is_err(), "a poisoned copy answers: {replayed:?}");
    }
    postgres.restart().expect("it starts again");
    answered(&ended).await;
}

fn edited(copy: &[u8], at: usize) -> Vec<u8> {
    let mut edited = copy.to_vec();
    edited[at] ^= 1;
    edited
}

/// Waits until a replay is answered: a connection may have to be made again.
async fn answered(ended: &Ended) {
    let end = Instant::now() + BOUND;
    while ended.replay().await.is_err() {
        assert!(Instant::now() < end, "neither tier answers");
    }
    ended.assert_replayed().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_frozen_cache_costs_the_first_callers_its_limit_and_the_others_nothing() {
    const CALLS: u32 = 20;
    let redis = Redis::start().expect("it starts");
    let store = store(&shared(Shared::Postgres), redis.url()).await;
    // Tried again often, which no caller waits for.
    let store = Arc::new(store.with_breaker(3, Duration::from_millis(50)));
    let ended = Ended::copied(&store, redis.port()).await;
    redis.freeze().expect("it runs");
    for _ in 0..3 {
        ended.assert_replayed().await;
    }
    assert!(!store.is_cache_in_use());
    let began = Instant::now();
    for _ in 0..CALLS {
        ended.assert_replayed().await;
    }
    // Were it asked, each would take the limit at least.
    assert!(
        began.elapsed() < CACHE_LIMIT * CALLS / 2,
        "{:?}",
        began.elapsed()
    );
}
