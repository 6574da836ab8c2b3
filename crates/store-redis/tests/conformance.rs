//! The store keeps the contract, and step with the reference: on one server, on a cluster, behind Sentinel.

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use counterfoil_store_redis::RedisStore;
use counterfoil_testkit::conformance::Harness;

/// Sequences of some eighty calls, each of which the reference answers alike.
const SEQUENCES: u32 = 200;

/// A store whose time passes as the suite wants it.
async fn ahead(url: &str) -> Harness {
    let ahead = Arc::new(AtomicU64::new(0));
    let store =
        RedisStore::with_clock_ahead(common::config(url), common::keys(), Arc::clone(&ahead))
            .await
            .expect("the server is there");
    Harness::new(store, move |by| {
        ahead.fetch_add(by.as_millis() as u64, Ordering::SeqCst);
        std::future::ready(())
    })
    .with_unit(Duration::from_secs(30))
    .with_tick(Duration::from_secs(10))
}

macro_rules! on {
    ($module:ident, $server:ident, $seed:literal) => {
        mod $module {
            use counterfoil_servers::{Shared, shared};
            use counterfoil_testkit::{conformance::Harness, lockstep};

            async fn harness() -> Harness {
                crate::ahead(&shared(Shared::$server)).await
            }

            counterfoil_testkit::conformance!(harness);

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn random_calls_are_answered_as_the_reference_answers_them() {
                lockstep::check(&harness().await, crate::SEQUENCES, $seed).await;
            }
        }
    };
}

on!(single, Redis, 1);
on!(cluster, RedisCluster, 2);
on!(sentinel, RedisSentinel, 3);
