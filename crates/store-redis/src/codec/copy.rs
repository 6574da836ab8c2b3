//! A whole record as one sealed text, for a cache: nothing in it can be changed without the keys, times included.

use std::time::Duration;

use counterfoil_core::{
    Epoch, OperationId, Owner,
    lifecycle::Life,
    store::{Approval, Evidence, GuardClaim, Record},
};

use super::{
    bytes::{Reader, Unreadable, Write},
    fields::{
        millis, read_limits, read_result, read_state, read_subject, read_text, read_who,
        state_number, who, write_limits, write_result, write_subject, write_text,
    },
    seal::{Kind, Seals},
    word::Word,
};

const VERSION: u8 = 1;

/// The record, sealed; `None` where it holds something that this crate doesn't know.
pub(crate) fn encode(seals: &Seals, record: &Record) -> Option<Vec<u8>> {
    let mut body = Vec::with_capacity(256);
    body.u8(VERSION);
    body.bytes_u32(&who(&record.identity));
    write_limits(&mut body, record.exp, record.retention);
    body.time(record.created);
    body.time(record.updated);
    body.u32(record.attempts);
    write_life(&mut body, &record.life);
    let mut result = Vec::new();
    write_result(&mut result, record.result.as_ref());
    body.bytes_u32(&result);
    write_text(&mut body, record.result_ref.as_deref());
    write_text(&mut body, record.provider_ref.as_deref());
    write_text(&mut body, record.reason.as_deref());
    body.optional(record.settled_by.as_ref(), write_subject);
    body.optional(record.approval.as_ref(), |body, approval| {
        body.bytes_u32(approval.view.as_bytes());
        body.optional(approval.decided_by.as_ref(), write_subject);
    });
    write_all(&mut body, &record.guards, write_guard)?;
    write_all(&mut body, &record.evidence, write_evidence)?;
    Some(seals.seal(Kind::Copy, [record.id.as_bytes()], &body))
}

/// The record that was sealed for `id`.
pub(crate) fn decode(
    seals: &Seals,
    id: OperationId,
    sealed: &[u8],
) -> Result<Box<Record>, Unreadable> {
    let mut reader = Reader::new(seals.open(Kind::Copy, [id.as_bytes()], sealed)?);
    if reader.u8()? != VERSION {
        return Err(Unreadable);
    }
    let mut who = Reader::new(reader.bytes_u32()?);
    let identity = read_who(&mut who)?;
    who.end()?;
    let (exp, retention) = read_limits(&mut reader)?;
    let created = reader.time()?;
    let updated = reader.time()?;
    let attempts = reader.u32()?;
    let life = read_life(&mut reader)?;
    let mut record = Box::new(Record::new(id, identity, life, exp, retention, created));
    record.updated = updated;
    record.attempts = attempts;
    record.result = read_result(Reader::new(reader.bytes_u32()?))?;
    record.result_ref = read_text(&mut reader)?;
    record.provider_ref = read_text(&mut reader)?;
    record.reason = read_text(&mut reader)?;
    record.settled_by = reader.optional(read_subject)?;
    record.approval = reader.optional(|reader| {
        let mut approval = Approval::waiting(reader.text()?.to_owned());
        approval.decided_by = reader.optional(read_subject)?;
        Ok(approval)
    })?;
    record.guards = read_all(&mut reader, read_guard)?;
    record.evidence = read_all(&mut reader, read_evidence)?;
    reader.end()?;
    Ok(record)
}

fn write_life(body: &mut Vec<u8>, life: &Life) {
    body.u8(state_number(life.state));
    body.optional(life.owner, |body, owner| body.bytes(owner.as_bytes()));
    body.u64(life.epoch.as_u64());
    body.optional(life.deadline, Write::time);
    body.flag(life.in_doubt);
    body.optional(life.first_claimed, Write::time);
    body.optional(life.approval_ends, Write::time);
}

fn read_life(reader: &mut Reader<'_>) -> Result<Life, Unreadable> {
    let mut life = Life::new(read_state(reader)?);
    life.owner = reader.optional(|reader| Ok(Owner::from_bytes(reader.array()?)))?;
    life.epoch = Epoch::from_u64(reader.u64()?);
    life.deadline = reader.optional(Reader::time)?;
    life.in_doubt = reader.flag()?;
    life.first_claimed = reader.optional(Reader::time)?;
    life.approval_ends = reader.optional(Reader::time)?;
    Ok(life)
}

fn write_guard(body: &mut Vec<u8>, guard: &GuardClaim) -> Option<()> {
    match guard {
        GuardClaim::Unique { name, key, keep } => {
            body.u8(0);
            body.bytes_u32(name.as_bytes());
            body.bytes_u32(key.as_bytes());
            body.optional(*keep, |body, keep| body.u64(millis(keep)));
        }
        GuardClaim::Exclusive {
            resource,
            expected_version,
        } => {
            body.u8(1);
            body.bytes_u32(resource.as_bytes());
            body.optional(*expected_version, Write::u64);
        }
        GuardClaim::Repeat { window, repeat_of } => {
            body.u8(2);
            body.u64(millis(*window));
            body.optional(*repeat_of, |body, id| body.bytes(id.as_bytes()));
        }
        _ => return None,
    }
    Some(())
}

fn read_guard(reader: &mut Reader<'_>) -> Result<GuardClaim, Unreadable> {
    match reader.u8()? {
        0 => Ok(GuardClaim::Unique {
            name: reader.text()?.to_owned(),
            key: reader.text()?.to_owned(),
            keep: reader.optional(|reader| reader.u64().map(Duration::from_millis))?,
        }),
        1 => Ok(GuardClaim::Exclusive {
            resource: reader.text()?.to_owned(),
            expected_version: reader.optional(Reader::u64)?,
        }),
        2 => Ok(GuardClaim::Repeat {
            window: Duration::from_millis(reader.u64()?),
            repeat_of: reader.optional(|reader| Ok(OperationId::from_bytes(reader.array()?)))?,
        }),
        _ => Err(Unreadable),
    }
}

fn write_evidence(body: &mut Vec<u8>, evidence: &Evidence) -> Option<()> {
    body.bytes(evidence.owner.as_bytes());
    body.u64(evidence.epoch.as_u64());
    body.time(evidence.at);
    body.bytes_u32(&Word::of(&evidence.completion)?.encode());
    Some(())
}

fn read_evidence(reader: &mut Reader<'_>) -> Result<Evidence, Unreadable> {
    Ok(Evidence {
        owner: Owner::from_bytes(reader.array()?),
        epoch: Epoch::from_u64(reader.u64()?),
        at: reader.time()?,
        completion: Word::decode(reader.bytes_u32()?)?
            .into_completion()
            .ok_or(Unreadable)?,
    })
}

fn write_all<T>(
    body: &mut Vec<u8>,
    all: &[T],
    write: impl Fn(&mut Vec<u8>, &T) -> Option<()>,
) -> Option<()> {
    body.u32(u32::try_from(all.len()).ok()?);
    all.iter().try_for_each(|one| write(body, one))
}

fn read_all<'a, T>(
    reader: &mut Reader<'a>,
    read: impl Fn(&mut Reader<'a>) -> Result<T, Unreadable>,
) -> Result<Vec<T>, Unreadable> {
    let count = reader.u32()?;
    (0..count).map(|_| read(reader)).collect()
}
