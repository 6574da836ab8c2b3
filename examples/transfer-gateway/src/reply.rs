//! Answers of the gateway's own: those that no layer gives.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use counterfoil::{
    answer::{Answer, Wording},
    tower::answer_response,
};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::granted_ledger::ReadError;

/// An answer about an operation, in the form of all others.
pub(crate) fn answer(answer: &Answer, wording: &Wording) -> Response {
    answer_response(answer, wording).map(Body::new)
}

/// What has nothing to do with operations: a wrong path, a malformed header.
pub(crate) fn error(status: StatusCode, error: &'static str, sentence: &str) -> Response {
    let body = serde_json::json!({"error": error, "message": sentence});
    json(status, &body)
}

/// The ledger of another process can't be read.
pub(crate) fn ledger_out_of_reach(why: &ReadError) -> Response {
    tracing::warn!(error = ?why, "the ledger can't be read");
    error(
        StatusCode::SERVICE_UNAVAILABLE,
        "ledger_out_of_reach",
        "the ledger can't be read just now; ask again later",
    )
}

/// Any JSON.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => (status, [(header::CONTENT_TYPE, JSON)], bytes).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The media type of every body here.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
