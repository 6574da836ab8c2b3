//! The tiered store beside the reference: whatever the cache does, no answer and no record differs.

mod common;

use std::time::Duration;

use common::{MapCache, Mood, tiers};
use counterfoil_store_tiered::TieredStore;
use counterfoil_testkit::{Fault, Method, conformance::Harness, lockstep};

const SEQUENCES: u32 = 2_000;

async fn play(mood: Mood) -> MapCache {
    let (clock, truth, cache) = tiers();
    cache.be(mood);
    // What goes on behind a call's back gets time to.
    truth.always(Method::Find, Some(Fault::Delay(Duration::from_millis(1))));
    // Tried again at once, so that the cache is asked, and fails, as often as can be.
    let store = TieredStore::new(truth.clone(), cache.clone()).with_breaker(3, Duration::ZERO);
    let harness = Harness::with_clock(store, clock);
    lockstep::check(&harness, SEQUENCES, 7).await;
    cache.assert_told_after_truth();
    let asked = cache.gets();
    assert!(asked > 3_000, "the cache was asked {asked} times");
    assert!(truth.calls(Method::Find) > 10_000);
    cache
}

#[tokio::test(start_paused = true)]
async fn with_a_cache_that_works_nothing_differs() {
    let cache = play(Mood::Well).await;
    let filled = cache.puts();
    assert!(filled > 1_000, "the cache was filled {filled} times");
}

#[tokio::test(start_paused = true)]
async fn with_a_cache_that_loses_rolls_back_fails_hangs_and_mixes_up_nothing_differs() {
    let cache = play(Mood::Wild).await;
    let filled = cache.puts();
    assert!(filled > 1_000, "the cache was filled {filled} times");
}

#[tokio::test(start_paused = true)]
async fn with_a_cache_that_is_dead_nothing_differs() {
    play(Mood::Fails).await;
}

#[tokio::test(start_paused = true)]
async fn with_a_cache_that_is_frozen_nothing_differs() {
    play(Mood::Hangs).await;
}
