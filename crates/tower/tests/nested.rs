//! A layer inside of a layer: one request that carries out two operations.

mod common;

use common::{World, confirm, count, counter, response, send, wrapped};
use counterfoil_core::Scope;
use counterfoil_tower::ConfirmLayer;
use http::HeaderValue;
use tower::ServiceExt;

#[tokio::test]
async fn two_layers_nested_in_one_request_leave_two_right_records() {
    let world = World::new();
    let gate = world
        .counterfoil
        .gate::<common::Transfer>(Scope::new("payments.fee"))
        .build()
        .unwrap();
    let params = gate.read(common::BODY.as_bytes()).unwrap();
    let fee = gate.preview(&common::agent(), &params).await.unwrap();
    let transfer = world.fingerprint().await;

    let (fees, transfers) = (counter(), counter());
    let inner = wrapped(&ConfirmLayer::new(gate), &fees, |attempt, _| async move {
        assert_eq!(attempt.scope().as_str(), "payments.fee");
        response(200, "the fee")
    });
    let fee_text = HeaderValue::from_str(fee.fingerprint.as_str()).unwrap();
    let (inner_of_outer, fee_of_outer) = (inner.clone(), fee_text.clone());
    let outer = wrapped(&world.layer(), &transfers, move |attempt, mut request| {
        // The same request goes on, with the other credential.
        request
            .headers_mut()
            .insert("counterfoil-fingerprint", fee_of_outer.clone());
        let inner = inner_of_outer.clone();
        async move {
            assert_eq!(attempt.scope().as_str(), "payments.transfer");
            let fee = inner.oneshot(request).await?;
            assert_eq!(fee.headers()["counterfoil-status"], "completed");
            response(201, "the transfer")
        }
    });

    let first = send(outer.clone(), confirm(&transfer)).await;
    assert_eq!((first.status, first.word()), (201, "completed"));
    assert_eq!(first.body, "the transfer");
    let ids = [
        first.header("counterfoil-operation-id").to_owned(),
        fee.operation_id.to_string(),
    ];
    assert_ne!(ids[0], ids[1]);

    let again = send(outer, confirm(&transfer)).await;
    assert_eq!((again.status, again.word()), (201, "already_completed"));
    assert_eq!(again.header("counterfoil-operation-id"), ids[0]);
    let again = send(inner, confirm(fee.fingerprint.as_str())).await;
    assert_eq!((again.status, again.word()), (200, "already_completed"));
    assert_eq!(again.header("counterfoil-operation-id"), ids[1]);
    assert_eq!((count(&fees), count(&transfers)), (1, 1));
}
