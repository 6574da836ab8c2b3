//! gRPC: the layer over frames, and the helper inside a method.

#[path = "../common/mod.rs"]
mod common;
mod crowds;
mod inside;
mod paths;
mod running;
mod sent;
mod streams;
mod told;
mod wire;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::{BufMut, Bytes, BytesMut};
use common::{Script, Step, Transfer, World, agent, count, counter, read};
use counterfoil_core::{
    answer::{Answer, Status},
    engine::Attempt,
};
use counterfoil_tower::{
    Body, BoxError,
    grpc::{GrpcGate, GrpcLayer},
};
use http::{HeaderMap, HeaderValue, Request, Response};
use prost::Message;
use tonic::Code;
use tower::{Layer, Service, ServiceExt, service_fn};

const PATH: &str = "/payments.v1.Payments/Transfer";

/// What the method takes.
#[derive(Clone, PartialEq, Message)]
struct Order {
    #[prost(uint64, tag = "1")]
    amount: u64,
    #[prost(string, tag = "2")]
    payee: String,
}

fn order() -> Order {
    Order {
        amount: 10,
        payee: "bob".into(),
    }
}

fn transfer(order: Order) -> Result<Transfer, Answer> {
    if order.amount == 0 {
        return Err(Answer::new(Status::ParamsInvalid)
            .with_reason("invalid_value")
            .with_field("/amount"));
    }
    Ok(Transfer {
        amount: order.amount,
        payee: order.payee,
        memo: None,
    })
}

fn gate(world: &World) -> GrpcGate<Order, Transfer> {
    GrpcGate::new(world.gate.clone(), transfer)
}

fn layer(world: &World) -> GrpcLayer {
    GrpcLayer::new().with_method(PATH, gate(world))
}

fn frame(flag: u8, message: &[u8]) -> Bytes {
    let mut frame = BytesMut::new();
    frame.put_u8(flag);
    frame.put_u32(u32::try_from(message.len()).unwrap());
    frame.put_slice(message);
    frame.freeze()
}

/// A call with this body, and no credential yet.
fn call(body: impl Into<Body>) -> Request<Body> {
    Request::post(PATH)
        .extension(agent())
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(body.into())
        .unwrap()
}

/// A call with the order and a fingerprint.
fn confirm(fingerprint: &str) -> Request<Body> {
    let mut request = call(frame(0, &order().encode_to_vec()));
    let fingerprint = HeaderValue::try_from(fingerprint).unwrap();
    request
        .headers_mut()
        .insert("counterfoil-fingerprint", fingerprint);
    request
}

/// A reply as a client has it.
#[derive(Debug, PartialEq)]
struct Got {
    http: u16,
    metadata: HeaderMap,
    body: Bytes,
    trailers: Option<HeaderMap>,
}

impl Got {
    fn status(&self) -> Option<tonic::Status> {
        self.trailers
            .as_ref()
            .and_then(tonic::Status::from_header_map)
            .or_else(|| tonic::Status::from_header_map(&self.metadata))
    }

    fn code(&self) -> Code {
        self.status().expect("a final status").code()
    }

    /// The word in the metadata `counterfoil-status`, wherever that stands.
    fn word(&self) -> &str {
        let told = |map: &HeaderMap| map.get("counterfoil-status").cloned();
        let word = self
            .trailers
            .as_ref()
            .and_then(told)
            .or_else(|| told(&self.metadata));
        let status = word
            .as_ref()
            .and_then(|word| Status::parse(word.to_str().unwrap()));
        status.map_or("", Status::as_str)
    }

    fn info(&self) -> tonic_types::ErrorInfo {
        info(&self.status().expect("a final status"))
    }
}

fn info(status: &tonic::Status) -> tonic_types::ErrorInfo {
    use tonic_types::StatusExt;
    status.get_details_error_info().expect("an ErrorInfo")
}

async fn send<S>(service: S, request: Request<Body>) -> Got
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Error: std::fmt::Debug,
{
    let read = read(service.oneshot(request).await.unwrap()).await;
    Got {
        http: read.status,
        metadata: read.headers,
        body: read.body,
        trailers: read.trailers,
    }
}

/// A method in the layer, which counts its runs.
fn wrapped<F, Fut, R>(
    layer: &GrpcLayer,
    runs: &Arc<AtomicUsize>,
    method: F,
) -> impl Service<Request<Body>, Response = Response<Body>, Error = BoxError, Future: Send + 'static>
+ Clone
+ Send
+ use<F, Fut, R>
where
    F: Fn(Attempt, Request<Body>) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<Response<R>, BoxError>> + Send + 'static,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let runs = Arc::clone(runs);
    layer.layer(service_fn(move |request: Request<Body>| {
        runs.fetch_add(1, Ordering::SeqCst);
        let attempt = request.extensions().get::<Attempt>().cloned();
        method(attempt.expect("the layer adds it"), request)
    }))
}

/// A reply of these messages, and a final status after them.
fn reply(messages: &[&str]) -> Response<Script> {
    let mut steps = frames(messages);
    steps.push(Step::Trailers(ok()));
    scripted(steps)
}

fn frames(messages: &[&str]) -> Vec<Step> {
    let message = |text: &&str| Step::Data(frame(0, &(*text).to_owned().encode_to_vec()));
    messages.iter().map(message).collect()
}

fn scripted(steps: Vec<Step>) -> Response<Script> {
    Response::builder()
        .header("content-type", "application/grpc")
        .header("x-receipt", "r-1")
        .body(Script::new(steps))
        .unwrap()
}

fn ok() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    trailers.insert("x-sum-bin", HeaderValue::from_static("AP8"));
    trailers
}

/// A status in trailers alone.
fn failure(status: tonic::Status) -> Response<Script> {
    status.into_http()
}
