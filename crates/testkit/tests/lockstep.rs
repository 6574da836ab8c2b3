//! The reference beside itself, on clocks of several kinds.

use std::time::Duration;

use counterfoil_core::{Clock, Timestamp};
use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{ManualClock, conformance::Harness, lockstep};

#[tokio::test]
async fn the_reference_passes_beside_itself() {
    let clock = ManualClock::default();
    let harness = Harness::with_clock(MemoryStore::with_clock(clock.clone()), clock);
    lockstep::check(&harness, 2_000, 7).await;
}

#[tokio::test]
async fn a_clock_that_goes_on_by_itself_flips_no_decision() {
    lockstep::check(&going_on(Duration::from_secs(60)), 500, 7).await;
}

#[tokio::test]
#[should_panic(expected = "take a longer unit")]
async fn a_unit_that_the_calls_do_not_fit_in_is_told() {
    lockstep::check(&going_on(Duration::from_millis(20)), 500, 7).await;
}

#[tokio::test]
#[should_panic(expected = "less than it was told to")]
async fn a_time_that_does_not_pass_is_told() {
    let clock = ManualClock::default();
    let store = MemoryStore::with_clock(clock.clone());
    clock.advance(Duration::from_secs(600));
    let harness = Harness::new(store, |_| std::future::ready(()));
    lockstep::check(&harness, 500, 7).await;
}

/// A clock that is a little later at each look, as a server's is.
#[derive(Clone, Debug)]
struct GoingOn(ManualClock);

impl Clock for GoingOn {
    fn now(&self) -> Timestamp {
        self.0.advance(Duration::from_millis(3));
        self.0.now()
    }
}

fn going_on(unit: Duration) -> Harness {
    let clock = GoingOn(ManualClock::default());
    let store = MemoryStore::with_clock(clock.clone());
    Harness::with_clock(store, clock.0).with_unit(unit)
}
