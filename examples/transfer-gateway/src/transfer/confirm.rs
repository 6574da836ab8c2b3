//! The handler: it runs once per operation, and says what happened.

use std::time::Duration;

use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use counterfoil::{
    Subject,
    engine::{Attempt, Disposition},
    lifecycle::Ending,
    store::{Receipt, Received, StoredResult},
    tower::{Confirmed, StoredResponse, ThisAttempt},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use tokio::time::sleep;
use tracing::{error, info, warn};

use super::Transfer;
use crate::{
    app::App,
    chaos::{self, Chaos, Place, Says},
    ledger::Effect,
    reply,
};

/// Moves the money. Inside of the layer: the params are those that were agreed to, and a retry never gets here.
pub(crate) async fn confirm(
    State(app): State<App>,
    ThisAttempt(attempt): ThisAttempt,
    Confirmed(transfer): Confirmed<Transfer>,
    chaos: Option<Extension<Chaos>>,
) -> Response {
    let chaos = chaos.map(|Extension(chaos)| chaos).unwrap_or_default();
    chaos.at(Place::AfterClaim);
    sleep(chaos.delay).await;
    chaos.at(Place::BeforeEffect);
    let response = match chaos.says {
        Some(Says::Refuse(status)) => nothing_done(&attempt, Disposition::NotExecuted, status),
        Some(Says::Fail(status)) => nothing_done(&attempt, Disposition::Failed, status),
        Some(Says::Accept) => accept(&app, &attempt, &transfer, &chaos),
        Some(Says::Status(_)) | None => settle(&app, &attempt, &transfer, &chaos).await,
    };
    chaos.at(Place::AfterEffect);
    sleep(chaos.delay_after).await;
    response
}

/// The usual way: key, effect, answer.
async fn settle(app: &App, attempt: &Attempt, transfer: &Transfer, chaos: &Chaos) -> Response {
    // The ledger stands for the bank, and knows the operation by this key. No key, no effect: the lease is lost.
    if attempt.downstream_key().is_err() {
        return nothing_done(attempt, Disposition::NotExecuted, StatusCode::CONFLICT);
    }
    let effect = Effect::of(attempt, transfer);
    // A short text of ours fits.
    let _ = attempt.set_result_ref(effect.transfer_id.as_str());
    let body = result(&effect, "settled");
    let at = location(&effect);
    match app.ledger().append(effect).await {
        Ok(()) => match chaos.says {
            Some(Says::Status(status)) if !status.is_success() => refusal(
                status,
                "the effect is there, and this status says nothing of it",
            ),
            Some(Says::Status(status)) => success(status, at, chaos::shaped(body, chaos.body)),
            _ => success(StatusCode::CREATED, at, chaos::shaped(body, chaos.body)),
        },
        Err(failed) if failed.nothing_happened() => {
            warn!(operation_id = %attempt.operation_id(), error = %failed, "an effect was refused");
            nothing_done(attempt, Disposition::NotExecuted, StatusCode::CONFLICT)
        }
        // No word: nobody knows, and a status can't say.
        Err(failed) => {
            error!(operation_id = %attempt.operation_id(), error = ?failed, "an effect is in doubt");
            refusal(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the ledger may have the effect or not",
            )
        }
    }
}

/// 202: the effect comes later, and its receipt ends the operation.
fn accept(app: &App, attempt: &Attempt, transfer: &Transfer, chaos: &Chaos) -> Response {
    if attempt.downstream_key().is_err() {
        return nothing_done(attempt, Disposition::NotExecuted, StatusCode::CONFLICT);
    }
    let effect = Effect::of(attempt, transfer);
    let _ = attempt.set_result_ref(effect.transfer_id.as_str());
    let body = result(&effect, "accepted");
    let later = Receiver {
        app: app.clone(),
        effect: effect.clone(),
        wait: LATER + chaos.delay_after,
    };
    // Shutting down waits for it, as for a handler.
    app.gate().spawn(later.run());
    let shaped = chaos::shaped(body, chaos.body);
    success(StatusCode::ACCEPTED, location(&effect), shaped)
}

/// How long an accepted transfer takes.
const LATER: Duration = Duration::from_secs(2);

/// The bank's side of an accepted transfer: the effect, then the receipt.
struct Receiver {
    app: App,
    effect: Effect,
    wait: Duration,
}

impl Receiver {
    /// How often a receipt is sent while the operation isn't ready for it, and the pause between.
    const TRIES: u32 = 40;
    const PAUSE: Duration = Duration::from_millis(250);

    async fn run(self) {
        let Self { app, effect, wait } = self;
        sleep(wait).await;
        let receipt = Receipt {
            id: effect.operation_id,
            epoch: effect.epoch,
            ending: Ending::Done,
            result: as_first_response(&effect),
            result_ref: Some(effect.transfer_id.clone()),
        };
        if let Err(failed) = app.ledger().append(effect).await {
            error!(operation_id = %receipt.id, error = ?failed, "an accepted transfer has no effect");
            return;
        }
        for _ in 0..Self::TRIES {
            match app.counterfoil().store().receive(&receipt).await {
                Ok(Received::Received) => {
                    info!(operation_id = %receipt.id, "the receipt of an accepted transfer is on record");
                    return;
                }
                // That it was accepted may not be on record yet.
                unsaid => warn!(operation_id = %receipt.id, ?unsaid, "a receipt is sent again"),
            }
            sleep(Self::PAUSE).await;
        }
        error!(operation_id = %receipt.id, "the receipt of an accepted transfer is lost");
    }
}

/// What a retry gets once the receipt is there: the answer of a transfer that was settled at once.
fn as_first_response(effect: &Effect) -> Option<StoredResult> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, reply::JSON);
    if let Some(at) = location(effect) {
        headers.insert(header::LOCATION, at);
    }
    let response = StoredResponse {
        status: StatusCode::CREATED,
        headers,
        body: Some(Bytes::from(result(effect, "settled"))),
    };
    response.encode()
}

/// The body of a success.
#[derive(Serialize)]
struct TransferResult<'a> {
    transfer_id: &'a str,
    status: &'static str,
    amount: &'a str,
    currency: &'a str,
    payee_id: &'a str,
    source_account: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    purchase_order: Option<&'a str>,
}

fn result(effect: &Effect, status: &'static str) -> String {
    let result = TransferResult {
        transfer_id: &effect.transfer_id,
        status,
        amount: &effect.amount,
        currency: &effect.currency,
        payee_id: &effect.payee_id,
        source_account: &effect.source_account,
        purchase_order: effect.purchase_order.as_deref(),
    };
    serde_json::to_string(&result).expect("texts can always be written as JSON")
}

/// A settled transfer of the caller's tenant: what `Location` leads to.
pub(crate) async fn settled(
    State(app): State<App>,
    Extension(subject): Extension<Subject>,
    Path(id): Path<String>,
) -> Response {
    let operation = id.strip_prefix("tr_").and_then(|id| id.parse().ok());
    let effects = match operation {
        Some(operation) => {
            app.ledger()
                .effects(subject.tenant(), Some(operation))
                .await
        }
        None => Vec::new(),
    };
    match effects.iter().find(|effect| effect.transfer_id == id) {
        Some(effect) => success(StatusCode::OK, None, Body::from(result(effect, "settled"))),
        None => {
            let sentence = "the ledger has no such transfer of this tenant; how an operation stands is told at /v1/operations/ID";
            reply::error(StatusCode::NOT_FOUND, "no_such_transfer", sentence)
        }
    }
}

fn location(effect: &Effect) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("/v1/transfers/{}", effect.transfer_id)).ok()
}

fn success(status: StatusCode, location: Option<HeaderValue>, body: Body) -> Response {
    let mut response = (status, [(header::CONTENT_TYPE, reply::JSON)], body).into_response();
    if let Some(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// The handler's word: without it a status that is no success leaves doubt.
fn nothing_done(attempt: &Attempt, word: Disposition, status: StatusCode) -> Response {
    attempt.declare(word);
    refusal(status, "nothing was transferred")
}

fn refusal(status: StatusCode, sentence: &'static str) -> Response {
    reply::error(status, "transfer_refused", sentence)
}
