//! Lockstep bites too: it tells each broken store from the reference, but for those whose defect lies in what it does
//! not call.

use std::{fmt::Write, time::Duration};

use counterfoil_testkit::{ManualClock, conformance::Harness, lockstep};

use crate::{
    broken::Broken,
    defects::{Defect, ROWS},
    message,
};

const SEQUENCES: u32 = 400;

/// Defects that show in concurrent calls, in listings, in purges, and in parts of a unit of time.
const OUT_OF_SIGHT: &[Defect] = &[
    Defect::ChecksThenActs,
    Defect::EndsClaimsEarly,
    Defect::ListsAllTenants,
    Defect::ListsWithoutLimit,
    Defect::ListsTheSamePageAgain,
    Defect::ListsBackwards,
    Defect::ListsOnePage,
    Defect::ListsNoLapsed,
    Defect::ListsWithoutResults,
    Defect::PurgesNothing,
    Defect::PurgesWithoutLimit,
    Defect::PurgesEarly,
    Defect::PurgesTheOpen,
    Defect::PurgesTheReclaimed,
    Defect::CountsFromTheEndOnly,
    Defect::CountsFromExpOnly,
];

#[tokio::test(start_paused = true)]
async fn every_defect_in_sight_is_told_from_the_reference() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut report = String::new();
    for defect in ROWS.iter().map(|&(defect, _)| defect) {
        let told = plays(Some(defect)).await.err();
        match (told, OUT_OF_SIGHT.contains(&defect)) {
            (None, false) => {
                let _ = writeln!(report, "{defect:?} passes");
            }
            (Some(message), true) => {
                let _ = writeln!(report, "{defect:?} is seen: {message}");
            }
            _ => {}
        }
    }
    let _ = std::panic::take_hook();
    assert!(report.is_empty(), "\n{report}");
}

#[tokio::test(start_paused = true)]
async fn a_store_without_a_defect_is_not() {
    let told = plays(None).await;
    assert_eq!(told, Ok(()));
}

/// The first line of what it panics with.
async fn plays(defect: Option<Defect>) -> Result<(), String> {
    let clock = ManualClock::default();
    let store = Broken::new(clock.clone(), defect);
    let harness = Harness::with_clock(store, clock).with_call_limit(Duration::from_secs(1));
    let check = tokio::spawn(async move { lockstep::check(&harness, SEQUENCES, 7).await });
    check.await.map_err(message)
}
