//! What Redis refuses was not done.

use std::time::Duration;

use counterfoil_core::{
    lifecycle::State,
    store::{Store, StoreErrorKind},
};
use counterfoil_servers::{Proxy, Redis as Server};
use counterfoil_store_redis::RedisStore;

use crate::{
    common::{client::Redis, config},
    op::{Op, alone, claimed},
    outages::until_it_answers,
};

struct Bench {
    redis: Redis,
    store: RedisStore,
    server: Server,
}

async fn bench() -> Bench {
    let server = Server::start().expect("a server");
    Bench {
        redis: Redis::connect(server.url()).await,
        store: alone(config(server.url())).await,
        server,
    }
}

impl Bench {
    /// A claim is refused and leaves nothing; then, with the server put right, it passes.
    async fn refuses(&self, message: &str, bad: &[&str], good: &[&str]) {
        let op = Op::new();
        let wish = op.wish();
        self.tell(bad).await;
        let error = self.store.acquire(&wish).await.expect_err("it is refused");
        assert_eq!(error.kind(), StoreErrorKind::NotApplied, "{error}");
        assert_eq!(error.to_string(), message);
        self.tell(good).await;
        let found = until_it_answers(|| self.store.find(op.id)).await;
        assert_eq!(found.record, None);
        claimed(until_it_answers(|| self.store.acquire(&wish)).await);
    }

    async fn tell(&self, words: &[&str]) {
        let done: String = match words {
            [who, one] => self.redis.ask("REPLICAOF", &[*who, *one]).await,
            words => self.redis.ask("CONFIG", words).await,
        };
        assert_eq!(done, "OK");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_server_refuses_claims_and_still_answers() {
    let bench = bench().await;
    bench.tell(&["SET", "maxmemory-policy", "noeviction"]).await;
    let op = Op::new();
    op.reach(&bench.store, State::Done).await;
    let (full, empty) = (["SET", "maxmemory", "1mb"], ["SET", "maxmemory", "0"]);
    bench.refuses("redis is out of memory", &full, &empty).await;
    bench.tell(&full).await;
    assert_eq!(op.record(&bench.store).await.life.state, State::Done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_without_replicas_refuses_claims_where_it_is_told_to() {
    let bench = bench().await;
    let needs = |replicas| ["SET", "min-replicas-to-write", replicas];
    bench
        .refuses(
            "redis has too few replicas to write",
            &needs("1"),
            &needs("0"),
        )
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_refuses_claims() {
    let bench = bench().await;
    bench
        .refuses("redis is a replica", &["127.0.0.1", "1"], &["no", "one"])
        .await;
}

/// A server that may not write is perhaps not the master any more: the store connects anew, which by Sentinel leads to the
/// one that is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_such_a_refusal_the_master_is_looked_for() {
    let bench = bench().await;
    let proxy = Proxy::start(bench.server.port()).expect("a free port");
    let store = alone(config(&format!("redis://127.0.0.1:{}", proxy.port()))).await;
    let needs = |replicas| ["SET", "min-replicas-to-write", replicas];
    bench.tell(&needs("1")).await;
    let before = proxy.accepted();
    let error = store.acquire(&Op::new().wish()).await;
    assert!(error.is_err(), "{error:?}");
    let anew = async {
        while proxy.accepted() == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), anew)
        .await
        .expect("it connects anew");
    // Not for each of many refusals, since there may be no other server.
    for _ in 0..50 {
        let _ = store.acquire(&Op::new().wish()).await;
    }
    assert!(proxy.accepted() < before + 10);
    bench.tell(&needs("0")).await;
    let wish = Op::new().wish();
    claimed(until_it_answers(|| store.acquire(&wish)).await);
}
