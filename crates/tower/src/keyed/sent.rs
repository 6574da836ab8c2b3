//! The key that a request brings.

use counterfoil_core::{
    answer::Answer,
    idempotency::{IdempotencyKey, InvalidKey},
};
use http::HeaderMap;

use crate::headers;

/// The key in the header, if there is one. Two fields are refused, also of the same key: which of them a proxy, a log or
/// the handler takes is anybody's guess. Blanks around a value are no part of it (RFC 9110, section 5.5): HTTP/1.1 takes
/// them off as it reads, and a key is the same one over HTTP/2.
pub(crate) fn in_header(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Answer> {
    let mut fields = headers.get_all(headers::IDEMPOTENCY_KEY).iter();
    let key = match (fields.next(), fields.next()) {
        (None, _) => return Ok(None),
        (Some(one), None) => IdempotencyKey::from_header(one.as_bytes().trim_ascii()),
        (Some(_), Some(_)) => Err(InvalidKey::GivenTwice),
    };
    key.map(Some)
        .map_err(|invalid| Answer::from(invalid).with_field(headers::IDEMPOTENCY_KEY.as_str()))
}
