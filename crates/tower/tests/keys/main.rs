//! Requests under idempotency keys.

#[path = "../common/mod.rs"]
mod common;
mod router;
mod running;
mod sent;
mod told;
mod wire;

use std::{
    sync::{Arc, atomic::AtomicUsize, atomic::Ordering},
    time::Duration,
};

use common::{BODY, Read, World, agent, count, counter, read, response};
use counterfoil_core::{
    Scope,
    answer::Wording,
    engine::{Attempt, Disposition, Gate, RawParams},
};
use counterfoil_tower::{Body, BoxError, CancelService, Form, KeyLayer, Replay, StatusService};
use http::{HeaderName, HeaderValue, Method, Request, Response, header, request};
use tower::{Layer, Service, ServiceExt, service_fn};

const KEY: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";
const OTHER: &str = "\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"";

fn layer(world: &World) -> KeyLayer {
    KeyLayer::new(world.gate.clone())
}

fn builder(method: Method, uri: &str) -> request::Builder {
    Request::builder()
        .method(method)
        .uri(uri)
        .extension(agent())
        .header("content-type", "application/json")
}

fn post(key: &str) -> Request<Body> {
    with_body(key, BODY)
}

fn with_body(key: &str, body: &'static str) -> Request<Body> {
    let request = builder(Method::POST, "/transfers").header("idempotency-key", key);
    request.body(Body::from(body)).unwrap()
}

/// A service whose handler counts its runs; `handler` makes the response.
fn service<F, Fut>(
    layer: &KeyLayer,
    runs: &Arc<AtomicUsize>,
    handler: F,
) -> impl Service<Request<Body>, Response = Response<Body>, Error = BoxError, Future: Send>
+ Clone
+ use<F, Fut>
where
    F: Fn(Request<Body>) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<Response<Body>, BoxError>> + Send + 'static,
{
    let runs = Arc::clone(runs);
    layer.layer(service_fn(move |request: Request<Body>| {
        runs.fetch_add(1, Ordering::SeqCst);
        handler(request)
    }))
}

async fn created(_: Request<Body>) -> Result<Response<Body>, BoxError> {
    let mut response = response(201, r#"{"id":"t-1"}"#)?;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::LOCATION, HeaderValue::from_static("/transfers/t-1"));
    headers.append("x-part", HeaderValue::from_static("a"));
    headers.append("x-part", HeaderValue::from_static("b"));
    Ok(response)
}

async fn send<S>(service: &S, request: Request<Body>) -> Read
where
    S: Service<Request<Body>, Response = Response<Body>, Error = BoxError> + Clone,
{
    read(service.clone().oneshot(request).await.unwrap()).await
}

/// Holds an error to its problem details.
#[track_caller]
fn assert_problem(told: &Read, http: u16, code: &str) {
    assert_eq!((told.status, told.word()), (http, code), "{told:?}");
    assert_eq!(told.header("content-type"), "application/problem+json");
    assert_eq!(told.header("cache-control"), "no-store");
    assert_eq!(told.header("idempotent-replayed"), "");
    let json = told.json();
    assert_eq!(json["type"], format!("/docs/problems.md#{code}"));
    assert_eq!(
        (&json["status"], &json["code"]),
        (&http.into(), &code.into())
    );
    for member in ["title", "detail", "executed"] {
        assert!(json[member].is_string(), "{member}: {json}");
    }
    assert!(json["retryable"].is_boolean(), "{json}");
    let id = told.header("counterfoil-operation-id");
    if id.is_empty() {
        assert!(json.get("instance").is_none(), "{json}");
    } else {
        assert_eq!(json["instance"], format!("urn:uuid:{id}"));
        assert_eq!(json["operation_id"], id);
    }
}
