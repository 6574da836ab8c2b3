//! A cache in trouble costs a bounded little.

use std::{sync::Arc, time::Duration};

use counterfoil_core::{
    lifecycle::State,
    store::{Acquired, Store},
};
use counterfoil_store_tiered::TieredStore;
use tokio::time::{Instant, advance, timeout};

use crate::{common::Mood, world::World};

const LIMIT: Duration = TieredStore::DEFAULT_CACHE_LIMIT;
const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_frozen_cache_costs_three_waits_and_then_none() {
    let world = World::new();
    world.done().await;
    world.store.settled().await;
    world.cache.be(Mood::Hangs);
    let began = Instant::now();
    for n in 1..=50 {
        assert_eq!(world.replay().await.life.state, State::Done);
        assert_eq!(began.elapsed(), LIMIT * n.min(3), "after {n}");
    }
    assert!(!world.store.is_cache_in_use());
    world.claim_of(world.another()).await;
    assert_eq!(began.elapsed(), LIMIT * 3, "a first run neither");
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_fails_is_left_out_after_three_failures_in_a_row() {
    let world = World::new();
    world.done().await;
    for _ in 0..5 {
        world.cache.be(Mood::Fails);
        world.replay().await;
        world.replay().await;
        assert!(world.store.is_cache_in_use(), "two are no reason");
        world.cache.be(Mood::Well);
        world.replay().await;
    }
    world.cache.be(Mood::Fails);
    for _ in 0..3 {
        world.replay().await;
    }
    assert!(!world.store.is_cache_in_use());
    let gets = world.cache.gets();
    for _ in 0..100 {
        world.replay().await;
    }
    assert_eq!(world.cache.gets(), gets);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_to_a_cache_that_is_left_out() {
    let world = World::new();
    let held = world.claim().await;
    left_out(&world).await;
    world.cache.be(Mood::Well);
    let puts = world.cache.puts();
    world
        .store
        .complete(&held, &crate::world::paid())
        .await
        .unwrap();
    world.replay().await;
    world.store.settled().await;
    assert_eq!(world.cache.announced(), []);
    assert_eq!(world.cache.puts(), puts);
}

#[tokio::test(start_paused = true)]
async fn when_its_time_is_over_a_single_read_tries_and_nobody_waits_for_it() {
    let world = World::new();
    world.done().await;
    left_out(&world).await;
    world.cache.be(Mood::Hangs);
    for _ in 0..3 {
        advance(SECOND).await;
        let (gets, began) = (world.cache.gets(), Instant::now());
        let all = (0..100).map(|_| {
            let (store, wish) = (Arc::clone(&world.store), world.wish());
            tokio::spawn(async move { store.acquire(&wish).await.unwrap() })
        });
        for replay in all.collect::<Vec<_>>() {
            assert!(matches!(replay.await.unwrap(), Acquired::Found(_)));
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        world.store.settled().await;
        assert_eq!(world.cache.gets(), gets + 1);
        assert!(!world.store.is_cache_in_use());
    }
    world.cache.be(Mood::Well);
    advance(SECOND).await;
    world.replay().await;
    world.store.settled().await;
    assert!(world.store.is_cache_in_use());
}

#[tokio::test(start_paused = true)]
async fn before_its_time_is_over_nobody_tries() {
    let world = World::new();
    world.done().await;
    left_out(&world).await;
    let gets = world.cache.gets();
    advance(SECOND - Duration::from_millis(1)).await;
    world.replay().await;
    world.store.settled().await;
    assert_eq!(world.cache.gets(), gets);
}

#[tokio::test(start_paused = true)]
async fn a_slow_cache_is_waited_for_within_its_time_and_no_longer() {
    let world = World::new();
    world.cached().await;
    let asked = world.asked_truth();
    world.cache.be(Mood::Slow(LIMIT - Duration::from_millis(1)));
    world.replay().await;
    assert_eq!(world.asked_truth(), asked, "it is in time");
    world.cache.be(Mood::Slow(LIMIT + Duration::from_millis(1)));
    let began = Instant::now();
    world.replay().await;
    assert_eq!(world.asked_truth(), asked + 1);
    assert_eq!(began.elapsed(), LIMIT);
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_takes_what_it_is_told_and_answers_no_reads_is_left_out() {
    let world = World::new();
    let held = world.done().await;
    world.cache.be(Mood::FailsReads);
    for _ in 0..3 {
        world.replay().await;
        world
            .store
            .complete(&held, &crate::world::paid())
            .await
            .unwrap();
        world.store.settled().await;
    }
    assert!(!world.store.is_cache_in_use());
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_finds_no_room_is_no_end_of_trials() {
    let world = World::with(|store| store.with_max_tasks(1));
    world.done().await;
    world.store.settled().await;
    left_out(&world).await;
    world.cache.be(Mood::Hangs);
    advance(SECOND).await;
    // This one takes the only place, and fails in time.
    world.replay().await;
    advance(SECOND + LIMIT).await;
    world.cache.be(Mood::Well);
    world.replay().await;
    world.store.settled().await;
    advance(SECOND).await;
    world.replay().await;
    world.store.settled().await;
    assert!(world.store.is_cache_in_use());
}

/// A caller that goes away says nothing of the cache, and takes nothing along.
#[tokio::test(start_paused = true)]
async fn a_dropped_call_leaves_everything_as_it_was() {
    let world = World::new();
    world.cached().await;
    world.cache.be(Mood::Hangs);
    for _ in 0..20 {
        let short = LIMIT / 2;
        assert!(timeout(short, world.store.find(world.id)).await.is_err());
        let wish = world.wish();
        assert!(timeout(short, world.store.acquire(&wish)).await.is_err());
    }
    assert!(world.store.is_cache_in_use());
    world.cache.be(Mood::Well);
    let asked = world.asked_truth();
    world.replay().await;
    assert_eq!(world.asked_truth(), asked);

    left_out(&world).await;
    world.cache.be(Mood::Well);
    advance(SECOND).await;
    // Dropped while its trial is under way: the trial goes on.
    let mut find = Box::pin(world.store.find(world.id));
    assert!(futures_poll(&mut find).await);
    drop(find);
    world.store.settled().await;
    assert!(world.store.is_cache_in_use());
}

/// Fails until it is left out.
async fn left_out(world: &World) {
    world.cache.be(Mood::Fails);
    for _ in 0..3 {
        let _ = world.store.find(world.id).await;
    }
    assert!(!world.store.is_cache_in_use());
}

/// Polls once; whether it has ended.
async fn futures_poll<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|cx| {
        let ended = std::pin::Pin::new(&mut *future).poll(cx).is_ready();
        std::task::Poll::Ready(ended)
    })
    .await
}

/// Somebody has to try whether it is back, however few tasks there may be.
#[tokio::test(start_paused = true)]
async fn a_store_that_was_given_no_tasks_has_one() {
    let world = World::with(|store| store.with_max_tasks(0));
    world.done().await;
    left_out(&world).await;
    world.cache.be(Mood::Well);
    advance(SECOND).await;
    world.replay().await;
    world.store.settled().await;
    assert!(world.store.is_cache_in_use());
    world.replay().await;
    world.store.settled().await;
    assert!(world.cache.copies().contains_key(&world.id));
}
