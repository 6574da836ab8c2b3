//! The store keeps the contract: on one server, on a cluster, behind Sentinel.

mod common;

mod single {
    async fn harness() -> counterfoil_testkit::conformance::Harness {
        crate::common::harness(&std::env::var("COUNTERFOIL_TEST_REDIS").unwrap()).await
    }

    counterfoil_testkit::conformance!(harness);
}
