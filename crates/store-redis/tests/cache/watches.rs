//! News of operations, from one process to another.

use std::time::Duration;

use counterfoil_core::{
    OperationId,
    lifecycle::State,
    store::{Cache, Watch},
};
use counterfoil_servers::{Proxy, Redis as Server, RedisCluster, Shared, Weather, shared};
use counterfoil_store_redis::RedisCache;
use futures_util::FutureExt as _;

use crate::{
    common::client::Redis,
    world::{World, connected, record},
};

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

/// A watch that is surely listened to: the first one ends when the server has confirmed its channel.
async fn listened(cache: &RedisCache, id: OperationId) -> Watch {
    is_told(cache.watch(id)).await;
    cache.watch(id)
}

/// What is told the moment after a watch was given is not missed, although the server knows nothing of the watch yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_told_right_after_a_watch_began_is_not_missed() {
    for server in [Shared::Redis, Shared::RedisCluster, Shared::RedisSentinel] {
        let world = World::on(&shared(server));
        let (watcher, teller) = (world.cache().await, world.cache().await);
        for _ in 0..20 {
            let record = record(State::Done);
            let watch = watcher.watch(record.id);
            teller.put(&record).await.expect("kept");
            is_told(watch).await;
            // Nor what is told right after the next one began, which finds the channel listened to.
            let watch = watcher.watch(record.id);
            teller.announce(record.id).await.expect("told");
            is_told(watch).await;
        }
    }
}

/// Sent is not confirmed: a watch ends when the server has the channel, and not sooner.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_channel_counts_as_listened_to_once_the_server_has_confirmed_it() {
    let server = Server::start().expect("a server");
    let proxy = Proxy::start(server.port()).expect("a free port");
    let world = World::on(&format!("redis://127.0.0.1:{}", proxy.port()));
    let cache = world.cache().await;
    // Its connection for news stands, too.
    is_told(cache.watch(record(State::Done).id)).await;
    proxy.set(Weather::Frozen);
    let mut watch = cache.watch(record(State::Done).id);
    is_not_told(&mut watch).await;
    proxy.set(Weather::Clear);
    is_told(watch).await;
}

/// That a channel is listened to now is told once, and not to every watch that begins later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_of_what_is_listened_to_ends_with_news_alone() {
    for server in [Shared::Redis, Shared::RedisCluster, Shared::RedisSentinel] {
        let world = World::on(&shared(server));
        let (watcher, teller) = (world.cache().await, world.cache().await);
        let id = record(State::Done).id;
        let mut watch = listened(&watcher, id).await;
        for _ in 0..3 {
            is_not_told(&mut watch).await;
            teller.announce(id).await.expect("told");
            is_told(watch).await;
            watch = watcher.watch(id);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_who_watch_an_operation_are_told_and_nobody_else() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    let (id, other) = (record(State::Done).id, record(State::Done).id);
    let mut elsewhere = listened(&cache, other).await;
    let watches = [listened(&cache, id).await, cache.watch(id), cache.watch(id)];
    assert_eq!(listeners(&redis, &world, id).await, 1);
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
    let one = listened(&cache, id).await;
    let other = cache.watch(id);
    // Others still wait, however long.
    drop(one);
    let sweeper = record(State::Done).id;
    drop(listened(&cache, sweeper).await);
    until_listened(&redis, &world, sweeper, 0).await;
    assert_eq!(listeners(&redis, &world, id).await, 1);
    cache.announce(id).await.expect("told");
    is_told(other).await;
    until_listened(&redis, &world, id, 0).await;

    let again = listened(&cache, id).await;
    assert_eq!(listeners(&redis, &world, id).await, 1);
    drop(again);
    until_listened(&redis, &world, id, 0).await;

    let last = listened(&cache, id).await;
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
    let watch = listened(&watcher, id).await;
    server.kill().expect("killed");
    server.restart().expect("restarted");
    connected(&teller).await;
    // What was told meanwhile was missed: so much is told, once it is listened to again.
    is_told(watch).await;
    let watch = watcher.watch(id);
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
    is_told(watch).await;
    let watch = cache.watch(id);
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
        let watch = listened(&watcher, id).await;
        // The teller finds the new master in its own time.
        crate::world::until_done(|| teller.announce(id)).await;
        is_told(watch).await;
    }
}

/// In a cluster each channel is asked for by itself: one that is refused keeps no other from being listened to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_channel_that_is_refused_keeps_no_other_from_being_listened_to() {
    let servers = RedisCluster::start().expect("servers");
    let world = World::on(servers.url());
    let watcher = world.cache().await;
    let allow = async |channels: &str| {
        for port in servers.ports() {
            let node = Redis::connect(&format!("redis://127.0.0.1:{port}")).await;
            let words = ["SETUSER", "default", "resetchannels", channels];
            assert_eq!(node.ask::<String>("ACL", &words).await, "OK");
        }
    };
    let is_even = |id: &OperationId| id.as_bytes()[15].is_multiple_of(2);
    allow("&*{*[02468ace]}").await;
    let ids: Vec<_> = (0..60).map(|_| record(State::Done).id).collect();
    let (even, mut odd): (Vec<_>, Vec<_>) = ids
        .into_iter()
        .map(|id| (id, watcher.watch(id)))
        .partition(|(id, _)| is_even(id));
    assert!(even.len() > 5 && odd.len() > 5);
    for (_, watch) in even {
        is_told(watch).await;
    }
    for (_, watch) in &mut odd {
        assert!(watch.now_or_never().is_none(), "it is refused");
    }
    allow("&*").await;
    for (_, watch) in odd {
        is_told(watch).await;
    }
}

/// Past the bound nobody is told, and nothing grows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_watches_than_there_is_room_for_are_silent() {
    let world = World::on(&shared(Shared::Redis));
    let (cache, redis) = (world.cache().await, world.client().await);
    let id = record(State::Done).id;
    let mut crowd = vec![listened(&cache, id).await];
    crowd.extend((1..10_000).map(|_| cache.watch(id)));
    let other = record(State::Done).id;
    let mut silent = cache.watch(other);
    assert_eq!(listeners(&redis, &world, other).await, 0);
    cache.announce(other).await.expect("told");
    is_not_told(&mut silent).await;
    cache.announce(id).await.expect("told");
    for watch in crowd {
        is_told(watch).await;
    }
    // There is room again.
    let watch = listened(&cache, other).await;
    cache.announce(other).await.expect("told");
    is_told(watch).await;
}
