//! The suite bites: each of these deliberately broken stores fails the cases in its row, and no other.
//!
//! A case that no defect fails proves nothing, and a defect that fails a case outside its row means that the case
//! judges more than its name says.

mod broken;
mod claiming;
mod defects;
mod finishing;
mod lockstep;
mod races;
mod settling;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    time::Duration,
};

use counterfoil_testkit::{
    ManualClock,
    conformance::{Case, Harness, cases},
};

use broken::Broken;
use defects::{Defect, ROWS};

/// Paused, so that a call that hangs is found out at once, however slow the machine is.
#[tokio::test(start_paused = true)]
async fn every_defect_fails_its_cases_and_no_other() {
    std::panic::set_hook(Box::new(|_| {}));
    let cases = cases();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len(), "names of cases are unique");

    let mut report = String::new();
    let sound = failures(None, &cases).await;
    for (case, message) in &sound {
        let _ = writeln!(report, "without a defect {case} fails: {message}");
    }
    let mut bitten = BTreeSet::new();
    for &(defect, row) in ROWS {
        let row: BTreeSet<&str> = row.iter().copied().collect();
        for unknown in row.difference(&names) {
            let _ = writeln!(report, "{defect:?}: there is no case {unknown}");
        }
        let failed = failures(Some(defect), &cases).await;
        for case in row.iter().filter(|case| !failed.contains_key(*case)) {
            let _ = writeln!(report, "{defect:?} passes {case}");
        }
        for (case, message) in failed.iter().filter(|(case, _)| !row.contains(*case)) {
            let _ = writeln!(report, "{defect:?} fails {case}: {message}");
        }
        bitten.extend(failed.into_keys());
    }
    for case in names.iter().filter(|case| !bitten.contains(*case)) {
        let _ = writeln!(report, "no defect fails {case}");
    }
    let _ = std::panic::take_hook();
    assert!(report.is_empty(), "\n{report}");
}

/// The cases that a defect fails, and how.
async fn failures(defect: Option<Defect>, cases: &[Case]) -> BTreeMap<&'static str, String> {
    let mut failed = BTreeMap::new();
    for case in cases {
        let clock = ManualClock::default();
        let store = Broken::new(clock.clone(), defect);
        let harness = Harness::with_clock(store, clock).with_call_limit(Duration::from_secs(1));
        if let Err(error) = tokio::spawn((case.run)(harness)).await {
            failed.insert(case.name, message(error));
        }
    }
    failed
}

/// The first line of a panic.
fn message(error: tokio::task::JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else {
        return "cancelled".to_owned();
    };
    let text = match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
        (Some(text), _) => text.as_str(),
        (None, Some(text)) => text,
        (None, None) => "a panic without a text",
    };
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(160)
        .collect()
}
