//! Every pair of state and event, and sequences against the invariants.

use std::time::Duration;

use proptest::prelude::*;

use super::{Claim, Ending, Event, Life, Refusal, Seen, State, Verdict, step};
use crate::{Epoch, Owner, Timestamp};

const NOW: Timestamp = Timestamp::from_unix_secs(1_000);
const LEASE: Duration = Duration::from_secs(30);
const LATER: Timestamp = Timestamp::from_unix_secs(1_030);
const EPOCH: Epoch = Epoch::from_u64(3);
const A: Owner = Owner::from_bytes([1; 16]);
const B: Owner = Owner::from_bytes([2; 16]);
const R: Owner = Owner::from_bytes([3; 16]);

/// What stands in the table's rows: the states with owner A and epoch 3, and the variants that time and doubt make.
fn situation(name: &str) -> Option<Life> {
    let life = |state| Life {
        owner: Some(A),
        epoch: EPOCH,
        first_claimed: Some(NOW),
        ..Life::new(state)
    };
    let with_deadline = |state, deadline| Life {
        deadline: Some(deadline),
        ..life(state)
    };
    let unclaimed = |state| Life {
        approval_ends: Some(LATER),
        ..Life::new(state)
    };
    Some(match name {
        "absent" => return None,
        "awaiting" => unclaimed(State::AwaitingApproval),
        "approved" => unclaimed(State::Approved),
        "denied" => unclaimed(State::Denied),
        "cancelled" => life(State::Cancelled),
        "in_flight" => with_deadline(State::InFlight, LATER),
        "lapsed" => with_deadline(State::InFlight, NOW),
        "doubted" => Life {
            in_doubt: true,
            ..with_deadline(State::InFlight, LATER)
        },
        "accepted" => life(State::Accepted),
        "overdue" => with_deadline(State::Accepted, NOW),
        "unknown" => life(State::Unknown),
        "held" => with_deadline(State::Unknown, LATER),
        "released" => life(State::Released),
        "done" => life(State::Done),
        "failed" => life(State::Failed),
        other => panic!("no situation {other}"),
    })
}

/// The table's columns. Claims are B's; the reconciler is R; the rest is said by A, who holds epoch 3.
fn event(name: &str, state: Option<State>) -> Event {
    let (owner, epoch) = (A, EPOCH);
    let seen = state.map(|state| Seen { state, epoch });
    let complete = |ending| Event::Complete {
        owner,
        epoch,
        ending,
    };
    let resolve = |verdict, vouched| Event::Resolve {
        owner: R,
        seen: EPOCH,
        verdict,
        vouched,
    };
    match name {
        "propose" => Event::Propose {
            approval_ends: LATER,
        },
        "approve" => Event::Approve {
            approval_ends: LATER,
        },
        "deny" => Event::Deny,
        "cancel" => Event::Cancel { exp: Some(LATER) },
        "claim" => Event::Claim(Claim::new(B, LEASE)),
        "named" => Event::Claim(Claim {
            seen,
            ..Claim::new(B, LEASE)
        }),
        "takeover" => Event::Claim(Claim {
            seen,
            exp: Some(NOW),
            takeover_within: Some(LEASE),
            ..Claim::new(B, LEASE)
        }),
        "again" => Event::Claim(Claim {
            seen,
            takeover_within: Some(LEASE),
            ..Claim::new(A, LEASE)
        }),
        "renew" => Event::Renew {
            owner,
            epoch,
            lease: LEASE,
        },
        "done" => complete(Ending::Done),
        "failed" => complete(Ending::Failed),
        "accept" => Event::Accept {
            owner,
            epoch,
            deadline: None,
        },
        "doubt" => Event::Doubt { owner, epoch },
        "release" => Event::Release { owner, epoch },
        "rcpt+" => Event::Receipt {
            epoch,
            ending: Ending::Done,
        },
        "rcpt-" => Event::Receipt {
            epoch,
            ending: Ending::Failed,
        },
        "fence" => Event::Fence {
            owner: R,
            seen: EPOCH,
            hold: LEASE,
        },
        "res+" => resolve(Verdict::Done, false),
        "res-" => resolve(Verdict::Failed, true),
        "res0" => resolve(Verdict::NotExecuted, true),
        "guess" => resolve(Verdict::NotExecuted, false),
        "lapse" => Event::Lapse,
        other => panic!("no event {other}"),
    }
}

/// Rows: what stands. Columns: what happens. Cells: the state that stands then, or, in brackets, the refusal.
const TABLE: &str = "
           propose approve deny   cancel claim  named  takeover again  renew  done   failed accept doubt  release rcpt+  rcpt-  fence  res+   res-   res0   guess  lapse
absent     AW      (abs)   (abs)  CA     IF     IF     (exp)    IF     (abs)  (abs)  (abs)  (abs)  (abs)  (abs)   (abs)  (abs)  (abs)  (abs)  (abs)  (abs)  (abs)  (abs)
awaiting   (fnd)   AP      DE     CA     (fnd)  (fnd)  (fnd)    (fnd)  (own)  (own)  (own)  (own)  (own)  (own)   (own)  (own)  (late) (late) (late) (late) (late) AW
approved   (fnd)   AP      (late) CA     IF     IF     (exp)    IF     (own)  (own)  (own)  (own)  (own)  (own)   (own)  (own)  (late) (late) (late) (late) (late) AP
denied     (fnd)   (late)  DE     (late) (fnd)  (fnd)  (fnd)    (fnd)  (own)  (own)  (own)  (own)  (own)  (own)   (own)  (own)  (late) (late) (late) (late) (late) DE
cancelled  (fnd)   (late)  (late) CA     (fnd)  (fnd)  (fnd)    (fnd)  (own)  (own)  (own)  (own)  (own)  (own)   (own)  (own)  (late) (late) (late) (late) (late) CA
in_flight  (fnd)   (late)  (late) (late) (fnd)  (fnd)  (fnd)    IF     IF     DO     FA     AC     UN     RE      DO     FA     (late) (late) (late) (late) (late) IF
lapsed     (fnd)   (late)  (late) (late) (fnd)  (fnd)  IF       (fnd)  (lap)  DO     FA     AC     UN     RE      DO     FA     UN     DO     FA     RE     (vou)  UN
doubted    (fnd)   (late)  (late) (late) (fnd)  (fnd)  (fnd)    IF     IF     DO     UN     AC     UN     UN      DO     UN     (late) (late) (late) (late) (late) IF
accepted   (fnd)   (late)  (late) (late) (fnd)  (fnd)  (fnd)    (fnd)  (own)  (own)  (own)  AC     (own)  (own)   DO     FA     (late) (late) (late) (late) (late) AC
overdue    (fnd)   (late)  (late) (late) (fnd)  (fnd)  IF       (fnd)  (lap)  DO     FA     AC     UN     RE      DO     FA     UN     DO     FA     RE     (vou)  UN
unknown    (fnd)   (late)  (late) (late) (fnd)  (fnd)  IF       (fnd)  (lap)  DO     FA     AC     UN     RE      DO     FA     UN     DO     FA     RE     (vou)  UN
held       (fnd)   (late)  (late) (late) (fnd)  (fnd)  (fnd)    (fnd)  (lap)  DO     FA     AC     UN     RE      DO     FA     (hld)  (hld)  (hld)  (hld)  (hld)  UN
released   (fnd)   (late)  (late) CA     (fnd)  IF     (exp)    (fnd)  (own)  (own)  (own)  (own)  (own)  RE      (own)  (own)  (late) (late) (late) (late) (late) RE
done       (fnd)   (late)  (late) (late) (fnd)  (fnd)  (fnd)    (fnd)  (own)  DO     (own)  DO     (own)  (own)   DO     (own)  (late) (late) (late) (late) (late) DO
failed     (fnd)   (late)  (late) (late) (fnd)  (fnd)  (fnd)    (fnd)  (own)  (own)  FA     FA     (own)  (own)   (own)  FA     (late) (late) (late) (late) (late) FA
";

fn cell(result: &Result<Life, Refusal>) -> &'static str {
    match result {
        Ok(life) => match life.state {
            State::AwaitingApproval => "AW",
            State::Approved => "AP",
            State::Denied => "DE",
            State::Cancelled => "CA",
            State::InFlight => "IF",
            State::Accepted => "AC",
            State::Unknown => "UN",
            State::Released => "RE",
            State::Done => "DO",
            State::Failed => "FA",
        },
        Err(Refusal::Absent) => "(abs)",
        Err(Refusal::Found) => "(fnd)",
        Err(Refusal::Expired) => "(exp)",
        Err(Refusal::ApprovalMissing) => "(mis)",
        Err(Refusal::ApprovalExpired) => "(apx)",
        Err(Refusal::NotOwner) => "(own)",
        Err(Refusal::Lapsed) => "(lap)",
        Err(Refusal::TooLate) => "(late)",
        Err(Refusal::Unvouched) => "(vou)",
        Err(Refusal::Held) => "(hld)",
    }
}

#[test]
fn every_pair_of_state_and_event_has_the_result_of_the_table() {
    let mut lines = TABLE.lines().filter(|line| !line.is_empty());
    let columns: Vec<_> = lines.next().unwrap().split_whitespace().collect();
    let mut pairs = 0;
    let mut wrong = Vec::new();
    for line in lines {
        let mut cells = line.split_whitespace();
        let row = cells.next().unwrap();
        let current = situation(row);
        // What a claim names is what a caller would have read.
        let read = current.as_ref().map(|life| life.at(NOW).state);
        for (column, expected) in columns.iter().zip(cells.by_ref()) {
            // Absent was never read as anything: a claim there names nothing.
            let result = step(current.as_ref(), &event(column, read), NOW);
            pairs += 1;
            if cell(&result) != expected {
                wrong.push(format!(
                    "{row} x {column}: {} instead of {expected}",
                    cell(&result)
                ));
            }
        }
        assert!(cells.next().is_none(), "{row} has a cell too many");
    }
    assert_eq!(pairs, 15 * 22, "the table is whole");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn whoever_does_not_hold_the_epoch_changes_nothing() {
    for state in State::ALL {
        let life = Life {
            owner: Some(A),
            epoch: EPOCH,
            deadline: Some(LATER),
            ..Life::new(state)
        };
        for (owner, epoch) in [(B, EPOCH), (A, Epoch::from_u64(2)), (A, Epoch::from_u64(4))] {
            let lease = LEASE;
            for event in [
                Event::Renew {
                    owner,
                    epoch,
                    lease,
                },
                Event::Complete {
                    owner,
                    epoch,
                    ending: Ending::Done,
                },
                Event::Complete {
                    owner,
                    epoch,
                    ending: Ending::Failed,
                },
                Event::Accept {
                    owner,
                    epoch,
                    deadline: None,
                },
                Event::Doubt { owner, epoch },
                Event::Release { owner, epoch },
            ] {
                assert_eq!(
                    step(Some(&life), &event, NOW),
                    Err(Refusal::NotOwner),
                    "{state:?} {event:?}"
                );
            }
        }
    }
}

#[test]
fn a_claim_needs_now_before_exp_from_absent_approved_and_released_alike() {
    for name in ["absent", "approved", "released"] {
        let current = situation(name);
        let seen = current.as_ref().map(|life| Seen {
            state: life.state,
            epoch: life.epoch,
        });
        let claim = |exp| {
            Event::Claim(Claim {
                exp: Some(exp),
                seen,
                ..Claim::new(B, LEASE)
            })
        };
        let one_ms = Duration::from_millis(1);
        assert!(
            step(current.as_ref(), &claim(NOW + one_ms), NOW).is_ok(),
            "{name}"
        );
        assert_eq!(
            step(current.as_ref(), &claim(NOW), NOW),
            Err(Refusal::Expired),
            "{name}"
        );
    }
}

#[test]
fn a_claim_that_needs_an_approval_finds_no_way_round_it() {
    let claim = |seen| {
        Event::Claim(Claim {
            needs_approval: true,
            seen,
            ..Claim::new(B, LEASE)
        })
    };
    assert_eq!(step(None, &claim(None), NOW), Err(Refusal::ApprovalMissing));
    let released = situation("released").unwrap();
    let seen = Some(Seen {
        state: State::Released,
        epoch: EPOCH,
    });
    assert_eq!(
        step(Some(&released), &claim(seen), NOW),
        Err(Refusal::ApprovalMissing)
    );
    let approved = Life {
        approval_ends: Some(LATER),
        ..released
    };
    assert!(step(Some(&approved), &claim(seen), NOW).is_ok());
    assert_eq!(
        step(Some(&approved), &claim(seen), LATER),
        Err(Refusal::ApprovalExpired)
    );
}

#[test]
fn a_takeover_is_refused_past_its_window() {
    let unknown = situation("unknown").unwrap();
    let takeover = event("takeover", Some(State::Unknown));
    let last_moment = NOW + LEASE - Duration::from_millis(1);
    let taken = step(Some(&unknown), &takeover, last_moment).unwrap();
    assert!(taken.in_doubt);
    assert_eq!(taken.epoch, EPOCH.next());
    assert_eq!(
        step(Some(&unknown), &takeover, NOW + LEASE),
        Err(Refusal::Found)
    );
}

#[test]
fn a_vouched_resolve_ends_the_doubt_of_a_takeover() {
    let unknown = Life {
        in_doubt: true,
        ..situation("unknown").unwrap()
    };
    let released = step(Some(&unknown), &event("res0", None), NOW).unwrap();
    assert!(!released.in_doubt);
    assert_eq!(
        released.epoch,
        EPOCH.next(),
        "a resolve without a fence takes an epoch of its own"
    );
}

#[test]
fn a_fenced_owner_is_not_owner_and_the_reconciler_settles() {
    let fenced = step(situation("unknown").as_ref(), &event("fence", None), NOW).unwrap();
    assert_eq!(
        step(Some(&fenced), &event("done", None), NOW),
        Err(Refusal::NotOwner)
    );
    let settle = Event::Resolve {
        owner: R,
        seen: fenced.epoch,
        verdict: Verdict::NotExecuted,
        vouched: true,
    };
    let released = step(Some(&fenced), &settle, NOW).unwrap();
    assert_eq!(
        (released.state, released.epoch),
        (State::Released, fenced.epoch)
    );
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Claim {
        owner: u8,
        name_it: bool,
        takeover: bool,
    },
    Say {
        owner: u8,
        epoch_back: u64,
        what: u8,
    },
    Receipt {
        epoch_back: u64,
        done: bool,
    },
    Fence {
        owner: u8,
    },
    Resolve {
        owner: u8,
        verdict: u8,
        vouched: bool,
    },
    Cancel,
    Wait {
        ms: u64,
    },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..6u8, any::<bool>(), any::<bool>())
            .prop_map(|(owner, name_it, takeover)| Act::Claim { owner, name_it, takeover }),
        6 => (0..6u8, 0..3u64, 0..6u8).prop_map(|(owner, epoch_back, what)| Act::Say { owner, epoch_back, what }),
        1 => (0..3u64, any::<bool>()).prop_map(|(epoch_back, done)| Act::Receipt { epoch_back, done }),
        1 => (0..6u8).prop_map(|owner| Act::Fence { owner }),
        1 => (0..6u8, 0..3u8, any::<bool>())
            .prop_map(|(owner, verdict, vouched)| Act::Resolve { owner, verdict, vouched }),
        1 => Just(Act::Cancel),
        2 => (0..50_000u64).prop_map(|ms| Act::Wait { ms }),
    ]
}

fn as_event(act: Act, life: Option<&Life>, now: Timestamp) -> Option<Event> {
    let owner_id = |n: u8| Owner::from_bytes([n + 10; 16]);
    let current = life.map(|life| life.at(now));
    let epoch = current.as_ref().map_or(Epoch::NONE, |life| life.epoch);
    let back = |n: u64| Epoch::from_u64(epoch.as_u64().saturating_sub(n));
    Some(match act {
        Act::Claim {
            owner,
            name_it,
            takeover,
        } => Event::Claim(Claim {
            seen: current.as_ref().filter(|_| name_it).map(|life| Seen {
                state: life.state,
                epoch: life.epoch,
            }),
            takeover_within: takeover.then_some(Duration::from_secs(120)),
            exp: Some(NOW + Duration::from_secs(100)),
            ..Claim::new(owner_id(owner), LEASE)
        }),
        Act::Say {
            owner,
            epoch_back,
            what,
        } => {
            let (owner, epoch) = (owner_id(owner), back(epoch_back));
            match what {
                0 => Event::Renew {
                    owner,
                    epoch,
                    lease: LEASE,
                },
                1 => Event::Complete {
                    owner,
                    epoch,
                    ending: Ending::Done,
                },
                2 => Event::Complete {
                    owner,
                    epoch,
                    ending: Ending::Failed,
                },
                3 => Event::Accept {
                    owner,
                    epoch,
                    deadline: Some(now + LEASE),
                },
                4 => Event::Doubt { owner, epoch },
                _ => Event::Release { owner, epoch },
            }
        }
        Act::Receipt { epoch_back, done } => Event::Receipt {
            epoch: back(epoch_back),
            ending: if done { Ending::Done } else { Ending::Failed },
        },
        Act::Fence { owner } => Event::Fence {
            owner: owner_id(owner + 100),
            seen: epoch,
            hold: LEASE,
        },
        Act::Resolve {
            owner,
            verdict,
            vouched,
        } => Event::Resolve {
            owner: owner_id(owner + 100),
            seen: epoch,
            verdict: [Verdict::Done, Verdict::Failed, Verdict::NotExecuted][usize::from(verdict)],
            vouched,
        },
        Act::Cancel => Event::Cancel {
            exp: Some(NOW + Duration::from_secs(100)),
        },
        Act::Wait { .. } => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// S2 one owner per epoch, S3 terminal never changes, S6 moves match owner and epoch, S10 time starts no epoch.
    #[test]
    fn sequences_keep_the_invariants(acts in proptest::collection::vec(act(), 1..60)) {
        let mut now = NOW;
        let mut life: Option<Life> = None;
        let mut owner_of_epoch = std::collections::HashMap::new();
        for act in acts {
            let Some(event) = as_event(act, life.as_ref(), now) else {
                if let Act::Wait { ms } = act {
                    let before = life.clone();
                    now = now + Duration::from_millis(ms);
                    // S10: whatever time does, it moves no epoch and hands nothing to a new owner.
                    if let (Some(before), Some(after)) = (before, life.as_ref().map(|l| l.at(now))) {
                        prop_assert_eq!(before.epoch, after.epoch);
                        prop_assert_eq!(before.owner, after.owner);
                        prop_assert!(after.state == before.state || after.state == State::Unknown);
                    }
                }
                continue;
            };
            let before = life.as_ref().map(|life| life.at(now));
            let Ok(after) = step(life.as_ref(), &event, now) else { continue };
            if let Some(before) = &before {
                // S3
                if before.state.is_terminal() {
                    prop_assert_eq!(before, &after);
                }
                // S2: epochs never go back.
                prop_assert!(after.epoch >= before.epoch);
                // S6: a move out of IN_FLIGHT or UNKNOWN is said by who holds it, or matched the epoch.
                let left = matches!(before.state, State::InFlight | State::Unknown) && after.state != before.state;
                if left {
                    let matched = match event {
                        Event::Complete { owner, epoch, .. } | Event::Accept { owner, epoch, .. }
                        | Event::Doubt { owner, epoch } | Event::Release { owner, epoch } =>
                            before.is_held_by(owner, epoch),
                        Event::Receipt { epoch, .. } => before.epoch == epoch,
                        Event::Resolve { seen, .. } => before.epoch == seen,
                        Event::Claim(ref claim) => claim.takeover_within.is_some()
                            && claim.seen == Some(Seen { state: State::Unknown, epoch: before.epoch }),
                        _ => false,
                    };
                    prop_assert!(matched, "{:?} left {:?}", event, before);
                }
                // S7: no caller's claim at or after exp, but a takeover.
                let claimed = after.state == State::InFlight && after.epoch > before.epoch;
                if claimed && before.state != State::Unknown {
                    prop_assert!(now < NOW + Duration::from_secs(100));
                }
                // S10 again: a new epoch for a caller comes from RELEASED, an approval, or a declared takeover.
                if claimed {
                    prop_assert!(matches!(before.state, State::Released | State::Approved | State::Unknown));
                }
                // S12's part of the machine: in doubt, nobody's own word makes it FAILED or RELEASED.
                let resolved = matches!(event, Event::Resolve { vouched: true, .. });
                if before.in_doubt && before.state != after.state && !resolved {
                    prop_assert!(!matches!(after.state, State::Failed | State::Released));
                }
            }
            // S2: one owner per epoch.
            if let (Some(owner), true) = (after.owner, after.epoch > Epoch::NONE) {
                let first = *owner_of_epoch.entry(after.epoch).or_insert(owner);
                prop_assert_eq!(first, owner);
            }
            life = Some(after);
        }
    }
}
