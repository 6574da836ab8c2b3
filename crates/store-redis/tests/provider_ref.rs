//! Downstream's reference is on record when the handler is told so, also if its process is killed right after: on one
//! server, on a cluster, behind Sentinel. What a killed server of Redis has lost is another matter, and the store says so.

mod common;

use counterfoil_core::{lifecycle::State, store::Store};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_redis::{ALostWriteMayBeRepeated, RedisConfig, RedisStore};
use counterfoil_testkit::killed::{NOTED, kill_after_its_note, note_and_stall};

/// Which server, and which part of it, the process that dies is on.
const URL: &str = "COUNTERFOIL_TEST_KILLED_URL";
const PREFIX: &str = "COUNTERFOIL_TEST_KILLED_PREFIX";

async fn open(url: &str, prefix: &str) -> RedisStore {
    let config = RedisConfig::from_url(url).and_then(|config| config.with_prefix(prefix));
    let config = config.expect("a valid configuration");
    let store = RedisStore::alone(config, common::keys(), ALostWriteMayBeRepeated).await;
    store.expect("the server is there")
}

#[tokio::test]
#[ignore = "the process that the other tests here start and kill"]
async fn the_process_that_dies() {
    let of = |name| std::env::var(name).expect("the test that starts it says where");
    note_and_stall(open(&of(URL), &of(PREFIX)).await).await;
}

async fn a_reference_survives_its_process(server: Shared) {
    let (url, prefix) = (shared(server), common::prefix());
    let store = open(&url, &prefix).await;
    for _ in 0..5 {
        let (url, prefix) = (url.clone(), prefix.clone());
        let killed = tokio::task::spawn_blocking(move || {
            kill_after_its_note("the_process_that_dies", &[(URL, &url), (PREFIX, &prefix)])
        });
        let id = killed.await.expect("it said its word");
        let record = store.find(id).await.expect("it can be read").record;
        let record = record.expect("the claim is on record");
        assert_eq!(record.provider_ref.as_deref(), Some(NOTED));
        assert_eq!(record.life.state, State::InFlight);
    }
}

#[tokio::test]
async fn on_one_server_a_reference_survives_its_process_killed_right_after() {
    a_reference_survives_its_process(Shared::Redis).await;
}

#[tokio::test]
async fn on_a_cluster_a_reference_survives_its_process_killed_right_after() {
    a_reference_survives_its_process(Shared::RedisCluster).await;
}

#[tokio::test]
async fn behind_sentinel_a_reference_survives_its_process_killed_right_after() {
    a_reference_survives_its_process(Shared::RedisSentinel).await;
}
