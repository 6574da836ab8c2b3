//! The transitions.

use super::{Claim, Ending, Event, Life, Refusal, Seen, State, Verdict};
use crate::{Epoch, Owner, Timestamp};

/// What stands after `event`, or why it changes nothing.
///
/// `current` is the record's life as it was last written, `None` if there is no record; `now` is the store's clock. An
/// event that its owner sends a second time, because the reply was lost, returns what stands: `Ok` with an equal life.
///
/// # Errors
///
/// A [`Refusal`]; the store writes nothing then.
pub fn step(current: Option<&Life>, event: &Event, now: Timestamp) -> Result<Life, Refusal> {
    let current = current.map(|life| life.at(now));
    let current = current.as_ref();
    match *event {
        Event::Propose { approval_ends } => propose(current, approval_ends),
        Event::Cancel { exp } => cancel(current, exp, now),
        Event::Claim(ref wish) => claim(current, wish, now),
        _ => known(current.ok_or(Refusal::Absent)?, event, now),
    }
}

/// Events that need a record.
fn known(life: &Life, event: &Event, now: Timestamp) -> Result<Life, Refusal> {
    match *event {
        Event::Approve { approval_ends } => approve(life, approval_ends, now),
        Event::Deny => deny(life),
        Event::Renew {
            owner,
            epoch,
            lease,
        } => renew(life, owner, epoch, now + lease),
        Event::Complete {
            owner,
            epoch,
            ending,
        } => complete(life, owner, epoch, ending),
        Event::Accept {
            owner,
            epoch,
            deadline,
        } => accept(life, owner, epoch, deadline),
        Event::Doubt { owner, epoch } => doubt(life, owner, epoch),
        Event::Release { owner, epoch } => release(life, owner, epoch),
        Event::Receipt { epoch, ending } => receipt(life, epoch, ending),
        Event::Fence { owner, seen, hold } => fence(life, owner, seen, now + hold),
        Event::Resolve {
            owner,
            seen,
            verdict,
            vouched,
        } => resolve(life, owner, seen, verdict, vouched),
        // `at` has let the time pass already.
        Event::Lapse => Ok(life.clone()),
        Event::Propose { .. } | Event::Cancel { .. } | Event::Claim(_) => Err(Refusal::Found),
    }
}

fn propose(current: Option<&Life>, approval_ends: Timestamp) -> Result<Life, Refusal> {
    match current {
        None => Ok(Life {
            approval_ends: Some(approval_ends),
            ..Life::new(State::AwaitingApproval)
        }),
        Some(_) => Err(Refusal::Found),
    }
}

fn approve(life: &Life, approval_ends: Timestamp, now: Timestamp) -> Result<Life, Refusal> {
    match life.state {
        State::AwaitingApproval if is_over(life.approval_ends, now) => {
            Err(Refusal::ApprovalExpired)
        }
        State::AwaitingApproval => Ok(Life {
            state: State::Approved,
            approval_ends: Some(approval_ends),
            ..life.clone()
        }),
        State::Approved => Ok(life.clone()),
        _ => Err(Refusal::TooLate),
    }
}

fn deny(life: &Life) -> Result<Life, Refusal> {
    match life.state {
        State::AwaitingApproval => Ok(moved(life, State::Denied)),
        State::Denied => Ok(life.clone()),
        _ => Err(Refusal::TooLate),
    }
}

fn cancel(current: Option<&Life>, exp: Option<Timestamp>, now: Timestamp) -> Result<Life, Refusal> {
    let Some(life) = current else {
        // A tombstone stops claims, and there are none at or after `exp`.
        return if is_over(exp, now) {
            Err(Refusal::Expired)
        } else {
            Ok(Life::new(State::Cancelled))
        };
    };
    match life.state {
        State::AwaitingApproval | State::Approved | State::Released => {
            Ok(moved(life, State::Cancelled))
        }
        State::Cancelled => Ok(life.clone()),
        State::Denied
        | State::InFlight
        | State::Accepted
        | State::Unknown
        | State::Done
        | State::Failed => Err(Refusal::TooLate),
    }
}

/// The only way into IN_FLIGHT. Every caller's claim needs now < exp, judged here, in the step that writes it; a
/// takeover is exempt, since it ends what was begun in time.
fn claim(current: Option<&Life>, wish: &Claim, now: Timestamp) -> Result<Life, Refusal> {
    let expired = is_over(wish.exp, now);
    let Some(life) = current else {
        return match () {
            // A claim that names what it read is of another time than this absence.
            () if wish.needs_approval => Err(Refusal::ApprovalMissing),
            () if expired => Err(Refusal::Expired),
            () if wish.seen.is_some() => Err(Refusal::Absent),
            () => Ok(in_flight(&Life::new(State::InFlight), wish, now)),
        };
    };
    match life.state {
        // The same call again, its reply lost: the same claim, and a fresh lease as a renewal would give.
        State::InFlight if life.owner == Some(wish.owner) => Ok(Life {
            deadline: life.deadline.max(Some(now + wish.lease)),
            ..life.clone()
        }),
        State::AwaitingApproval if is_over(life.approval_ends, now) => {
            Err(Refusal::ApprovalExpired)
        }
        State::Approved | State::Released => {
            if expired {
                return Err(Refusal::Expired);
            }
            if wish.needs_approval && life.approval_ends.is_none() {
                return Err(Refusal::ApprovalMissing);
            }
            if is_over(life.approval_ends, now) {
                return Err(Refusal::ApprovalExpired);
            }
            let named = life.state == State::Approved || names(wish, life);
            if named && life.owner != Some(wish.owner) {
                Ok(in_flight(life, wish, now))
            } else {
                Err(Refusal::Found)
            }
        }
        State::Unknown if may_take_over(life, wish, now) => Ok(Life {
            in_doubt: true,
            ..in_flight(life, wish, now)
        }),
        _ => Err(Refusal::Found),
    }
}

fn may_take_over(life: &Life, wish: &Claim, now: Timestamp) -> bool {
    let in_window = match (wish.takeover_within, life.first_claimed) {
        (Some(window), Some(first)) => now < first + window,
        _ => false,
    };
    let held_by_reconciler = life.deadline.is_some();
    in_window && !held_by_reconciler && names(wish, life) && life.owner != Some(wish.owner)
}

fn names(wish: &Claim, life: &Life) -> bool {
    wish.seen
        == Some(Seen {
            state: life.state,
            epoch: life.epoch,
        })
}

fn in_flight(life: &Life, wish: &Claim, now: Timestamp) -> Life {
    Life {
        state: State::InFlight,
        owner: Some(wish.owner),
        epoch: life.epoch.next(),
        deadline: Some(now + wish.lease),
        first_claimed: life.first_claimed.or(Some(now)),
        ..life.clone()
    }
}

fn renew(life: &Life, owner: Owner, epoch: Epoch, until: Timestamp) -> Result<Life, Refusal> {
    if !life.is_held_by(owner, epoch) {
        return Err(Refusal::NotOwner);
    }
    match life.state {
        State::InFlight => Ok(Life {
            deadline: life.deadline.max(Some(until)),
            ..life.clone()
        }),
        State::Unknown => Err(Refusal::Lapsed),
        _ => Err(Refusal::NotOwner),
    }
}

fn complete(life: &Life, owner: Owner, epoch: Epoch, ending: Ending) -> Result<Life, Refusal> {
    if !life.is_held_by(owner, epoch) {
        return Err(Refusal::NotOwner);
    }
    match life.state {
        State::InFlight | State::Unknown => Ok(ended(life, ending)),
        state if state == ending.state() => Ok(life.clone()),
        _ => Err(Refusal::NotOwner),
    }
}

fn accept(
    life: &Life,
    owner: Owner,
    epoch: Epoch,
    deadline: Option<Timestamp>,
) -> Result<Life, Refusal> {
    if !life.is_held_by(owner, epoch) {
        return Err(Refusal::NotOwner);
    }
    match life.state {
        State::InFlight | State::Unknown => Ok(Life {
            state: State::Accepted,
            deadline,
            ..life.clone()
        }),
        // Sent again after its reply was lost; the receipt may have been faster.
        State::Accepted | State::Done | State::Failed => Ok(life.clone()),
        _ => Err(Refusal::NotOwner),
    }
}

fn doubt(life: &Life, owner: Owner, epoch: Epoch) -> Result<Life, Refusal> {
    match life.state {
        State::InFlight | State::Unknown if life.is_held_by(owner, epoch) => {
            Ok(moved(life, State::Unknown))
        }
        _ => Err(Refusal::NotOwner),
    }
}

fn release(life: &Life, owner: Owner, epoch: Epoch) -> Result<Life, Refusal> {
    if !life.is_held_by(owner, epoch) {
        return Err(Refusal::NotOwner);
    }
    match life.state {
        State::InFlight | State::Unknown if life.in_doubt => Ok(moved(life, State::Unknown)),
        State::InFlight | State::Unknown => Ok(moved(life, State::Released)),
        State::Released => Ok(life.clone()),
        _ => Err(Refusal::NotOwner),
    }
}

/// By compare-and-set on the epoch: an overtaken epoch's receipt is no proof for the one that runs now.
fn receipt(life: &Life, epoch: Epoch, ending: Ending) -> Result<Life, Refusal> {
    if life.epoch != epoch {
        return Err(Refusal::NotOwner);
    }
    match life.state {
        // The receipt can be faster than the acceptance, and can come after its deadline.
        State::Accepted | State::InFlight | State::Unknown => Ok(ended(life, ending)),
        state if state == ending.state() => Ok(life.clone()),
        _ => Err(Refusal::NotOwner),
    }
}

fn fence(life: &Life, owner: Owner, seen: Epoch, until: Timestamp) -> Result<Life, Refusal> {
    if life.state != State::Unknown {
        return Err(Refusal::TooLate);
    }
    if life.deadline.is_some() && life.owner == Some(owner) {
        // The same call again: it holds it already.
        return Ok(life.clone());
    }
    if life.deadline.is_some() {
        return Err(Refusal::Held);
    }
    if life.epoch != seen {
        return Err(Refusal::NotOwner);
    }
    Ok(Life {
        owner: Some(owner),
        epoch: life.epoch.next(),
        deadline: Some(until),
        ..life.clone()
    })
}

fn resolve(
    life: &Life,
    owner: Owner,
    seen: Epoch,
    verdict: Verdict,
    vouched: bool,
) -> Result<Life, Refusal> {
    if life.state != State::Unknown {
        return Err(Refusal::TooLate);
    }
    if life.epoch != seen {
        return Err(Refusal::NotOwner);
    }
    let own_hold = life.owner == Some(owner);
    if life.deadline.is_some() && !own_hold {
        return Err(Refusal::Held);
    }
    if verdict != Verdict::Done && !vouched {
        return Err(Refusal::Unvouched);
    }
    let settled = Life {
        in_doubt: false,
        ..life.clone()
    };
    Ok(match verdict {
        Verdict::Done => moved(&settled, State::Done),
        Verdict::Failed => moved(&settled, State::Failed),
        // Whoever resolves without having fenced takes the next epoch now, so that a fence raised to it is one that
        // no attempt was ever given.
        Verdict::NotExecuted => Life {
            owner: Some(owner),
            epoch: if own_hold {
                life.epoch
            } else {
                life.epoch.next()
            },
            ..moved(&settled, State::Released)
        },
    })
}

/// After a takeover an honest `failed` is doubt: the funds may be insufficient because the first attempt spent them.
fn ended(life: &Life, ending: Ending) -> Life {
    let state = match ending {
        Ending::Failed if life.in_doubt => State::Unknown,
        _ => ending.state(),
    };
    moved(life, state)
}

fn moved(life: &Life, state: State) -> Life {
    Life {
        state,
        deadline: None,
        ..life.clone()
    }
}

fn is_over(end: Option<Timestamp>, now: Timestamp) -> bool {
    end.is_some_and(|end| now >= end)
}
