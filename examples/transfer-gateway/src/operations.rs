//! How operations stand, and calling them off. The services do the work; here are the ways in that they don't know.

use std::time::Duration;

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use counterfoil::{
    OperationId,
    answer::{Answer, Status},
    tower::headers::{FINGERPRINT, IDEMPOTENCY_KEY},
};
use http::HeaderValue;
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use tokio::time::timeout;

use crate::{app::App, reply};

/// `GET /v1/operation` speaks of the operation of a credential, so there has to be one, and only one kind.
pub(crate) async fn needs_credential(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let by_fingerprint = request.headers().contains_key(FINGERPRINT);
    let by_key = request.headers().contains_key(IDEMPOTENCY_KEY);
    let refused = match (by_fingerprint, by_key) {
        (true, false) | (false, true) => return next.run(request).await,
        (true, true) => Status::CredentialsDiffer,
        (false, false) => Status::FingerprintRequired,
    };
    reply::answer(&Answer::new(refused), app.wording())
}

/// The body that a cancellation may have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelBody {
    fingerprint: Option<String>,
}

/// The longest body of a cancellation; a fingerprint has at most 1,024 bytes.
const MAX_CANCEL_BODY: usize = 4096;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Moves a fingerprint from the body to the header, where the service looks for it.
pub(crate) async fn fingerprint_from_body(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    if !names_an_operation(request.uri().path()) {
        return reply::answer(&Answer::new(Status::NotFound), app.wording());
    }
    let (mut parts, body) = request.into_parts();
    let in_body = match read(body).await {
        Ok(in_body) => in_body,
        Err(refused) => return reply::answer(&refused, app.wording()),
    };
    if let Some(in_body) = in_body {
        let differs = parts
            .headers
            .get(FINGERPRINT)
            .is_some_and(|in_header| in_header.as_bytes() != in_body.as_bytes());
        if differs {
            return reply::answer(&Answer::new(Status::CredentialsDiffer), app.wording());
        }
        let Ok(value) = HeaderValue::try_from(in_body) else {
            return reply::answer(&Answer::new(Status::FingerprintMistyped), app.wording());
        };
        if !parts.headers.contains_key(FINGERPRINT) {
            parts.headers.insert(FINGERPRINT, value);
        }
    }
    next.run(Request::from_parts(parts, Body::empty())).await
}

/// A path with a mangled id means another operation than the fingerprint beside it. The path is read as it comes, as
/// the service does.
fn names_an_operation(path: &str) -> bool {
    path.strip_suffix("/cancel")
        .and_then(|path| path.rsplit('/').next())
        .is_some_and(|id| id.parse::<OperationId>().is_ok())
}

async fn read(body: Body) -> Result<Option<String>, Answer> {
    let collected = timeout(BODY_TIMEOUT, Limited::new(body, MAX_CANCEL_BODY).collect()).await;
    let bytes = match collected {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(_)) => return Err(Answer::new(Status::BodyTooLarge)),
        Err(_) => return Err(Answer::new(Status::BodyTimeout)),
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice::<CancelBody>(&bytes)
        .map(|body| body.fingerprint)
        .map_err(|_| {
            Answer::new(Status::ParamsInvalid)
                .with_reason("malformed")
                .with_field("body")
        })
}
