//! The service in this process.

use axum::{
    body::Body,
    http::{Request, Response},
};
use counterfoil::{
    Clock, Epoch, KeyId, Step, SystemClock,
    grant::{GrantKey, GrantRequest, GrantTerms},
    tower::headers,
};
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::*;

fn keys() -> GrantKeys {
    let id = KeyId::parse("g1").expect("a key id");
    GrantKeys::new(GrantKey::new(id, &[7; 32]).expect("a key"))
}

/// A write of operation 1.
fn write(epoch: u64, step: Option<&'static str>, body: &str) -> Request<Body> {
    let asked = GrantRequest::new(&AUDIENCE, "POST", "/entries").with_body(body.as_bytes());
    let terms = GrantTerms::new(
        OperationId::from_bytes([1; 16]),
        Epoch::from_u64(epoch),
        step.map(Step::new),
        &asked,
        SystemClock.now(),
    );
    let grant = keys().issue(&terms.expect("a good life"));
    Request::post("/entries")
        .header(headers::GRANT, headers::grant_value(&grant))
        .body(Body::from(body.to_owned()))
        .expect("a request")
}

async fn json(response: Response<Body>) -> Value {
    let body = response.into_body().collect().await.expect("a body");
    serde_json::from_slice(&body.to_bytes()).expect("JSON")
}

#[tokio::test]
async fn a_replayed_grant_meets_the_key_and_makes_no_second_entry() {
    let books = Books::in_memory();
    let service = router(books.clone(), keys());
    for status in [201, 200, 200] {
        let response = service.clone().oneshot(write(1, None, r#"{"a":1}"#)).await;
        let response = response.expect("an answer");
        assert_eq!(response.status(), status);
        assert_eq!(
            response.headers().contains_key("idempotent-replayed"),
            status == 200
        );
        assert_eq!(json(response).await["entry"], json!({"a": 1}));
    }
    assert_eq!(books.entries(None).len(), 1);
    // Another body under the same key is not what was entered.
    let response = service
        .clone()
        .oneshot(write(1, None, r#"{"a":2}"#))
        .await
        .expect("an answer");
    assert_eq!(response.status(), 422);
    assert_eq!(books.entries(None).len(), 1);
}

#[tokio::test]
async fn each_step_of_an_operation_is_entered_once() {
    let books = Books::in_memory();
    let service = router(books.clone(), keys());
    for (step, status) in [
        (None, 201),
        (Some("fee"), 201),
        (Some("fee"), 200),
        (Some("tax"), 201),
    ] {
        let response = service
            .clone()
            .oneshot(write(1, step, "{}"))
            .await
            .expect("an answer");
        assert_eq!(response.status(), status, "{step:?}");
    }
    assert_eq!(books.entries(None).len(), 3);
}

#[tokio::test]
async fn the_books_refuse_a_lower_epoch_that_the_layer_has_forgotten() {
    let books = Books::in_memory();
    let before = router(books.clone(), keys());
    let response = before
        .oneshot(write(2, Some("fee"), "{}"))
        .await
        .expect("an answer");
    assert_eq!(response.status(), 201);
    // A process of its own: its layer has seen nothing.
    let after = router(books.clone(), keys());
    let response = after
        .oneshot(write(1, None, "{}"))
        .await
        .expect("an answer");
    assert_eq!(response.status(), 409);
    assert_eq!(response.headers()["counterfoil-status"], "epoch_stale");
    assert_eq!(books.entries(None).len(), 1);
}
