//! Fence, resolve and cancel: what others than the owner say of a record.

use counterfoil_core::{
    Timestamp,
    lifecycle::{Event, Refusal, Verdict, step},
    store::{Cancellation, Cancelled, FenceRequest, Fenced, Record, Resolution, Resolved},
};

use crate::claim::{overwrite, read, write};

pub(crate) fn fence(record: &mut Record, request: &FenceRequest, now: Timestamp) -> Fenced {
    let event = Event::Fence {
        owner: request.owner,
        seen: request.seen,
        hold: request.hold,
    };
    match step(Some(&record.life), &event, now) {
        Ok(life) => {
            write(record, life, now);
            Fenced::Fenced(read(record, now))
        }
        Err(_) => Fenced::Refused(Some(read(record, now))),
    }
}

pub(crate) fn resolve(record: &mut Record, resolution: &Resolution, now: Timestamp) -> Resolved {
    let event = Event::Resolve {
        owner: resolution.owner,
        seen: resolution.seen,
        verdict: resolution.verdict,
        vouched: resolution.vouched,
    };
    let life = match step(Some(&record.life), &event, now) {
        Ok(life) => life,
        Err(Refusal::Unvouched) => return Resolved::Unvouched,
        Err(_) => return Resolved::Refused(Some(read(record, now))),
    };
    write(record, life, now);
    if resolution.verdict == Verdict::NotExecuted {
        record.result = None;
    } else {
        // What an acceptance told its caller is not how it ended.
        record.result.clone_from(&resolution.result);
        overwrite(&mut record.result_ref, resolution.result_ref.as_ref());
    }
    record.reason = Some(resolution.reason.clone());
    record.settled_by.clone_from(&resolution.by);
    Resolved::Resolved(read(record, now))
}

/// A tombstone's scope and hash come from the credential that named the operation. Where they aren't the record's, it
/// is not the operation that the caller means, and the caller learns no more than a stranger does.
pub(crate) fn cancel(
    record: &mut Record,
    cancellation: &Cancellation,
    now: Timestamp,
) -> Cancelled {
    let same_subject = record.identity.subject == cancellation.subject;
    let same_identity = cancellation
        .tombstone
        .as_ref()
        .is_none_or(|tombstone| tombstone.identity == record.identity);
    if !same_subject || !same_identity {
        return Cancelled::Foreign;
    }
    match step(Some(&record.life), &Event::Cancel { exp: None }, now) {
        Ok(life) => {
            if life != record.life {
                write(record, life, now);
                note(record, cancellation);
            }
            Cancelled::Cancelled(read(record, now))
        }
        Err(_) => Cancelled::TooLate(read(record, now)),
    }
}

/// The record that a cancellation of an absent operation writes, or the answer that writes nothing.
pub(crate) fn tombstone(cancellation: &Cancellation, now: Timestamp) -> Result<Record, Cancelled> {
    let Some(tombstone) = &cancellation.tombstone else {
        return Err(Cancelled::Absent);
    };
    if tombstone.identity.subject != cancellation.subject {
        return Err(Cancelled::Foreign);
    }
    let event = Event::Cancel {
        exp: Some(tombstone.exp),
    };
    let Ok(life) = step(None, &event, now) else {
        return Err(Cancelled::Expired { now });
    };
    let mut record = Record::new(
        cancellation.id,
        tombstone.identity.clone(),
        life,
        Some(tombstone.exp),
        tombstone.retention,
        now,
    );
    note(&mut record, cancellation);
    Ok(record)
}

fn note(record: &mut Record, cancellation: &Cancellation) {
    record.reason.clone_from(&cancellation.reason);
    record.settled_by = Some(cancellation.subject.clone());
}
