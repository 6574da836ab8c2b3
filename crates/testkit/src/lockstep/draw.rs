//! Drawing a sequence from a seed.

use std::ops::RangeInclusive;

use counterfoil_core::lifecycle::{Ending, State, Verdict};

use super::script::{
    Ask, Bytes, Exp, Held, Look, OPERATIONS, OWNERS, Said, Step, Which, Who, Whose,
};

/// How many steps a sequence has.
const STEPS: RangeInclusive<u32> = 8..=40;

/// The sequence of a seed. Most of what it asks fits what stands, since what never fits goes nowhere.
pub(super) fn sequence(seed: u64) -> Vec<Step> {
    let mut dice = Dice(seed);
    let mood = dice.one_of(&[Mood::Running, Mood::Disputed]);
    let steps = dice.within(STEPS);
    (0..steps).map(|_| dice.step(mood)).collect()
}

/// What a sequence is mostly about.
#[derive(Clone, Copy)]
enum Mood {
    /// Owners that claim, renew, end and release.
    Running,
    /// Doubt, takeovers and reconcilers: the states that lie deepest.
    Disputed,
}

/// SplitMix64: the same numbers everywhere, for as long as this file stands.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn within(&mut self, range: RangeInclusive<u32>) -> u32 {
        let width = u64::from(range.end() - range.start()) + 1;
        range.start() + (self.next() % width) as u32
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.next() % 100 < chance
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn maybe<T>(&mut self, chance: u64, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.percent(chance).then(|| draw(self))
    }

    fn step(&mut self, mood: Mood) -> Step {
        match self.next() % 100 {
            0..15 => Step::Wait(self.within(1..=3)),
            15..25 => Step::Again(self.below(6)),
            _ => {
                // The first is met most, so that something comes of it.
                let operation = self.below(OPERATIONS * 2).saturating_sub(OPERATIONS);
                let ask = match mood {
                    Mood::Running => self.ask_of_the_running(),
                    Mood::Disputed => self.ask_of_the_disputed(),
                };
                Step::Ask(operation, ask)
            }
        }
    }

    fn ask_of_the_running(&mut self) -> Ask {
        match self.next() % 100 {
            0..32 => self.acquire(60, 30),
            32..40 => self.renew(),
            40..62 => self.complete(20),
            62..72 => Ask::Release(self.held()),
            72..78 => self.annotate(),
            78..88 => self.receive(),
            88..96 => self.cancel(),
            _ => Ask::Find,
        }
    }

    fn ask_of_the_disputed(&mut self) -> Ask {
        match self.next() % 100 {
            0..32 => self.acquire(85, 80),
            32..35 => self.renew(),
            35..53 => self.complete(50),
            53..59 => Ask::Release(self.held()),
            59..62 => self.annotate(),
            62..67 => self.receive(),
            67..82 => self.fence(),
            82..96 => self.resolve(),
            96..98 => self.cancel(),
            _ => Ask::Find,
        }
    }

    /// How often it names what it read, and how often it may take over.
    fn acquire(&mut self, names: u64, takes_over: u64) -> Ask {
        Ask::Acquire {
            by: self.who(25),
            identity: self.whose(),
            lease: self.within(1..=3),
            exp: self.exp(),
            seen: self.maybe(names, |dice| Look {
                state: dice.maybe(15, |dice| {
                    dice.one_of(&[State::Released, State::Unknown, State::InFlight])
                }),
                epoch: dice.which(),
            }),
            takeover_within: self.maybe(takes_over, |dice| dice.one_of(&[3, 8, 20])),
            needs_approval: self.percent(5),
        }
    }

    fn renew(&mut self) -> Ask {
        let held = self.held();
        Ask::Renew(held, self.within(1..=3))
    }

    fn complete(&mut self, doubts: u64) -> Ask {
        let held = self.held();
        Ask::Complete(held, self.said(doubts))
    }

    fn annotate(&mut self) -> Ask {
        Ask::Annotate {
            held: self.held(),
            provider_ref: self.reference(),
            result_ref: self.reference(),
        }
    }

    fn receive(&mut self) -> Ask {
        Ask::Receive {
            epoch: self.which(),
            ending: self.ending(),
            result: self.result(),
            result_ref: self.reference(),
        }
    }

    fn fence(&mut self) -> Ask {
        Ask::Fence {
            by: self.who(25),
            seen: self.which(),
            hold: self.within(1..=3),
        }
    }

    fn resolve(&mut self) -> Ask {
        Ask::Resolve {
            by: self.who(50),
            seen: self.which(),
            verdict: self.one_of(&[Verdict::Done, Verdict::Failed, Verdict::NotExecuted]),
            vouched: self.percent(60),
            result: self.result(),
            result_ref: self.reference(),
            by_a_person: self.percent(50),
        }
    }

    fn cancel(&mut self) -> Ask {
        let by = self.whose();
        let tombstone = self.maybe(70, |dice| {
            let identity = if dice.percent(80) { by } else { dice.whose() };
            (identity, dice.exp())
        });
        Ask::Cancel {
            by,
            tombstone,
            with_reason: self.percent(70),
        }
    }

    fn held(&mut self) -> Held {
        Held {
            owner: self.who(85),
            epoch: self.which(),
        }
    }

    fn who(&mut self, standing: u64) -> Who {
        if self.percent(standing) {
            Who::Standing
        } else {
            Who::Nth(self.below(OWNERS))
        }
    }

    fn which(&mut self) -> Which {
        match self.next() % 100 {
            0..85 => Which::Standing,
            85..95 => Which::Before,
            _ => Which::After,
        }
    }

    fn whose(&mut self) -> Whose {
        if self.percent(85) {
            return Whose::Own;
        }
        self.one_of(&[
            Whose::OtherHash,
            Whose::OtherPrincipal,
            Whose::OtherTenant,
            Whose::OtherScope,
            Whose::Stranger,
        ])
    }

    fn exp(&mut self) -> Exp {
        match self.next() % 100 {
            0..75 => Exp::Own,
            75..85 => Exp::Never,
            85..92 => Exp::Now,
            _ => Exp::Later,
        }
    }

    fn said(&mut self, doubts: u64) -> Said {
        if self.percent(doubts) {
            return Said::Unknown(self.below(2) as u8);
        }
        let accepts = self.percent(25);
        let (result, result_ref) = (self.result(), self.reference());
        if accepts {
            return Said::Accepted {
                deadline: self.maybe(60, |dice| dice.within(0..=3)),
                result,
                result_ref,
            };
        }
        Said::Ended {
            ending: self.ending(),
            result,
            result_ref,
        }
    }

    fn ending(&mut self) -> Ending {
        self.one_of(&[Ending::Done, Ending::Failed])
    }

    fn result(&mut self) -> Option<Bytes> {
        self.maybe(70, |dice| match dice.next() % 100 {
            0..3 => Bytes::Large,
            3..30 => Bytes::Empty,
            30..70 => Bytes::Text,
            _ => Bytes::Binary,
        })
    }

    fn reference(&mut self) -> Option<u8> {
        self.maybe(50, |dice| dice.below(2) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::sequence;

    #[test]
    fn a_seed_draws_the_same_sequence_each_time_and_another_seed_another() {
        let told = |seed| format!("{:?}", sequence(seed));
        assert_eq!(told(7), told(7));
        assert_ne!(told(7), told(8));
    }
}
