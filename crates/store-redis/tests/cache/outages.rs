//! A cache whose server is down, frozen or back again costs little, and heals by itself.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use counterfoil_core::{
    lifecycle::State,
    store::{Cache, StoreErrorKind},
};
use counterfoil_servers::{Proxy, Redis as Server, Weather};
use counterfoil_store_redis::{RedisCache, RedisConfig};

use crate::{
    common::keys,
    world::{World, connected, record},
};

/// The machine that runs the tests has much else to do.
const SLACK: Duration = Duration::from_secs(1);

/// With the timeouts that it has by default.
async fn cache(url: &str) -> RedisCache {
    let config = RedisConfig::from_url(url).expect("a valid address");
    RedisCache::connect(config, keys()).await.expect("a cache")
}

async fn fails_fast(cache: &RedisCache) -> StoreErrorKind {
    let began = Instant::now();
    let record = record(State::Done);
    let error = cache.get(record.id).await.expect_err("nobody answers");
    cache.put(&record).await.expect_err("nobody answers");
    cache.announce(record.id).await.expect_err("nobody answers");
    let took = began.elapsed();
    let bound = RedisCache::DEFAULT_COMMAND_TIMEOUT * 3;
    assert!(took < bound + SLACK, "{took:?}");
    error.kind()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cache_whose_server_is_down_begins_and_connects_later() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("it has one").port();
    drop(free);
    let began = Instant::now();
    let down = cache(&format!("redis://127.0.0.1:{port}")).await;
    assert_eq!(fails_fast(&down).await, StoreErrorKind::NotApplied);
    assert!(began.elapsed() < SLACK);

    let server = Server::start().expect("a server");
    server.kill().expect("killed");
    let world = World::on(server.url());
    let cache = RedisCache::connect(world.config(), keys())
        .await
        .expect("a cache");
    assert_eq!(fails_fast(&cache).await, StoreErrorKind::NotApplied);
    server.restart().expect("restarted");
    connected(&cache).await;
    let record = record(State::Done);
    cache.put(&record).await.expect("kept");
    assert!(cache.get(record.id).await.expect("an answer").is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_server_costs_the_timeout_and_then_nothing() {
    let server = Server::start().expect("a server");
    let cache = cache(server.url()).await;
    connected(&cache).await;
    server.freeze().expect("frozen");
    let frozen = Instant::now();
    let mut last = StoreErrorKind::Indeterminate;
    while frozen.elapsed() < Duration::from_secs(3) {
        last = fails_fast(&cache).await;
    }
    // By then it is known that there is no connection.
    assert_eq!(last, StoreErrorKind::NotApplied);
    server.thaw().expect("thawed");
    connected(&cache).await;
}

/// A wire that is cut without a word, as by a firewall, while calls go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_died_in_silence_is_replaced_while_calls_go_on() {
    let server = Server::start().expect("a server");
    let proxy = Proxy::start(server.port()).expect("a free port");
    let cache = cache(&format!("redis://127.0.0.1:{}", proxy.port())).await;
    connected(&cache).await;
    let before = proxy.accepted();
    proxy.set(Weather::RepliesSwallowed);
    for _ in 0..20 {
        fails_fast(&cache).await;
    }
    proxy.set(Weather::Clear);
    connected(&cache).await;
    assert!(proxy.accepted() > before);
}
