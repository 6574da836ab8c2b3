//! The in-memory store keeps the contract.

use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{ManualClock, conformance::Harness};

async fn harness() -> Harness {
    let clock = ManualClock::default();
    Harness::with_clock(MemoryStore::with_clock(clock.clone()), clock)
}

counterfoil_testkit::conformance!(harness);
