//! Servers that are dead, frozen, or replaced by another: every call ends in time, and goes on when it can.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use counterfoil_core::{
    lifecycle::State,
    store::{Completed, Store, StoreError, StoreErrorKind},
};
use counterfoil_servers::{Proxy, Redis as Server, RedisCluster, RedisSentinel, Weather};
use counterfoil_store_redis::{ALostWriteMayBeRepeated, RedisConfig, RedisStore};

use crate::{
    common::{config, keys},
    op::{Op, alone, claimed, done},
};

const COMMAND: Duration = Duration::from_millis(300);
const CONNECT: Duration = Duration::from_millis(500);
/// The machine that runs the tests has much else to do.
const SLACK: Duration = Duration::from_secs(2);

pub(crate) fn quick(url: &str) -> RedisConfig {
    config(url)
        .with_command_timeout(COMMAND)
        .and_then(|config| config.with_connect_timeout(CONNECT))
        .expect("valid timeouts")
}

async fn start(config: RedisConfig) -> Result<RedisStore, StoreError> {
    RedisStore::alone(config, keys(), ALostWriteMayBeRepeated).await
}

/// The first answer that is no error.
pub(crate) async fn until_it_answers<T, F: Future<Output = Result<T, StoreError>>>(
    call: impl Fn() -> F,
) -> T {
    tokio::time::timeout(Duration::from_secs(30), async {
        loop {
            match call().await {
                Ok(answer) => return answer,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    })
    .await
    .expect("it answers again")
}

async fn fails_in_time<T: std::fmt::Debug>(
    bound: Duration,
    call: impl Future<Output = Result<T, StoreError>>,
) -> StoreError {
    let began = Instant::now();
    let error = call.await.expect_err("there is nobody to answer");
    let took = began.elapsed();
    assert!(took < bound + SLACK, "{error} after {took:?}");
    error
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_is_told_in_time() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("it has one").port();
    drop(free);
    for form in [
        format!("redis://127.0.0.1:{port}"),
        format!("redis-cluster://127.0.0.1:{port}"),
        format!("redis-sentinel://127.0.0.1:{port}?sentinelServiceName=main"),
    ] {
        let error = fails_in_time(CONNECT * 2, start(quick(&form))).await;
        assert_eq!(error.kind(), StoreErrorKind::NotApplied, "{form}");
        let source = std::error::Error::source(&error);
        assert!(source.is_some(), "{form}: {error:?} says why");
    }
}

/// It takes connections and says nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_never_answers_is_told_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = silent.local_addr().expect("it has one").port();
    let address = format!("redis://127.0.0.1:{port}");
    let error = fails_in_time(CONNECT * 2, start(quick(&address))).await;
    assert_eq!(error.kind(), StoreErrorKind::NotApplied);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_another_kind_is_told_in_time() {
    let server = Server::start().expect("a server");
    let address = server.url().replace("redis://", "redis-cluster://");
    fails_in_time(CONNECT * 2, start(quick(&address))).await;
}

/// What was sent and not answered may run when the server wakes up. Asked again by the same owner it is the same claim.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_server_is_told_in_time_and_a_late_claim_is_its_owners() {
    let server = Server::start().expect("a server");
    let store = alone(quick(server.url())).await;
    let open = Op::new();
    let held = open.claim(&store).await;
    let op = Op::new();
    let wish = op.wish();

    server.freeze().expect("frozen");
    let error = fails_in_time(COMMAND, store.acquire(&wish)).await;
    assert_eq!(error.kind(), StoreErrorKind::Indeterminate);
    // Long enough that the client drops the connection, and finds that no other can be made.
    let frozen = Instant::now();
    while frozen.elapsed() < Duration::from_secs(4) {
        fails_in_time(COMMAND, store.complete(&held, &done("paid"))).await;
        fails_in_time(COMMAND, store.find(op.id)).await;
    }

    server.thaw().expect("thawed");
    let lease = until_it_answers(|| store.acquire(&wish)).await;
    assert_eq!(claimed(lease).owner, wish.claim.owner);
    let paid = done("paid");
    let completed = until_it_answers(|| store.complete(&held, &paid)).await;
    assert_eq!(completed, Completed::Completed);
    let record = open.record(&store).await;
    assert_eq!((record.attempts, record.evidence.len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_server_is_told_in_time_and_connected_to_again() {
    let server = Server::start().expect("a server");
    let store = alone(quick(server.url())).await;
    for _ in 0..3 {
        server.kill().expect("killed");
        let dead = Instant::now();
        while dead.elapsed() < Duration::from_secs(1) {
            let wish = Op::new().wish();
            fails_in_time(COMMAND, store.acquire(&wish)).await;
        }
        // Once it is known that there is no connection, nothing is in doubt.
        let wish = Op::new().wish();
        let error = fails_in_time(COMMAND, store.acquire(&wish)).await;
        assert_eq!(error.kind(), StoreErrorKind::NotApplied);
        server.restart().expect("restarted");
        claimed(until_it_answers(|| store.acquire(&wish)).await);
    }
}

/// Nothing lingers: neither the one who drops it nor its connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_dropped_is_gone_at_once() {
    let server = Server::start().expect("a server");
    let redis = crate::common::client::Redis::connect(server.url()).await;
    let count = || async {
        let clients: String = redis.ask("CLIENT", &["LIST"]).await;
        clients.lines().count()
    };
    let before = count().await;
    let store = alone(quick(server.url())).await;
    assert!(count().await > before);
    drop(store);
    let gone = async {
        while count().await > before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone)
        .await
        .expect("its connection is closed");

    let frozen = alone(quick(server.url())).await;
    server.freeze().expect("frozen");
    let began = Instant::now();
    drop(frozen);
    assert!(began.elapsed() < Duration::from_millis(500));
    server.thaw().expect("thawed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_wire_holds_nobody_past_the_time() {
    let server = Server::start().expect("a server");
    let proxy = Proxy::start(server.port()).expect("a free port");
    let store = alone(quick(&format!("redis://127.0.0.1:{}", proxy.port()))).await;
    for weather in [
        Weather::Slow(COMMAND * 3),
        Weather::RepliesSwallowed,
        Weather::Frozen,
    ] {
        proxy.set(weather);
        for _ in 0..3 {
            let wish = Op::new().wish();
            fails_in_time(COMMAND, store.acquire(&wish)).await;
        }
        proxy.set(Weather::Clear);
        let op = Op::new();
        let wish = op.wish();
        claimed(until_it_answers(|| store.acquire(&wish)).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_sentinel_the_next_master_is_found() {
    let servers = RedisSentinel::start().expect("servers");
    let store = alone(quick(servers.url())).await;
    let op = Op::new();
    op.reach(&store, State::Done).await;
    let before = servers.master_port().expect("a master");
    servers.kill_master().expect("killed");
    let later = Op::new();
    let wish = later.wish();
    claimed(until_it_answers(|| store.acquire(&wish)).await);
    assert_ne!(servers.master_port().expect("a master"), before);
}

/// A master that only sleeps keeps its connections, and wakes up as one that has been replaced.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_sentinel_a_master_that_wakes_up_replaced_is_left() {
    let servers = RedisSentinel::start().expect("servers");
    let store = alone(quick(servers.url())).await;
    Op::new().claim(&store).await;
    let frozen = servers.freeze_master().expect("frozen");
    servers
        .wait_for_failover(frozen, Duration::from_secs(30))
        .expect("another is the master");
    let wish = Op::new().wish();
    claimed(until_it_answers(|| store.acquire(&wish)).await);
    servers.thaw(frozen).expect("thawed");
    let woken = Instant::now();
    while woken.elapsed() < Duration::from_secs(3) {
        let wish = Op::new().wish();
        claimed(until_it_answers(|| store.acquire(&wish)).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_cluster_every_operation_goes_on_after_a_master_died() {
    let servers = RedisCluster::start().expect("servers");
    let store = alone(quick(servers.url())).await;
    let dead = servers.kill_master(0).expect("killed");
    servers
        .wait_for_failover(dead, Duration::from_secs(30))
        .expect("another takes its slots");
    // Enough that each third of the slots has some.
    for _ in 0..30 {
        let op = Op::new();
        let wish = op.wish();
        let held = claimed(until_it_answers(|| store.acquire(&wish)).await);
        let paid = done("paid");
        let completed = until_it_answers(|| store.complete(&held, &paid)).await;
        assert_eq!(completed, Completed::Completed);
    }
}
