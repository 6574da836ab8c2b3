//! A store beside the reference: random calls, and after each the same answers and the same records.
//!
//! The [conformance suite](mod@crate::conformance) says what a store must do, one behaviour per case. This holds it to
//! the state machine in everything else that may happen: sequences of calls that are drawn from a seed go to the store
//! under test and to the in-memory store, which is the reference. After each call both must have answered the same, and
//! the whole record, as [`find`](counterfoil_core::store::Store::find) reads it, must be the same.
//!
//! The calls are those of owners, reconcilers, operators and downstream, on three operations at a time, one of them
//! under an id that carries no time: acquire with and without naming a record, with takeovers, under foreign
//! identities, before and at `exp`; renew, complete, release, annotate, receive, fence, resolve, cancel, find, and late
//! copies of each. Owners and epochs are mostly those on record, and sometimes others. Between the calls whole units of
//! time pass.
//!
//! Times are compared as closely as the store's clock allows: the drift between the two clocks, and a millisecond for
//! rounding. The time beside a terminal record may be an earlier one, and more evidence may be kept than the reference
//! keeps. Nothing else is let pass. What the reference does in these calls is therefore contract. Listing, purging,
//! guards and approvals are not in it, nor are concurrent calls: those are the suite's.

mod call;
mod compare;
mod draw;
mod part;
mod script;
mod shrink;
mod stage;

use script::Step;
use stage::Stage;

use crate::conformance::Harness;

/// Plays `sequences` sequences, the same ones for the same `seed`.
///
/// The harness' unit is the step in which time passes. Leases and deadlines end after one to three of them, so that the
/// calls of one sequence, some eighty, must together take less time than one unit. A store whose time can be moved
/// takes a long unit; one that has to sleep takes one that its round trips fit in, and few sequences.
///
/// ```
/// use counterfoil_store_memory::MemoryStore;
/// use counterfoil_testkit::{ManualClock, conformance::Harness, lockstep};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let clock = ManualClock::default();
/// let harness = Harness::with_clock(MemoryStore::with_clock(clock.clone()), clock);
/// lockstep::check(&harness, 50, 7).await;
/// # }
/// ```
///
/// # Panics
///
/// Where the store and the reference differ, where a call of the store fails or does not end in time, and where the
/// store's time does not pass as the harness says. The message has the sequence, cut down to the steps that the
/// difference needs.
pub async fn check(harness: &Harness, sequences: u32, seed: u64) {
    for number in 0..sequences {
        // Odd, so that every seed has its own sequences.
        let own = seed.wrapping_add(u64::from(number).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let steps = draw::sequence(own);
        let Some(found) = play(harness, &steps).await else {
            continue;
        };
        let (steps, found) = shrink::shrink(harness, steps, found).await;
        panic!(
            "sequence {number} of seed {seed} tells the store from the reference.\n{}\n{}",
            told(&steps),
            found.difference,
        );
    }
}

/// A difference, and the step that showed it.
struct Found {
    at: usize,
    difference: String,
}

/// Plays a sequence on operations of its own.
async fn play(harness: &Harness, steps: &[Step]) -> Option<Found> {
    let found = |at: usize| move |difference| Found { at, difference };
    let mut stage = match Stage::new(harness).await {
        Ok(stage) => stage,
        Err(difference) => return Some(found(0)(difference)),
    };
    for (at, step) in steps.iter().enumerate() {
        if let Err(difference) = stage.take(step).await {
            return Some(found(at)(difference));
        }
    }
    let last = steps.len().saturating_sub(1);
    stage.compare_all().await.err().map(found(last))
}

fn told(steps: &[Step]) -> String {
    let line = |(number, step): (usize, &Step)| format!("  {number}. {step:?}");
    let lines: Vec<String> = steps.iter().enumerate().map(line).collect();
    lines.join("\n")
}
