//! The fields that several layouts share.

use std::{borrow::Cow, time::Duration};

use bytes::Bytes;
use counterfoil_core::{
    ParamHash, Scope, Subject, Timestamp, lifecycle::State, store::Identity, store::StoredResult,
};

use super::bytes::{Reader, Unreadable, Write, text};

/// The longest name of a result's format.
pub(crate) const MAX_FORMAT_LEN: usize = 255;

/// A state as one byte: its place in a life. Lua has the same numbers.
pub(crate) const fn state_number(state: State) -> u8 {
    match state {
        State::AwaitingApproval => 0,
        State::Approved => 1,
        State::Denied => 2,
        State::Cancelled => 3,
        State::InFlight => 4,
        State::Accepted => 5,
        State::Unknown => 6,
        State::Released => 7,
        State::Done => 8,
        State::Failed => 9,
    }
}

pub(crate) fn read_state(reader: &mut Reader<'_>) -> Result<State, Unreadable> {
    let number = reader.u8()?;
    State::ALL
        .into_iter()
        .find(|state| state_number(*state) == number)
        .ok_or(Unreadable)
}

/// Hash, tenant, principal and scope: what a claim is compared by.
pub(crate) fn who(identity: &Identity) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(96);
    bytes.bytes(identity.hash.as_bytes());
    for part in [
        identity.subject.tenant(),
        identity.subject.principal(),
        identity.scope.as_str(),
    ] {
        bytes.bytes_u8(part.as_bytes());
    }
    bytes
}

pub(crate) fn read_who(reader: &mut Reader<'_>) -> Result<Identity, Unreadable> {
    let hash = ParamHash::from_bytes(reader.array()?);
    let tenant = text(reader.bytes_u8()?)?;
    let principal = text(reader.bytes_u8()?)?;
    let scope = text(reader.bytes_u8()?)?;
    Ok(Identity {
        subject: Subject::new(tenant, principal).map_err(|_| Unreadable)?,
        scope: Scope::parse(scope).map_err(|_| Unreadable)?,
        hash,
    })
}

/// An end of a life, and a retention: always 17 bytes, since Lua reads them.
pub(crate) fn write_limits(bytes: &mut Vec<u8>, exp: Option<Timestamp>, retention: Duration) {
    bytes.flag(exp.is_some());
    bytes.time(exp.unwrap_or(Timestamp::from_unix_ms(0)));
    bytes.u64(millis(retention));
}

pub(crate) fn read_limits(
    reader: &mut Reader<'_>,
) -> Result<(Option<Timestamp>, Duration), Unreadable> {
    let limited = reader.flag()?;
    let exp = reader.time()?;
    let retention = Duration::from_millis(reader.u64()?);
    Ok((limited.then_some(exp), retention))
}

/// Parts of a millisecond are dropped, as [`Timestamp`] drops them.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The caller sees to it that the format's name has at most [`MAX_FORMAT_LEN`] bytes.
pub(crate) fn write_result(bytes: &mut Vec<u8>, result: Option<&StoredResult>) {
    bytes.optional(result, |bytes, result| {
        bytes.bytes_u8(result.format.as_bytes());
        bytes.bytes(&result.bytes);
    });
}

/// All that is left is the result's.
pub(crate) fn read_result(mut reader: Reader<'_>) -> Result<Option<StoredResult>, Unreadable> {
    let result = reader.optional(|reader| {
        let format = text(reader.bytes_u8()?)?.to_owned();
        let bytes = Bytes::copy_from_slice(reader.take(reader.rest().len())?);
        Ok(StoredResult {
            format: Cow::Owned(format),
            bytes,
        })
    })?;
    reader.end()?;
    Ok(result)
}

pub(crate) fn write_text(bytes: &mut Vec<u8>, text: Option<&str>) {
    bytes.optional(text, |bytes, text| bytes.bytes_u32(text.as_bytes()));
}

pub(crate) fn read_text(reader: &mut Reader<'_>) -> Result<Option<String>, Unreadable> {
    reader.optional(|reader| reader.text().map(str::to_owned))
}

pub(crate) fn write_subject(bytes: &mut Vec<u8>, subject: &Subject) {
    bytes.bytes_u8(subject.tenant().as_bytes());
    bytes.bytes_u8(subject.principal().as_bytes());
}

pub(crate) fn read_subject(reader: &mut Reader<'_>) -> Result<Subject, Unreadable> {
    let tenant = text(reader.bytes_u8()?)?;
    let principal = text(reader.bytes_u8()?)?;
    Subject::new(tenant, principal).map_err(|_| Unreadable)
}
