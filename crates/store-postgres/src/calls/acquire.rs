//! Acquire.

use std::borrow::Cow;

use counterfoil_core::{
    Epoch, Timestamp,
    lifecycle::State,
    store::{Acquire, Acquired, Claimed, Lease, Mismatch, Record, StoreError},
};
use tokio_postgres::{Row, types::ToSql};

use super::only;
use crate::{
    failure::{indeterminate, locked, misuse, unknown_answer},
    row::{Reader, corrupt, count},
    template::code_of,
    transaction::wrong_isolation,
    values::{Id, duration_ms, epoch, escape, ms},
};

/// The parameters of `acquire.sql`, in their order.
pub(crate) struct Asked<'a> {
    pub(super) id: Id,
    pub(super) tenant: Cow<'a, str>,
    pub(super) principal: Cow<'a, str>,
    pub(super) scope: Cow<'a, str>,
    pub(super) hash: &'a [u8],
    pub(super) owner: Id,
    pub(super) lease: i64,
    pub(super) exp: Option<i64>,
    pub(super) retention: i64,
    pub(super) needs_approval: bool,
    pub(super) seen_state: Option<i16>,
    pub(super) seen_epoch: Option<i64>,
    pub(super) takeover_within: Option<i64>,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(request: &'a Acquire) -> Self {
        let (identity, claim) = (&request.identity, &request.claim);
        Self {
            id: request.id.into(),
            tenant: escape(identity.subject.tenant()),
            principal: escape(identity.subject.principal()),
            scope: escape(identity.scope.as_str()),
            hash: identity.hash.as_bytes(),
            owner: claim.owner.into(),
            lease: duration_ms(claim.lease),
            exp: claim.exp.map(ms),
            retention: duration_ms(request.retention),
            needs_approval: claim.needs_approval,
            seen_state: claim.seen.map(|seen| code_of(seen.state)),
            seen_epoch: claim.seen.map(|seen| epoch(seen.epoch)),
            takeover_within: claim.takeover_within.map(duration_ms),
        }
    }

    pub(crate) fn values(&self) -> [&(dyn ToSql + Sync); 13] {
        [
            &self.id,
            &self.tenant,
            &self.principal,
            &self.scope,
            &self.hash,
            &self.owner,
            &self.lease,
            &self.exp,
            &self.retention,
            &self.needs_approval,
            &self.seen_state,
            &self.seen_epoch,
            &self.takeover_within,
        ]
    }
}

/// The answer, and the store's clock.
pub(crate) fn read(rows: &[Row], request: &Acquire) -> Result<(Acquired, Timestamp), StoreError> {
    read_answer(&mut Reader::new(only(rows)?), request)?.ok_or_else(unknown_answer)
}

/// The answer, or `None` where only a call of its own gets one.
pub(super) fn read_answer(
    reader: &mut Reader<'_>,
    request: &Acquire,
) -> Result<Option<(Acquired, Timestamp)>, StoreError> {
    let answer: &str = reader.get()?;
    let now = reader.time()?;
    if answer == "alone" {
        return Ok(None);
    }
    let (epoch, attempts) = (reader.get()?, reader.get()?);
    if let "first" | "claimed" = answer {
        let claimed = match answer {
            "first" => first_claim(request),
            _ => claimed(request, epoch, attempts)?,
        };
        return Ok(Some((Acquired::Claimed(claimed), now)));
    }
    let record = reader.record(now)?.map(Box::new);
    let acquired = match (answer, record) {
        ("found", Some(record)) => Acquired::Found(record),
        ("params_changed", Some(record)) => Acquired::ParamsChanged(record),
        ("foreign", None) => Acquired::Foreign,
        ("expired", record) => Acquired::Expired { record, now },
        ("approval_missing", _) => Acquired::ApprovalMissing,
        ("gone", None) => Acquired::Gone,
        _ => return Err(unknown_answer()),
    };
    Ok(Some((acquired, now)))
}

/// As [`read`], for a claim in a transaction of the caller's.
pub(crate) fn read_in(rows: &[Row], request: &Acquire) -> Result<Acquired, StoreError> {
    let mut reader = Reader::new(only(rows)?);
    match reader.get()? {
        "isolation" => Err(wrong_isolation()),
        "locked" => {
            let now = reader.time()?;
            // Nothing was claimed that an epoch could be of.
            reader.skip(2);
            while_locked(request, reader.record(now)?, locked())
        }
        _ => Ok(read(rows, request)?.0),
    }
}

pub(crate) fn check(request: &Acquire) -> Result<(), StoreError> {
    if request.guards.is_empty() {
        Ok(())
    } else {
        Err(misuse("the Postgres store holds no guards"))
    }
}

/// What an insert makes.
pub(super) fn first_claim(request: &Acquire) -> Claimed {
    let lease = Lease {
        id: request.id,
        owner: request.claim.owner,
        epoch: Epoch::from_u64(1),
    };
    Claimed::new(lease, 1)
}

/// Of what was claimed only the epoch and the count of attempts are not known already.
fn claimed(
    request: &Acquire,
    epoch: Option<i32>,
    attempts: Option<i32>,
) -> Result<Claimed, StoreError> {
    let (epoch, attempts) = epoch.zip(attempts).ok_or_else(corrupt)?;
    let lease = Lease {
        id: request.id,
        owner: request.claim.owner,
        epoch: Epoch::from_u64(u64::from(count(epoch)?)),
    };
    Ok(Claimed::new(lease, count(attempts)?))
}

/// What a claim is told that waited for another transaction until its patience was over, from the record as it stood
/// before that one.
///
/// That other transaction may be this very claim, sent before and still waiting for its commit, so that nothing is said
/// here that this claim, once committed, would make untrue.
pub(crate) fn while_locked(
    request: &Acquire,
    record: Option<Record>,
    locked: StoreError,
) -> Result<Acquired, StoreError> {
    let Some(record) = record else {
        return Err(locked);
    };
    match record.check(&request.identity) {
        Ok(()) => {}
        Err(Mismatch::Foreign) => return Ok(Acquired::Foreign),
        Err(Mismatch::Params) => return Ok(Acquired::ParamsChanged(Box::new(record))),
    }
    let claim = &request.claim;
    match record.life.state {
        State::InFlight if record.life.owner == Some(claim.owner) => Err(indeterminate(
            "the claim stands, and another transaction holds its record",
        )
        .with_source(locked)),
        // It could be claimed, or is being claimed.
        State::Released | State::Unknown if claim.seen.is_some() => Err(locked),
        State::AwaitingApproval | State::Approved => Err(locked),
        _ => Ok(Acquired::Found(Box::new(record))),
    }
}
