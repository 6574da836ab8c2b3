//! Redis is harmed while 200 callers claim, complete and replay.

use std::{sync::Arc, time::Duration};

use counterfoil_servers::{Redis, RedisSentinel, Shared, shared};
use counterfoil_store_tiered::TieredStore;
use counterfoil_testkit::{conformance::Harness, races};

use crate::{
    wire::ask,
    world::{BOUND, Ended, store},
};

const CALLERS: usize = 200;
const OPERATIONS: usize = 10;
/// Truth's own limits, which are 9 s, and the cache's; on a machine with much else to do.
const CALL_LIMIT: Duration = Duration::from_secs(15);

/// Harms the cache while callers race, and holds that each operation has one claim and one result.
async fn race_under(store: &Arc<TieredStore>, harm: impl FnOnce() + Send + 'static) {
    let harness = Harness::new(Arc::clone(store), |_: Duration| std::future::ready(()))
        .with_call_limit(CALL_LIMIT);
    let race = tokio::spawn(races::exactly_one(harness, CALLERS, OPERATIONS));
    let harm = tokio::task::spawn_blocking(harm);
    harm.await.expect("the server does as it is told");
    race.await.expect("one claim and one result each");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cache_that_is_killed_frozen_flushed_and_restarted_changes_no_answer() {
    let redis = Arc::new(Redis::start().expect("it starts"));
    let store = store(&shared(Shared::Postgres), redis.url()).await;
    // Tried again soon, so that each harm meets a cache in use.
    let store = Arc::new(store.with_breaker(3, Duration::from_millis(50)));
    let before = Ended::copied(&store, redis.port()).await;
    type Harm = fn(&Redis);
    let harms: [Harm; 7] = [
        |_| {},
        |redis| redis.kill().expect("it runs"),
        |redis| redis.restart().expect("it starts again"),
        |redis| redis.freeze().expect("it runs"),
        |redis| redis.thaw().expect("it is frozen"),
        |redis| {
            for _ in 0..20 {
                ask(redis.port(), &[b"FLUSHALL"]);
            }
        },
        |redis| redis.restart().expect("it starts again"),
    ];
    for harm in harms {
        let harmed = Arc::clone(&redis);
        race_under(&store, move || harm(&harmed)).await;
        before.assert_replayed().await;
    }
    Ended::copied(&store, redis.port()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_failover_that_loses_the_last_writes_changes_no_answer() {
    let redis = Arc::new(RedisSentinel::start().expect("it starts"));
    let store = store(&shared(Shared::Postgres), redis.url()).await;
    let store = Arc::new(store.with_breaker(3, Duration::from_millis(50)));
    let master = redis.master_port().expect("there is one");
    let kept = Ended::copied(&store, master).await;
    redis.cut_replication().expect("it is cut");
    let lost = Ended::copied(&store, master).await;
    let failing = Arc::clone(&redis);
    race_under(&store, move || {
        failing.kill(master).expect("it runs");
    })
    .await;
    for ended in [&kept, &lost] {
        ended.assert_replayed().await;
    }
    let waiting = Arc::clone(&redis);
    let failover = move || waiting.wait_for_failover(master, BOUND);
    let failover = tokio::task::spawn_blocking(failover).await;
    let successor = failover.expect("no panic").expect("the replica takes over");
    assert_eq!(lost.copy(successor), None, "its copy was lost");
    for ended in [&kept, &lost] {
        ended.assert_replayed().await;
    }
    race_under(&store, || {}).await;
    // The cache is found again where it is now.
    Ended::copied(&store, successor).await;
}
