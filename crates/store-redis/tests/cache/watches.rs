//! News of operations, from one process to another.

use std::time::Duration;

use counterfoil_core::{
    OperationId,
    lifecycle::State,
    store::{Cache, Watch},
};
use counterfoil_servers::{Redis as Server, RedisCluster, Shared, shared};
use counterfoil_store_redis::RedisCache;

use crate::world::{Redis, World, connected, record};

const SOON: Duration = Duration::from_secs(5);

async fn is_told(watch: Watch) {
    tokio::time::timeout(SOON, watch)
        .await
        .expect("whoever watches is told");
}

async fn is_not_told(watch: &mut Watch) {
    tokio::time::timeout(Duration::from_millis(100), watch)
        .await
        .expect_err("nothing has changed");
}

/// How many listen to an operation's channel on a server.
async fn listeners(redis: &Redis, world: &World, id: OperationId) -> i64 {
    let channel = format!("{}copy:changed:{{{}}}", world.prefix, id.simple());
    let (_, count): (String, i64) = redis.ask("PUBSUB", &["NUMSUB", &channel]).await;
    count
}

async fn until_listened(redis: &Redis, world: &World, id: OperationId, count: i64) {
    let listened = async {
        while listeners(redis, world, id).await != count {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(SOON, listened)
        .await
        .expect("so many listen");
}

/// Watches until what is told arrives: that the watch has begun at the server can't be seen in a cluster.
async fn hears(watcher: &RedisCache, id: OperationId, tell: impl AsyncFn()) {
    let heard = async {
        let mut watch = watcher.watch(id);
        loop {
            tell().await;
            let pause = Duration::from_millis(50);
            if tokio::time::timeout(pause, &mut watch).await.is_ok() {
                return;
            }
        }
    };
    tokio::time::timeout(SOON * 4, heard)
        .await
        .expect("whoever watches is told");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_process_is_told_of_a_copy_and_of_news() {
    for server in [Shared::Redis, Shared::RedisCluster, Shared::RedisSentinel] {
        let world = World::on(&shared(server));
        let (watcher, teller) = (world.cache().await, world.cache().await);
        for _ in 0..20 {
            let record = record(State::Done);
            hears(&watcher, record.id, async || {
                teller.put(&record).await.expect("kept");
            })
            .await;
            let id = crate::world::record(State::Done).id;
            hears(&watcher, id, async || {
                teller.announce(id).await.expect("told");
            })
            .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_who_watch_an_operation_are_told_and_nobody_else() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    let (id, other) = (record(State::Done).id, record(State::Done).id);
    let watches = [cache.watch(id), cache.watch(id), cache.watch(id)];
    let mut elsewhere = cache.watch(other);
    until_listened(&redis, &world, id, 1).await;
    until_listened(&redis, &world, other, 1).await;
    cache.announce(id).await.expect("told");
    for watch in watches {
        is_told(watch).await;
    }
    is_not_told(&mut elsewhere).await;
    cache.announce(other).await.expect("told");
    is_told(elsewhere).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_is_dropped_is_listened_to_no_more() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    let id = record(State::Done).id;
    let (one, other) = (cache.watch(id), cache.watch(id));
    until_listened(&redis, &world, id, 1).await;
    drop(one);
    cache.announce(id).await.expect("told");
    is_told(other).await;
    until_listened(&redis, &world, id, 0).await;

    let again = cache.watch(id);
    until_listened(&redis, &world, id, 1).await;
    drop(again);
    until_listened(&redis, &world, id, 0).await;

    let last = cache.watch(id);
    until_listened(&redis, &world, id, 1).await;
    drop(cache);
    until_listened(&redis, &world, id, 0).await;
    drop(last);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_restart_of_the_server_the_same_watch_is_told() {
    let server = Server::start().expect("a server");
    let world = World::on(server.url());
    let (watcher, teller) = (world.cache().await, world.cache().await);
    let id = record(State::Done).id;
    let watch = watcher.watch(id);
    until_listened(&world.client().await, &world, id, 1).await;
    server.kill().expect("killed");
    server.restart().expect("restarted");
    connected(&teller).await;
    until_listened(&world.client().await, &world, id, 1).await;
    teller.announce(id).await.expect("told");
    is_told(watch).await;
}

/// A watch that begins while the server is down begins to listen when it is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_begins_in_an_outage_is_told_after_it() {
    let server = Server::start().expect("a server");
    let world = World::on(server.url());
    let cache = world.cache().await;
    server.kill().expect("killed");
    let id = record(State::Done).id;
    let watch = cache.watch(id);
    server.restart().expect("restarted");
    connected(&cache).await;
    until_listened(&world.client().await, &world, id, 1).await;
    cache.announce(id).await.expect("told");
    is_told(watch).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_cluster_watches_go_on_after_a_master_died() {
    let servers = RedisCluster::start().expect("servers");
    let world = World::on(servers.url());
    let (watcher, teller) = (world.cache().await, world.cache().await);
    let dead = servers.kill_master(0).expect("killed");
    servers
        .wait_for_failover(dead, Duration::from_secs(30))
        .expect("another takes its slots");
    for _ in 0..12 {
        let id = record(State::Done).id;
        hears(&watcher, id, async || {
            // The teller finds the new master in its own time.
            let _ = teller.announce(id).await;
        })
        .await;
    }
}

/// Past the bound nobody is told, and nothing grows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_watches_than_there_is_room_for_are_silent() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    let id = record(State::Done).id;
    let crowd: Vec<_> = (0..10_000).map(|_| cache.watch(id)).collect();
    let other = record(State::Done).id;
    let mut silent = cache.watch(other);
    until_listened(&redis, &world, id, 1).await;
    assert_eq!(listeners(&redis, &world, other).await, 0);
    cache.announce(other).await.expect("told");
    is_not_told(&mut silent).await;
    cache.announce(id).await.expect("told");
    for watch in crowd {
        is_told(watch).await;
    }
    // There is room again.
    let watch = cache.watch(other);
    until_listened(&redis, &world, other, 1).await;
    cache.announce(other).await.expect("told");
    is_told(watch).await;
}
