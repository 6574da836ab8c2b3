//! The handler: it runs once per operation, and says what happened.

use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::Response,
};
use counterfoil::{
    OperationId, Subject,
    tower::{Confirmed, ThisAttempt},
};
use http::StatusCode;
use serde::Serialize;

use super::Transfer;
use crate::{
    app::App,
    carry_out::{Work, carry_out, respond},
    chaos::Chaos,
    ledger::{Deed, Effect, Moved},
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
    let moved = Moved {
        transfer_id: transfer_id(attempt.operation_id()),
        amount: transfer.amount.to_string(),
        currency: transfer.currency.to_string(),
        payee_id: transfer.payee_id.to_string(),
        source_account: transfer.source_account.to_string(),
        purchase_order: transfer.purchase_order.as_ref().map(ToString::to_string),
    };
    let work = Work {
        reference: moved.transfer_id.clone(),
        success: StatusCode::CREATED,
        location: Some(format!("/v1/transfers/{}", moved.transfer_id)),
        done: result(&moved, "settled"),
        accepted: result(&moved, "accepted"),
        refused: "transfer_refused",
        deed: Deed::Transfer(moved),
    };
    carry_out(&app, &attempt, work, chaos).await
}

/// The transfer's number: the same for every attempt of an operation.
fn transfer_id(operation: OperationId) -> String {
    format!("tr_{}", operation.simple())
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

fn result(moved: &Moved, status: &'static str) -> String {
    let result = TransferResult {
        transfer_id: &moved.transfer_id,
        status,
        amount: &moved.amount,
        currency: &moved.currency,
        payee_id: &moved.payee_id,
        source_account: &moved.source_account,
        purchase_order: moved.purchase_order.as_deref(),
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
            let effects = app.books().effects(subject.tenant(), Some(operation));
            match effects.await {
                Ok(effects) => effects,
                Err(error) => return reply::ledger_out_of_reach(&error),
            }
        }
        None => Vec::new(),
    };
    let mut moved = effects.iter().filter_map(Effect::moved);
    match moved.find(|moved| moved.transfer_id == id) {
        Some(moved) => respond(StatusCode::OK, None, Body::from(result(moved, "settled"))),
        None => {
            let sentence = "the ledger has no such transfer of this tenant; how an operation stands is told at /v1/operations/ID";
            reply::error(StatusCode::NOT_FOUND, "no_such_transfer", sentence)
        }
    }
}
