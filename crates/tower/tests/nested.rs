//! A layer inside of a layer: one request that carries out two operations.

mod common;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use common::{
    World, agent, confirm, count, counter, response, send,
    server::{BOTH, Server},
    wrapped,
};
use counterfoil_core::{
    Scope,
    answer::Status,
    engine::{Attempt, Disposition},
    idempotency::IdempotencyKey,
};
use counterfoil_tower::{Body, BoxError, ConfirmLayer, KeyLayer};
use http::{HeaderValue, Request, Response};
use tower::{
    Layer, Service, ServiceExt, service_fn,
    util::{BoxCloneService, ServiceFn},
};

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

const OUTER: &str = "a-key-for-the-outer-one";
const INNER: &str = "a-key-for-the-inner-one";

type Layered = BoxCloneService<Request<Body>, Response<Body>, BoxError>;

/// A handler under a layer.
fn under<L, F, Fut>(layer: &L, handler: F) -> Layered
where
    L: Layer<ServiceFn<F>>,
    L::Service: Service<Request<Body>, Response = Response<Body>, Error = BoxError, Future: Send>
        + Clone
        + Send
        + 'static,
    F: Fn(Request<Body>) -> Fut,
    Fut: Future<Output = Result<Response<Body>, BoxError>>,
{
    BoxCloneService::new(layer.layer(service_fn(handler)))
}

/// An inner action under keys, which counts its runs.
fn fee(world: &World, runs: &Arc<AtomicUsize>) -> Layered {
    let gate = world
        .counterfoil
        .gate::<common::Transfer>(Scope::new("payments.fee"))
        .build()
        .unwrap();
    let runs = Arc::clone(runs);
    under(&KeyLayer::new(gate), move |request: Request<Body>| {
        runs.fetch_add(1, Ordering::SeqCst);
        let attempt = request.extensions().get::<Attempt>().cloned();
        async move {
            let attempt = attempt.expect("the layer adds it");
            assert_eq!(attempt.scope().as_str(), "payments.fee");
            response(200, "the fee")
        }
    })
}

/// A request that brings a key.
fn keyed(server: &Server) -> Request<Body> {
    let mut request = server.confirm("");
    request.headers_mut().remove("counterfoil-fingerprint");
    let key = HeaderValue::from_static(OUTER);
    request.headers_mut().insert("idempotency-key", key);
    request
}

async fn stands(world: &World, key: &str) -> (Status, String) {
    let key = IdempotencyKey::from_text(key).unwrap();
    let told = world.counterfoil.status_by_key(&agent(), &key).await;
    (told.status, told.operation_id.unwrap().to_string())
}

#[tokio::test]
async fn two_layers_for_keys_leave_two_right_records_where_each_has_its_key() {
    for protocol in BOTH {
        let (world, fees) = (World::new(), counter());
        let inner = fee(&world, &fees);
        let outer = under(&KeyLayer::new(world.gate.clone()), move |mut request| {
            let key = HeaderValue::from_static(INNER);
            request.headers_mut().insert("idempotency-key", key);
            let inner = inner.clone();
            async move {
                let fee = inner.oneshot(request).await?;
                assert_eq!(fee.headers()["counterfoil-status"], "completed");
                response(201, "the transfer")
            }
        });
        let server = Server::start(outer, protocol).await;
        let first = server.ask(keyed(&server)).await;
        assert_eq!(
            (first.head.status.as_u16(), first.word()),
            (201, "completed")
        );
        let again = server.ask(keyed(&server)).await;
        assert_eq!(again.word(), "already_completed");
        assert_eq!(again.body, b"the transfer");
        let [outer, inner] = [stands(&world, OUTER).await, stands(&world, INNER).await];
        assert_eq!(outer.0, Status::AlreadyCompleted);
        assert_eq!(inner.0, Status::AlreadyCompleted);
        assert_eq!(outer.1, again.header("counterfoil-operation-id"));
        assert_ne!(outer.1, inner.1);
        assert_eq!(count(&fees), 1);
    }
}

#[tokio::test]
async fn with_the_outer_ones_key_an_inner_layer_runs_nothing() {
    for protocol in BOTH {
        let (world, fees) = (World::new(), counter());
        let inner = fee(&world, &fees);
        let outer = under(&KeyLayer::new(world.gate.clone()), move |request| {
            let inner = inner.clone();
            async move {
                let attempt = request.extensions().get::<Attempt>().cloned();
                let fee = inner.oneshot(request).await?;
                assert_eq!(fee.headers()["counterfoil-status"], "key_reused");
                attempt
                    .expect("the layer adds it")
                    .declare(Disposition::NotExecuted);
                response(502, "no fee, and so nothing")
            }
        });
        let server = Server::start(outer, protocol).await;
        for _ in 0..2 {
            let told = server.ask(keyed(&server)).await;
            assert_eq!(
                (told.head.status.as_u16(), told.word()),
                (502, "not_executed")
            );
        }
        assert_eq!(stands(&world, OUTER).await.0, Status::NotExecuted);
        assert_eq!(count(&fees), 0);
    }
}

#[tokio::test]
async fn one_layer_twice_around_a_handler_runs_nothing_and_says_so() {
    for protocol in BOTH {
        let (world, runs) = (World::new(), counter());
        let counted = Arc::clone(&runs);
        let layer = KeyLayer::new(world.gate.clone());
        let inner = under(&layer, move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { response(201, "") }
        });
        let outer = under(&layer, move |request| inner.clone().oneshot(request));
        let server = Server::start(outer, protocol).await;
        let first = server.ask(keyed(&server)).await;
        // The inner one meets the run under way, which is its own.
        assert_eq!(first.head.status, 409);
        assert_eq!(first.json()["code"], "in_progress");
        let again = server.ask(keyed(&server)).await;
        assert_eq!(
            (again.head.status.as_u16(), again.word()),
            (409, "outcome_unknown")
        );
        assert_eq!(count(&runs), 0);
    }
}

#[tokio::test]
async fn a_layer_for_keys_inside_of_a_confirm_takes_its_own_credential_of_the_two() {
    for protocol in BOTH {
        let (world, fees) = (World::new(), counter());
        let inner = fee(&world, &fees);
        let outer = under(&world.layer(), move |request| {
            let inner = inner.clone();
            async move {
                let fee = inner.oneshot(request).await?;
                assert_eq!(fee.headers()["counterfoil-status"], "completed");
                response(201, "the transfer")
            }
        });
        let server = Server::start(outer, protocol).await;
        let fingerprint = world.fingerprint().await;
        let both = || {
            let mut request = server.confirm(&fingerprint);
            let key = HeaderValue::from_static(INNER);
            request.headers_mut().insert("idempotency-key", key);
            request
        };
        assert_eq!(server.ask(both()).await.word(), "completed");
        assert_eq!(server.ask(both()).await.word(), "already_completed");
        assert_eq!(stands(&world, INNER).await.0, Status::AlreadyCompleted);
        assert_eq!(world.status(&fingerprint).await, "already_completed");
        assert_eq!(count(&fees), 1);
    }
}
