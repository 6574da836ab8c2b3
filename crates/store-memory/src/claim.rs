//! Acquire, renew, release and annotate: the owner's way through a record, at one instant.

use std::time::Duration;

use counterfoil_core::{
    Timestamp,
    lifecycle::{Event, Life, Refusal, State, step},
    store::{
        Acquire, Acquired, Annotated, Annotation, Claimed, IN_DOUBT, Lease, Mismatch, Record,
        Released, Renewed,
    },
};

/// The record that a claim on an absent operation writes, or the answer that writes nothing.
pub(crate) fn first(request: &Acquire, now: Timestamp) -> Result<Record, Acquired> {
    match step(None, &Event::Claim(request.claim.clone()), now) {
        Ok(life) => Ok(Record::claimed(request, life, now)),
        Err(Refusal::Expired) => Err(Acquired::Expired { record: None, now }),
        Err(Refusal::ApprovalMissing) => Err(Acquired::ApprovalMissing),
        Err(_) => Err(Acquired::Gone),
    }
}

/// A claim on an operation that has a record. Who and what are compared first, in every state.
pub(crate) fn again(record: &mut Record, request: &Acquire, now: Timestamp) -> Acquired {
    match record.check(&request.identity) {
        Ok(()) => {}
        Err(Mismatch::Foreign) => return Acquired::Foreign,
        Err(Mismatch::Params) => return Acquired::ParamsChanged(read(record, now)),
    }
    match step(
        Some(&record.life),
        &Event::Claim(request.claim.clone()),
        now,
    ) {
        Ok(life) => {
            if life.epoch != record.life.epoch {
                begin_attempt(record);
            }
            write(record, life, now);
            Acquired::Claimed(claimed(record, request))
        }
        Err(Refusal::Expired) => Acquired::Expired {
            record: Some(read(record, now)),
            now,
        },
        Err(Refusal::ApprovalMissing) => Acquired::ApprovalMissing,
        Err(Refusal::ApprovalExpired) => Acquired::ApprovalExpired(read(record, now)),
        Err(_) => Acquired::Found(read(record, now)),
    }
}

/// What a claim that has just been written gives.
pub(crate) fn claimed(record: &Record, request: &Acquire) -> Claimed {
    let lease = Lease {
        id: record.id,
        owner: request.claim.owner,
        epoch: record.life.epoch,
    };
    Claimed::new(lease, record.attempts)
}

pub(crate) fn renew(record: &mut Record, held: &Lease, lease: Duration, now: Timestamp) -> Renewed {
    let event = Event::Renew {
        owner: held.owner,
        epoch: held.epoch,
        lease,
    };
    match step(Some(&record.life), &event, now) {
        Ok(life) => {
            write(record, life, now);
            Renewed::Renewed
        }
        Err(Refusal::Lapsed) => Renewed::Lapsed,
        Err(_) => Renewed::NotOwner,
    }
}

pub(crate) fn release(record: &mut Record, held: &Lease, now: Timestamp) -> Released {
    let event = Event::Release {
        owner: held.owner,
        epoch: held.epoch,
    };
    let Ok(life) = step(Some(&record.life), &event, now) else {
        return Released::NotOwner;
    };
    let in_doubt = life.state == State::Unknown;
    if life != record.life {
        record.reason = in_doubt.then(|| IN_DOUBT.to_owned());
        write(record, life, now);
    }
    if in_doubt {
        Released::InDoubt
    } else {
        Released::Released
    }
}

pub(crate) fn annotate(
    record: &mut Record,
    held: &Lease,
    note: &Annotation,
    now: Timestamp,
) -> Annotated {
    let open = matches!(record.state_at(now), State::InFlight | State::Unknown);
    if !open || !record.life.is_held_by(held.owner, held.epoch) {
        return Annotated::NotOwner;
    }
    overwrite(&mut record.provider_ref, note.provider_ref.as_ref());
    overwrite(&mut record.result_ref, note.result_ref.as_ref());
    Annotated::Annotated
}

/// The record as it reads at `now`.
pub(crate) fn read(record: &Record, now: Timestamp) -> Box<Record> {
    let mut record = Box::new(record.clone());
    record.life = record.life.at(now);
    record
}

/// Writes what the state machine returned. Renewals leave `updated` alone: retention counts from the last change.
pub(crate) fn write(record: &mut Record, life: Life, now: Timestamp) {
    if life.state != record.life.state || life.epoch != record.life.epoch {
        record.updated = now;
    }
    record.life = life;
}

/// `None` keeps what is on record.
pub(crate) fn overwrite<T: Clone>(on_record: &mut Option<T>, said: Option<&T>) {
    if let Some(said) = said {
        *on_record = Some(said.clone());
    }
}

/// A new attempt speaks for itself. From RELEASED nothing of the old one happened; after a takeover its references are
/// what a reconciler may need.
fn begin_attempt(record: &mut Record) {
    if record.life.state == State::Released {
        record.result_ref = None;
        record.provider_ref = None;
    }
    record.result = None;
    record.reason = None;
    record.settled_by = None;
    record.attempts = record.attempts.saturating_add(1);
}
