//! The tiered store keeps the contract, with a cache that works.

mod common;

use counterfoil_store_tiered::TieredStore;
use counterfoil_testkit::conformance::Harness;

async fn harness() -> Harness {
    let (clock, truth, cache) = common::tiers();
    Harness::with_clock(TieredStore::new(truth, cache), clock)
}

counterfoil_testkit::conformance!(harness);
