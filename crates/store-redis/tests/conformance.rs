//! The store keeps the contract, and step with the reference: on one server, on a cluster, behind Sentinel.

mod common;

/// Sequences of some eighty calls, each of which the reference answers alike.
const SEQUENCES: u32 = 200;

macro_rules! on {
    ($module:ident, $server:ident, $seed:literal) => {
        mod $module {
            use counterfoil_servers::{Shared, shared};
            use counterfoil_testkit::{conformance::Harness, lockstep};

            async fn harness() -> Harness {
                crate::common::harness(&shared(Shared::$server)).await
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
