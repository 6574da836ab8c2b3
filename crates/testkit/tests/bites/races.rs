//! A race bites: it sees a store that looks first and acts then.

use std::time::Duration;

use counterfoil_testkit::{ManualClock, conformance::Harness, races};

use crate::{broken::Broken, defects::Defect};

#[tokio::test(start_paused = true)]
async fn a_store_that_checks_and_then_acts_is_seen_and_a_sound_one_passes() {
    for (defect, is_seen) in [(Some(Defect::ChecksThenActs), true), (None, false)] {
        let clock = ManualClock::default();
        let store = Broken::new(clock.clone(), defect);
        let harness = Harness::with_clock(store, clock).with_call_limit(Duration::from_secs(1));
        let race = tokio::spawn(races::exactly_one(harness, 8, 8)).await;
        assert_eq!(race.is_err(), is_seen, "{defect:?}");
    }
}
