//! Transfers that a person has to agree to. This version can't ask, so it refuses them.
//!
//! At preview by the params, so that no fingerprint for such a transfer comes from here. A fingerprint that another
//! service signed with the same key is stopped in the handler, before anything happens.

use std::time::Duration;

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use counterfoil::answer::{Answer, Status};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

use crate::{app::App, reply};

/// Answers 501 to a preview of such a transfer, and lets everything else through as it came.
pub(crate) async fn refuse_what_needs_one(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = match timeout(BODY_TIMEOUT, Limited::new(body, app.max_body()).collect()).await {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) => {
            let status = match error.downcast_ref::<LengthLimitError>() {
                Some(_) => Status::BodyTooLarge,
                // It broke off: whoever sent it is gone.
                None => Status::BodyTimeout,
            };
            return reply::answer(&Answer::new(status), app.wording());
        }
        Err(_) => return reply::answer(&Answer::new(Status::BodyTimeout), app.wording()),
    };
    if needs_approval(&app, &bytes) {
        return reply::answer(&not_yet(), app.wording());
    }
    next.run(Request::from_parts(parts, Body::from(bytes)))
        .await
}

/// How long a preview's body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The answer: approvals come with a later version.
pub(super) fn not_yet() -> Answer {
    Answer::new(Status::NotImplemented).with_field("/amount")
}

/// Params that can't be read are the preview's to answer.
fn needs_approval(app: &App, body: &[u8]) -> bool {
    let bound = app.gate().incoming(body).and_then(|mut incoming| {
        incoming.take_fingerprint()?;
        incoming.take_repeat_of()?;
        app.gate().bind_incoming(incoming)
    });
    bound.is_ok_and(|bound| bound.value().amount.needs_approval())
}
