//! Watches of both tiers.

use std::time::Duration;

use counterfoil_core::store::{Cache, Store};
use tokio::time::timeout;

use crate::{
    common::Mood,
    world::{World, paid},
};

const SOON: Duration = Duration::from_millis(1);

#[tokio::test(start_paused = true)]
async fn a_watch_ends_when_the_cache_is_told() {
    let world = World::new();
    let held = world.claim().await;
    let watch = world.store.watch(world.id);
    world.store.complete(&held, &paid()).await.unwrap();
    timeout(SOON, watch).await.expect("it was told");
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_silent_while_nothing_happens() {
    let world = World::new();
    world.claim().await;
    let watch = world.store.watch(world.id);
    timeout(Duration::from_secs(3_600), watch)
        .await
        .expect_err("nothing happened");
}

/// As another process does it, of which truth here learns nothing.
#[tokio::test(start_paused = true)]
async fn another_processs_news_comes_by_the_cache() {
    let world = World::new();
    let watch = world.store.watch(world.id);
    world.cache.announce(world.id).await.unwrap();
    timeout(SOON, watch).await.expect("it was told");
}

#[tokio::test(start_paused = true)]
async fn news_that_truth_has_of_itself_comes_without_the_cache() {
    let world = World::new();
    let held = world.claim().await;
    let joined = world.store.watch(world.id);
    world.cache.be(Mood::Fails);
    for _ in 0..3 {
        world.store.find(world.id).await.unwrap();
    }
    let alone = world.store.watch(world.id);
    world.truth.complete(&held, &paid()).await.unwrap();
    timeout(SOON, joined).await.expect("truth told it");
    timeout(SOON, alone).await.expect("truth told it");
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_is_left_out_is_not_watched() {
    let world = World::new();
    world.cache.be(Mood::Fails);
    for _ in 0..3 {
        world.store.find(world.id).await.unwrap();
    }
    let watch = world.store.watch(world.id);
    world.cache.be(Mood::Well);
    world.cache.announce(world.id).await.unwrap();
    timeout(SOON, watch)
        .await
        .expect_err("it watches truth alone");
}
