//! The same service without Counterfoil, as it is often written: whoever calls is paid.

use std::sync::{Arc, Mutex, PoisonError};

use axum::{
    Extension, Json, Router,
    extract::State,
    middleware::from_fn,
    response::{IntoResponse, Response},
    routing::post,
};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use tokio::time::sleep;

use crate::chaos::{self, Chaos, Place};

/// Who was paid, one entry per effect.
#[derive(Clone, Default, Debug)]
pub(super) struct BareLedger(Arc<Mutex<Vec<String>>>);

#[derive(Deserialize)]
struct Payment {
    payee_id: String,
}

/// The one endpoint, open to the same faults.
pub(super) fn router(ledger: BareLedger) -> Router {
    Router::new()
        .route(
            "/v1/transfers",
            post(pay).route_layer(from_fn(chaos::misbehave)),
        )
        .with_state(ledger)
}

async fn pay(
    State(ledger): State<BareLedger>,
    Extension(chaos): Extension<Chaos>,
    Json(payment): Json<Payment>,
) -> Response {
    let number = ledger.enter(payment.payee_id);
    chaos.at(Place::AfterEffect);
    sleep(chaos.delay_after).await;
    let body = json!({"transfer_id": format!("#{number}"), "status": "settled"});
    (StatusCode::CREATED, Json(body)).into_response()
}

impl BareLedger {
    /// How often somebody was paid.
    pub(super) fn count(&self, payee: &str) -> usize {
        let paid = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paid.iter().filter(|paid| *paid == payee).count()
    }

    fn enter(&self, payee: String) -> usize {
        let mut paid = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paid.push(payee);
        paid.len()
    }
}
