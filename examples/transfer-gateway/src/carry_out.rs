//! How a handler carries out what it was asked for: the same for every action, and where a fault is placed.

use std::time::Duration;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use counterfoil::{
    engine::{Attempt, Disposition},
    lifecycle::Ending,
    store::{Receipt, Received, StoredResult},
    tower::StoredResponse,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::{
    app::App,
    chaos::{self, Chaos, Place, Says},
    ledger::{Deed, Effect},
    reply,
};

/// What is to be done, and what is said of it then.
pub(crate) struct Work {
    pub(crate) deed: Deed,
    /// The business document's number.
    pub(crate) reference: String,
    /// The status of a success.
    pub(crate) success: StatusCode,
    /// Where the document stands.
    pub(crate) location: Option<String>,
    /// The body of a success, and of one that is yet to come.
    pub(crate) done: String,
    pub(crate) accepted: String,
    /// What a refusal calls itself.
    pub(crate) refused: &'static str,
}

/// Does it, unless a fault was asked for that stands in the way.
pub(crate) async fn carry_out(app: &App, attempt: &Attempt, work: Work, chaos: Chaos) -> Response {
    chaos.at(Place::AfterClaim);
    sleep(chaos.delay).await;
    chaos.at(Place::BeforeEffect);
    let response = match chaos.says {
        Some(Says::Refuse(status)) => work.left(attempt, Disposition::NotExecuted, status),
        Some(Says::Fail(status)) => work.left(attempt, Disposition::Failed, status),
        Some(Says::Accept) => accept(app, attempt, work, &chaos),
        Some(Says::Status(_)) | None => settle(app, attempt, work, &chaos).await,
    };
    chaos.at(Place::AfterEffect);
    sleep(chaos.delay_after).await;
    response
}

/// The usual way: key, effect, answer.
async fn settle(app: &App, attempt: &Attempt, work: Work, chaos: &Chaos) -> Response {
    // The ledger stands for what is downstream, and knows the operation by this key. No key, no effect: the lease is lost.
    let Ok(key) = attempt.downstream_key() else {
        return work.left(attempt, Disposition::NotExecuted, StatusCode::CONFLICT);
    };
    // A short text of ours fits.
    let _ = attempt.set_result_ref(work.reference.as_str());
    let effect = Effect::of(attempt, work.deed.clone());
    match app.books().append(&key, effect).await {
        Ok(()) => match chaos.says {
            Some(Says::Status(status)) if !status.is_success() => work.refusal(
                status,
                "the effect is there, and this status says nothing of it",
            ),
            Some(Says::Status(status)) => work.success(status, chaos),
            _ => work.success(work.success, chaos),
        },
        Err(failed) if failed.nothing_happened() => {
            warn!(operation_id = %attempt.operation_id(), error = %failed, "an effect was refused");
            work.left(attempt, Disposition::NotExecuted, StatusCode::CONFLICT)
        }
        // No word: nobody knows, and a status can't say.
        Err(failed) => {
            error!(operation_id = %attempt.operation_id(), error = ?failed, "an effect is in doubt");
            work.refusal(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the ledger may have the effect or not",
            )
        }
    }
}

/// 202: the effect comes later, and its receipt ends the operation.
fn accept(app: &App, attempt: &Attempt, work: Work, chaos: &Chaos) -> Response {
    // By then the lease is over, and no grant is minted: that ledger takes what is written at once.
    if app.books().goes_elsewhere(&work.deed) {
        return work.left(attempt, Disposition::NotExecuted, StatusCode::CONFLICT);
    }
    if attempt.downstream_key().is_err() {
        return work.left(attempt, Disposition::NotExecuted, StatusCode::CONFLICT);
    }
    let _ = attempt.set_result_ref(work.reference.as_str());
    let body = chaos::shaped(work.accepted.clone(), chaos.body);
    let response = respond(StatusCode::ACCEPTED, work.location.as_deref(), body);
    let later = Receiver {
        app: app.clone(),
        effect: Effect::of(attempt, work.deed.clone()),
        work,
        wait: LATER + chaos.delay_after,
    };
    // Shutting down waits for it, as for a handler.
    app.gate().spawn(later.run());
    response
}

/// How long accepted work takes.
const LATER: Duration = Duration::from_secs(2);

/// The other side of accepted work: the effect, then the receipt.
struct Receiver {
    app: App,
    effect: Effect,
    work: Work,
    wait: Duration,
}

impl Receiver {
    /// How often a receipt is sent while the operation isn't ready for it, and the pause between.
    const TRIES: u32 = 40;
    const PAUSE: Duration = Duration::from_millis(250);

    async fn run(self) {
        let Self {
            app,
            effect,
            work,
            wait,
        } = self;
        sleep(wait).await;
        let receipt = Receipt {
            id: effect.operation_id,
            epoch: effect.epoch,
            ending: Ending::Done,
            result: work.as_first_response(),
            result_ref: Some(work.reference),
        };
        if let Err(failed) = app.ledger().append(effect).await {
            error!(operation_id = %receipt.id, error = ?failed, "accepted work has no effect");
            return;
        }
        for _ in 0..Self::TRIES {
            match app.counterfoil().store().receive(&receipt).await {
                Ok(Received::Received) => {
                    info!(operation_id = %receipt.id, "the receipt of accepted work is on record");
                    return;
                }
                // That it was accepted may not be on record yet.
                unsaid => warn!(operation_id = %receipt.id, ?unsaid, "a receipt is sent again"),
            }
            sleep(Self::PAUSE).await;
        }
        error!(operation_id = %receipt.id, "the receipt of accepted work is lost");
    }
}

impl Work {
    fn success(&self, status: StatusCode, chaos: &Chaos) -> Response {
        // HTTP/1.1 would cut off the body of some of these, and HTTP/2 sends whatever it is given.
        let body = match status {
            StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT => Body::empty(),
            _ => chaos::shaped(self.done.clone(), chaos.body),
        };
        respond(status, self.location.as_deref(), body)
    }

    /// What a retry gets once the receipt is there: the answer of work that was done at once.
    fn as_first_response(&self) -> Option<StoredResult> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, reply::JSON);
        if let Some(at) = header_value(self.location.as_deref()) {
            headers.insert(header::LOCATION, at);
        }
        let response = StoredResponse {
            status: self.success,
            headers,
            body: Some(Bytes::from(self.done.clone())),
            trailers: None,
        };
        response.encode()
    }

    /// The handler's word: without it a status that is no success leaves doubt.
    fn left(&self, attempt: &Attempt, word: Disposition, status: StatusCode) -> Response {
        attempt.declare(word);
        self.refusal(status, "nothing was done")
    }

    fn refusal(&self, status: StatusCode, sentence: &'static str) -> Response {
        reply::error(status, self.refused, sentence)
    }
}

/// A success, with the place of the document.
pub(crate) fn respond(status: StatusCode, location: Option<&str>, body: Body) -> Response {
    let mut response = (status, [(header::CONTENT_TYPE, reply::JSON)], body).into_response();
    if let Some(location) = header_value(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

fn header_value(text: Option<&str>) -> Option<HeaderValue> {
    HeaderValue::try_from(text?).ok()
}
