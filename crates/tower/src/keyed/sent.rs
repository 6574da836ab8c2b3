//! The key that a request brings.

use counterfoil_core::{
    answer::Answer,
    idempotency::{IdempotencyKey, InvalidKey},
};
use http::HeaderMap;

use crate::headers;

/// The key in the header, if there is one. Two fields are refused, also of the same key: which of them a proxy, a log or
/// the handler takes is anybody's guess.
pub(crate) fn in_header(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Answer> {
    let mut fields = headers.get_all(headers::IDEMPOTENCY_KEY).iter();
    let key = match (fields.next(), fields.next()) {
        (None, _) => return Ok(None),
        (Some(one), None) => IdempotencyKey::from_header(one.as_bytes()),
        (Some(_), Some(_)) => Err(InvalidKey::GivenTwice),
    };
    key.map(Some)
        .map_err(|invalid| Answer::from(invalid).with_field(headers::IDEMPOTENCY_KEY.as_str()))
}
