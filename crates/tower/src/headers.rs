//! The header names that this crate reads and writes. Which headers of a response are kept for a replay stands here too.

use std::collections::HashSet;

use counterfoil_core::{answer::Answer, grant::Grant};
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The request header that carries the fingerprint.
pub const FINGERPRINT: HeaderName = HeaderName::from_static("counterfoil-fingerprint");
/// The request header that carries the idempotency key, where the caller makes one.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The request header that carries a grant, to services downstream that take no write without one.
pub const GRANT: HeaderName = HeaderName::from_static("counterfoil-grant");
/// On every answer, every run and every replay: the status of its answer, in one word.
pub const STATUS: HeaderName = HeaderName::from_static("counterfoil-status");
/// On every answer, run and replay whose operation is known: its id.
pub const OPERATION_ID: HeaderName = HeaderName::from_static("counterfoil-operation-id");
/// On a verbatim replay: `true`.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// A grant as the value of [`GRANT`], which logs of the request don't show.
///
/// # Panics
///
/// Never: a grant has letters, digits and `. _ -` only.
#[must_use]
pub fn grant_value(grant: &Grant) -> HeaderValue {
    let value = HeaderValue::try_from(grant.as_str());
    let mut value = value.expect("a grant makes a header value");
    value.set_sensitive(true);
    value
}

/// Headers that speak of the connection, the moment or the caller of the first response, and of no later one.
///
/// `Trailer` is kept although it is hop-by-hop: without it HTTP/1 sends no trailers.
const OF_THE_FIRST_CALL: &[&str] = &[
    // Hop-by-hop (RFC 9110, section 7.6.1), and the length, which each sender computes.
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
    // The moment of the first response. `Age` goes with it.
    "age",
    "date",
    // Sessions and authentication: one caller's secrets must not come out of a store.
    "authentication-info",
    "authorization",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-authorization",
    "set-cookie",
    "set-cookie2",
    "www-authenticate",
    // Timing and traces of the first call.
    "b3",
    "baggage",
    "server-timing",
    "traceparent",
    "traceresponse",
    "tracestate",
    "uber-trace-id",
    "x-amzn-trace-id",
    "x-cloud-trace-context",
    "x-correlation-id",
    "x-request-id",
    "x-trace-id",
    // Ours: set anew on each answer, and not a handler's to forge.
    "idempotent-replayed",
];

/// Families of such headers: cross-origin rules are the outer layer's for each caller anew.
const FAMILIES_OF_THE_FIRST_CALL: &[&str] = &["access-control-", "counterfoil-", "x-b3-"];

/// Headers of the first body, which an envelope doesn't take over: its body is another one, no cache may keep it, and
/// when to ask again is the answer's to say.
const OF_THE_BODY: &[&str] = &[
    "accept-ranges",
    "cache-control",
    "digest",
    "etag",
    "expires",
    "last-modified",
    "pragma",
    "repr-digest",
    "retry-after",
    "trailer",
    "vary",
];

/// The headers that a replay may carry, in their order, repeated ones and binary values too; of trailers, those.
pub(crate) fn kept(headers: &HeaderMap) -> HeaderMap {
    let named_by_connection: HashSet<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let dropped = OF_THE_FIRST_CALL.contains(&name.as_str())
            || FAMILIES_OF_THE_FIRST_CALL
                .iter()
                .any(|family| name.as_str().starts_with(family))
            || named_by_connection.contains(name.as_str());
        if !dropped {
            kept.append(name.clone(), value.clone());
        }
    }
    kept
}

/// Logs of the request don't show them then, however often they stand there.
pub(crate) fn hide_credentials(headers: &mut HeaderMap) {
    for (name, value) in headers {
        if [FINGERPRINT, IDEMPOTENCY_KEY, GRANT].contains(name) {
            value.set_sensitive(true);
        }
    }
}

/// Takes out a length that is not the body's: its caller would wait for bytes that never come, or be left with a part.
pub(crate) fn drop_untrue_length(headers: &mut HeaderMap, length: u64) {
    let untrue = |value: &HeaderValue| !says_length(value, length);
    if headers.get_all(header::CONTENT_LENGTH).iter().any(untrue) {
        headers.remove(header::CONTENT_LENGTH);
    }
}

/// Whether a `Content-Length` says this length.
pub(crate) fn says_length(value: &HeaderValue, length: u64) -> bool {
    value.to_str().is_ok_and(|text| {
        text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse() == Ok(length)
    })
}

/// Whether a header describes the first body, and so has no place on an envelope.
pub(crate) fn describes_the_body(name: &HeaderName) -> bool {
    let name = name.as_str();
    name.starts_with("content-") || OF_THE_BODY.contains(&name)
}

/// Says what stands: the status in one word and, where it is known, the operation.
pub(crate) fn tell(headers: &mut HeaderMap, answer: &Answer) {
    headers.insert(STATUS, HeaderValue::from_static(answer.status.as_str()));
    match answer.operation_id {
        Some(id) => {
            let id = HeaderValue::try_from(id.to_string());
            headers.insert(
                OPERATION_ID,
                id.expect("hex digits and hyphens make a header value"),
            );
        }
        None => {
            headers.remove(OPERATION_ID);
        }
    }
}

/// Answers and replays are one caller's, at one moment: no cache on the way may keep them. A verbatim replay has the
/// first response's own word, if it had one.
pub(crate) fn forbid_caching(headers: &mut HeaderMap) {
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn what_belongs_to_the_first_call_is_dropped() {
        let headers = map(&[
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("content-length", "5"),
            ("date", "today"),
            ("set-cookie", "session=secret"),
            ("www-authenticate", "Basic"),
            ("authentication-info", "x"),
            ("access-control-allow-origin", "*"),
            ("access-control-expose-headers", "x"),
            ("server-timing", "db;dur=1"),
            ("traceparent", "00-1"),
            ("x-b3-traceid", "1"),
            ("counterfoil-status", "completed"),
            ("idempotent-replayed", "true"),
        ]);
        assert_eq!(kept(&headers), HeaderMap::new());
    }

    #[test]
    fn the_rest_is_kept_with_repeats_and_binary_values() {
        let mut headers = map(&[
            ("location", "/v1/transfers/1"),
            ("x-part", "a"),
            ("x-part", "b"),
            ("trailer", "x-sum"),
            ("content-type", "text/plain"),
        ]);
        headers.append("x-bin", HeaderValue::from_bytes(b"\xff\t\x80").unwrap());
        assert_eq!(kept(&headers), headers);
    }

    #[test]
    fn an_envelope_takes_over_a_location_and_nothing_of_the_first_body() {
        assert!(!describes_the_body(&header::LOCATION));
        for name in [
            header::CONTENT_TYPE,
            header::CONTENT_ENCODING,
            header::ETAG,
            header::CACHE_CONTROL,
            header::RETRY_AFTER,
            header::TRAILER,
        ] {
            assert!(describes_the_body(&name), "{name}");
        }
    }
}
