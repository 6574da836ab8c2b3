//! Many callers at once: on one server, on a cluster, behind Sentinel.

mod common;

use counterfoil_servers::{Shared, shared};
use counterfoil_store_redis::{ALostWriteMayBeRepeated, RedisStore};
use counterfoil_testkit::{conformance::Harness, races};

async fn race(server: Shared) {
    let config = common::config(&shared(server));
    let store = RedisStore::alone(config, common::keys(), ALostWriteMayBeRepeated)
        .await
        .expect("the server is there");
    let harness = Harness::new(store, tokio::time::sleep);
    races::exactly_one(harness, 64, 1_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_callers_for_1000_operations_one_claims_each_and_all_get_its_result() {
    race(Shared::Redis).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn on_a_cluster_too() {
    race(Shared::RedisCluster).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn behind_sentinel_too() {
    race(Shared::RedisSentinel).await;
}
