//! The service: the layer around what writes, and what it answers.

use axum::{
    Extension, Json, Router,
    body::Bytes,
    extract::{Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use counterfoil::{
    OperationId,
    grant::{Audience, GrantKeys, RecentEpochs},
    tower::{GrantLayer, Granted},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tracing::{error, info, warn};

use crate::books::{Books, EnterError, Entered};

/// The name that grants for this service bear.
pub(crate) const AUDIENCE: Audience = Audience::new("granted-ledger");

/// The largest entry, in bytes.
const MAX_ENTRY: usize = 64 * 1024;

/// All endpoints. Reading needs no grant, and no caller is asked for: it is an example on a loopback.
pub(crate) fn router(books: Books, keys: GrantKeys) -> Router {
    // This memory keeps late attempts away from the handler. The fence itself is in the books, in the write.
    let layer = GrantLayer::new(keys, AUDIENCE, RecentEpochs::new()).with_max_body(MAX_ENTRY);
    Router::new()
        .route("/entries", get(entries).post(enter).route_layer(layer))
        .route("/healthz", get(async || Json(json!({"status": "ok"}))))
        .with_state(books)
}

async fn enter(
    State(books): State<Books>,
    Extension(granted): Extension<Granted>,
    body: Bytes,
) -> Response {
    let Ok(entry) = serde_json::from_slice::<Map<String, Value>>(&body) else {
        return refused(
            StatusCode::BAD_REQUEST,
            "entry_malformed",
            "the body is no JSON object",
        );
    };
    let id = granted.operation_id();
    // It waits for the disk.
    let entering = tokio::task::spawn_blocking(move || books.enter(&granted, entry));
    match entering.await {
        Ok(Ok(Entered::New(entry))) => {
            info!(operation_id = %id, key = entry.key, epoch = entry.epoch, "entered");
            (StatusCode::CREATED, Json(entry)).into_response()
        }
        Ok(Ok(Entered::Before(entry))) => {
            info!(operation_id = %id, key = entry.key, "it was entered before");
            ([("idempotent-replayed", "true")], Json(entry)).into_response()
        }
        Ok(Err(stale @ EnterError::Stale)) => {
            warn!(operation_id = %id, "a late attempt was refused");
            refused(StatusCode::CONFLICT, "epoch_stale", &stale.to_string())
        }
        Ok(Err(reused @ EnterError::KeyReused)) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            refused(status, "key_reused", &reused.to_string())
        }
        Ok(Err(closed @ EnterError::Closed)) => {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            refused(status, "ledger_closed", &closed.to_string())
        }
        // No word that nothing happened: it may have.
        failed => {
            error!(operation_id = %id, ?failed, "an entry is in doubt");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Nothing was entered by this request, and this header says so in one word, as those of the layer do.
fn refused(status: StatusCode, code: &'static str, detail: &str) -> Response {
    let body = json!({
        "title": "Nothing was entered", "status": status.as_u16(), "detail": detail, "code": code, "this_call": "not_run",
    });
    let headers = [
        ("content-type", "application/problem+json"),
        ("counterfoil-status", code),
    ];
    (status, headers, body.to_string()).into_response()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    operation_id: Option<String>,
}

async fn entries(State(books): State<Books>, Query(which): Query<Which>) -> Response {
    let of = which.operation_id.map(|text| text.parse::<OperationId>());
    match of.transpose() {
        Ok(of) => Json(json!({"entries": books.entries(of)})).into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

#[cfg(test)]
mod tests;
