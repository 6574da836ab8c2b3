//! The fewest steps that still show a difference.

use super::{Found, play, script::Step};
use crate::conformance::Harness;

/// A store whose time passes by sleeping is not kept asleep for ever.
const MAX_PLAYS: usize = 300;

/// Takes steps out, in pieces that become smaller, for as long as a difference remains. It need not be the same one.
pub(super) async fn shrink(
    harness: &Harness,
    mut steps: Vec<Step>,
    mut found: Found,
) -> (Vec<Step>, Found) {
    steps.truncate(found.at + 1);
    let mut plays = 0;
    let mut piece = steps.len().div_ceil(2);
    while piece > 0 {
        let mut shorter = false;
        let mut from = 0;
        while from < steps.len() && plays < MAX_PLAYS {
            let to = (from + piece).min(steps.len());
            let without: Vec<Step> = [&steps[..from], &steps[to..]].concat();
            plays += 1;
            match play(harness, &without).await {
                Some(still) => {
                    steps = without;
                    steps.truncate(still.at + 1);
                    found = still;
                    shorter = true;
                }
                None => from = to,
            }
        }
        if !(shorter && piece == 1) {
            piece /= 2;
        }
    }
    (steps, found)
}
