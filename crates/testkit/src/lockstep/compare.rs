//! What counts as a difference.

use std::time::Duration;

use counterfoil_core::{Timestamp, store::Record};

use super::call::Answer;

/// How far apart two times may be that were written in the same call.
///
/// The store's clock moves a little by itself while the reference's stands; a time in its record may lie that much
/// later. Times are kept in milliseconds, and may be rounded.
pub(super) struct Frame {
    slack: Duration,
}

const ROUNDING: Duration = Duration::from_millis(1);

/// How many lost completions every store keeps; it may keep more.
const EVIDENCE: usize = 4;

impl Frame {
    /// From what both clocks show. Leases end at whole units, so that a drift below one flips no decision.
    pub(super) fn new(
        theirs: Option<&mut Timestamp>,
        ours: Option<&mut Timestamp>,
        unit: Duration,
    ) -> Result<Self, String> {
        let (Some(&mut theirs), Some(&mut ours)) = (theirs, ours) else {
            return Err("find told no time".to_owned());
        };
        if theirs + ROUNDING < ours {
            let short = ours.since(theirs);
            return Err(format!(
                "the store's time moved {short:?} less than it was told to"
            ));
        }
        let drift = theirs.since(ours);
        if drift >= unit {
            return Err(format!(
                "the store's time moved {drift:?} more than it was told to, and a unit is {unit:?}: take a longer unit"
            ));
        }
        Ok(Self {
            slack: drift + ROUNDING,
        })
    }

    /// Compares everything but times inside the slack; tells what differs.
    pub(super) fn compare(&self, mut theirs: Answer, mut ours: Answer) -> Result<(), String> {
        let may_be_earlier = theirs.tells_no_time();
        if let (Some(theirs), Some(ours)) = (theirs.now(), ours.now()) {
            self.align(*theirs, ours);
            if may_be_earlier && theirs < ours {
                *ours = *theirs;
            }
        }
        if let (Some(theirs), Some(ours)) = (theirs.record(), ours.record()) {
            self.align_record(theirs, ours);
        }
        if theirs == ours {
            return Ok(());
        }
        Err(lines_apart(&format!("{theirs:#?}"), &format!("{ours:#?}")))
    }

    fn align(&self, theirs: Timestamp, ours: &mut Timestamp) {
        if theirs + ROUNDING >= *ours && theirs <= *ours + self.slack {
            *ours = theirs;
        }
    }

    fn align_optional(&self, theirs: Option<Timestamp>, ours: &mut Option<Timestamp>) {
        if let (Some(theirs), Some(ours)) = (theirs, ours) {
            self.align(theirs, ours);
        }
    }

    fn align_record(&self, theirs: &mut Record, ours: &mut Record) {
        self.align(theirs.created, &mut ours.created);
        self.align(theirs.updated, &mut ours.updated);
        self.align_optional(theirs.exp, &mut ours.exp);
        self.align_optional(theirs.life.deadline, &mut ours.life.deadline);
        self.align_optional(theirs.life.first_claimed, &mut ours.life.first_claimed);
        if ours.evidence.len() == EVIDENCE && theirs.evidence.len() > EVIDENCE {
            let older = theirs.evidence.len() - EVIDENCE;
            theirs.evidence.drain(..older);
        }
        for (theirs, ours) in theirs.evidence.iter().zip(&mut ours.evidence) {
            self.align(theirs.at, &mut ours.at);
        }
    }
}

/// Two texts, without the lines that they begin and end with alike.
fn lines_apart(theirs: &str, ours: &str) -> String {
    let (their_lines, our_lines): (Vec<_>, Vec<_>) =
        (theirs.lines().collect(), ours.lines().collect());
    let shorter = their_lines.len().min(our_lines.len());
    let same = |(theirs, ours): &(&&str, &&str)| theirs == ours;
    let head = their_lines.iter().zip(&our_lines).take_while(same).count();
    if head == their_lines.len() && head == our_lines.len() {
        return format!("in what Debug does not show, such as a result's bytes: {theirs}");
    }
    let backwards = their_lines.iter().rev().zip(our_lines.iter().rev());
    let tail = backwards.take(shorter - head).take_while(same).count();
    let middle = |lines: &[&str]| lines[head..lines.len() - tail].join("\n");
    format!(
        "the store:\n{}\nthe reference:\n{}",
        middle(&their_lines),
        middle(&our_lines)
    )
}
