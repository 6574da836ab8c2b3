//! Fence, resolve and cancel.

use counterfoil_core::{
    lifecycle::{State, Verdict},
    store::{Cancellation, Cancelled, FenceRequest, Fenced, Resolution, Resolved, StoreError},
};

use super::{finish::format_of, only};
use crate::{
    database::Database,
    failure::unknown_answer,
    machine::Machine,
    row::Reader,
    template::code_of,
    values::{Id, duration_ms, epoch, escape, ms},
};

pub(crate) async fn fence(
    database: &Database,
    machine: &Machine,
    request: &FenceRequest,
) -> Result<Fenced, StoreError> {
    let (id, owner) = (Id::from(request.id), Id::from(request.owner));
    let (seen, hold) = (epoch(request.seen), duration_ms(request.hold));
    let values = [&id as _, &owner as _, &seen as _, &hold as _];
    let rows = database.call(&machine.fence, &values).await?;
    let mut reader = Reader::new(only(&rows)?);
    let answer: &str = reader.get()?;
    let now = reader.time()?;
    let record = reader.record(now)?.map(Box::new);
    Ok(match (answer, record) {
        ("fenced", Some(record)) => Fenced::Fenced(record),
        ("refused" | "absent", record) => Fenced::Refused(record),
        _ => return Err(unknown_answer()),
    })
}

pub(crate) async fn resolve(
    database: &Database,
    machine: &Machine,
    resolution: &Resolution,
) -> Result<Resolved, StoreError> {
    let (id, owner) = (Id::from(resolution.id), Id::from(resolution.owner));
    let seen = epoch(resolution.seen);
    let state = code_of(match resolution.verdict {
        Verdict::Done => State::Done,
        Verdict::Failed => State::Failed,
        Verdict::NotExecuted => State::Released,
    });
    let format = resolution.result.as_ref().map(format_of);
    let result = resolution.result.as_ref().map(|result| &*result.bytes);
    let result_ref = resolution.result_ref.as_deref().map(escape);
    let reason = escape(&resolution.reason);
    let tenant = resolution.by.as_ref().map(|by| escape(by.tenant()));
    let principal = resolution.by.as_ref().map(|by| escape(by.principal()));
    let values = [
        &id as _,
        &owner as _,
        &seen as _,
        &state as _,
        &resolution.vouched as _,
        &format as _,
        &result as _,
        &result_ref as _,
        &reason as _,
        &tenant as _,
        &principal as _,
    ];
    let rows = database.call(&machine.resolve, &values).await?;
    let mut reader = Reader::new(only(&rows)?);
    let answer: &str = reader.get()?;
    let now = reader.time()?;
    let record = reader.record(now)?.map(Box::new);
    Ok(match (answer, record) {
        ("resolved", Some(record)) => Resolved::Resolved(record),
        ("unvouched", _) => Resolved::Unvouched,
        ("refused" | "absent", record) => Resolved::Refused(record),
        _ => return Err(unknown_answer()),
    })
}

pub(crate) async fn cancel(
    database: &Database,
    machine: &Machine,
    cancellation: &Cancellation,
) -> Result<Cancelled, StoreError> {
    let tombstone = cancellation.tombstone.as_ref();
    if tombstone.is_some_and(|tombstone| tombstone.identity.subject != cancellation.subject) {
        // Whatever stands, one of the two is not its subject; and where nothing stands, nothing is written for another.
        return Ok(Cancelled::Foreign);
    }
    let id = Id::from(cancellation.id);
    let tenant = escape(cancellation.subject.tenant());
    let principal = escape(cancellation.subject.principal());
    let reason = cancellation.reason.as_deref().map(escape);
    let scope = tombstone.map(|tombstone| escape(tombstone.identity.scope.as_str()));
    let hash = tombstone.map(|tombstone| &tombstone.identity.hash.as_bytes()[..]);
    let exp = tombstone.map(|tombstone| ms(tombstone.exp));
    let retention = tombstone.map(|tombstone| duration_ms(tombstone.retention));
    let values = [
        &id as _,
        &tenant as _,
        &principal as _,
        &reason as _,
        &scope as _,
        &hash as _,
        &exp as _,
        &retention as _,
    ];
    let rows = database.call(&machine.cancel, &values).await?;
    let mut reader = Reader::new(only(&rows)?);
    let answer: &str = reader.get()?;
    let now = reader.time()?;
    let record = reader.record(now)?.map(Box::new);
    Ok(match (answer, record) {
        ("cancelled", Some(record)) => Cancelled::Cancelled(record),
        ("too_late", Some(record)) => Cancelled::TooLate(record),
        ("expired", None) => Cancelled::Expired { now },
        ("foreign", None) => Cancelled::Foreign,
        ("absent", None) => Cancelled::Absent,
        _ => return Err(unknown_answer()),
    })
}
