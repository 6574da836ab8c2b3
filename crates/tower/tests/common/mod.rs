//! A gate over a store that counts, and bodies that misbehave. `server` puts them on a socket.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file takes what it needs"
)]

pub mod modes;
pub mod server;
pub mod stage;

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use counterfoil_core::{
    KeyId, Scope, Subject,
    engine::{Attempt, Counterfoil, Gate, GateBuilder},
    fingerprint::{Key, Keyring},
};
use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{Flaky, Method, TokioClock};
use counterfoil_tower::{Body, BoxError, ConfirmLayer};
use http::{HeaderMap, Request, Response};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Sleep;
use tower::{Layer, Service, ServiceExt, service_fn};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    pub amount: u64,
    pub payee: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memo: Option<String>,
}

pub const BODY: &str = r#"{"amount":10,"payee":"bob"}"#;

pub struct World {
    pub store: Flaky,
    pub counterfoil: Counterfoil,
    pub gate: Gate<Transfer>,
}

impl World {
    /// Store and engine on tokio's clock, so that a test may pause it.
    pub fn new() -> Self {
        Self::with(|gate| gate)
    }

    pub fn with(configure: impl FnOnce(GateBuilder<Transfer>) -> GateBuilder<Transfer>) -> Self {
        let clock = TokioClock::default();
        let store = Flaky::new(MemoryStore::with_clock(clock));
        let keys = Keyring::new(Key::random(KeyId::parse("k1").unwrap()));
        let counterfoil = Counterfoil::builder(store.clone(), keys)
            .with_clock(clock)
            .build()
            .unwrap();
        let gate = counterfoil.gate(Scope::new("payments.transfer"));
        let gate = configure(gate).build().unwrap();
        Self {
            store,
            counterfoil,
            gate,
        }
    }

    pub fn layer(&self) -> ConfirmLayer {
        ConfirmLayer::new(self.gate.clone())
    }

    /// A fingerprint for [`BODY`].
    pub async fn fingerprint(&self) -> String {
        self.fingerprint_for(BODY).await
    }

    pub async fn fingerprint_for(&self, body: &str) -> String {
        let params = self.gate.read(body.as_bytes()).unwrap();
        let preview = self.gate.preview(&agent(), &params).await.unwrap();
        preview.fingerprint.as_str().to_owned()
    }

    /// How often the store was asked for a claim or a record.
    pub fn asked(&self) -> usize {
        self.store.calls(Method::Acquire) + self.store.calls(Method::Find)
    }

    pub async fn status(&self, fingerprint: &str) -> String {
        let answer = self
            .counterfoil
            .status_by_fingerprint(&agent(), fingerprint.as_bytes())
            .await;
        answer.status.as_str().to_owned()
    }
}

pub fn agent() -> Subject {
    Subject::new("acme", "agent-7").unwrap()
}

/// A confirm of [`BODY`].
pub fn confirm(fingerprint: &str) -> Request<Body> {
    confirm_at("/confirm", fingerprint, BODY)
}

pub fn confirm_at(uri: &str, fingerprint: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post(uri)
        .extension(agent())
        .header("counterfoil-fingerprint", fingerprint)
        .header("content-type", "application/json")
        .body(body.into())
        .unwrap()
}

/// A response that was read whole.
#[derive(Debug)]
pub struct Read {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trailers: Option<HeaderMap>,
}

impl Read {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }

    /// The word in the header `Counterfoil-Status`.
    pub fn word(&self) -> &str {
        self.header("counterfoil-status")
    }
}

pub async fn read<B>(response: Response<B>) -> Read
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Debug,
{
    let (parts, body) = response.into_parts();
    let collected = body.collect().await.unwrap();
    let trailers = collected.trailers().cloned();
    Read {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: collected.to_bytes(),
        trailers,
    }
}

pub async fn send<S, B>(service: S, request: Request<Body>) -> Read
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Error: std::fmt::Debug,
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Debug,
{
    read(service.oneshot(request).await.unwrap()).await
}

/// A handler in the layer, which counts its runs.
pub fn wrapped<F, Fut, R>(
    layer: &ConfirmLayer,
    runs: &Arc<AtomicUsize>,
    handler: F,
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
        handler(attempt.expect("the layer adds it"), request)
    }))
}

pub fn counter() -> Arc<AtomicUsize> {
    Arc::default()
}

pub fn count(runs: &Arc<AtomicUsize>) -> usize {
    runs.load(Ordering::SeqCst)
}

pub fn response(status: u16, body: &'static str) -> Result<Response<Body>, BoxError> {
    Ok(Response::builder().status(status).body(Body::from(body))?)
}

/// What a [`Script`] does next.
pub enum Step {
    Data(Bytes),
    Trailers(HeaderMap),
    Wait(Duration),
    Fail,
    Hang,
    Panic,
}

/// A body that does as it is told.
#[derive(Default)]
pub struct Script {
    steps: VecDeque<Step>,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Script {
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            waiting: None,
        }
    }

    pub fn data(frames: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        Self::new(frames.into_iter().map(|frame| Step::Data(frame.into())))
    }
}

impl http_body::Body for Script {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(waiting) = &mut self.waiting {
            std::task::ready!(waiting.as_mut().poll(cx));
            self.waiting = None;
        }
        match self.steps.pop_front() {
            None => Poll::Ready(None),
            Some(Step::Data(data)) => Poll::Ready(Some(Ok(Frame::data(data)))),
            Some(Step::Trailers(trailers)) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            Some(Step::Fail) => Poll::Ready(Some(Err("the connection broke".into()))),
            Some(Step::Panic) => panic!("the body panics"),
            Some(Step::Hang) => {
                self.steps.push_front(Step::Hang);
                Poll::Pending
            }
            Some(Step::Wait(time)) => {
                self.waiting = Some(Box::pin(tokio::time::sleep(time)));
                self.poll_frame(cx)
            }
        }
    }
}

/// A body that says of its size, and of whether it has ended, what it is told to say, all the way.
pub struct Liar {
    pub says: SizeHint,
    pub ended: bool,
    pub body: Script,
}

impl Liar {
    pub fn exact(says: u64, body: Script) -> Self {
        Self {
            says: SizeHint::with_exact(says),
            ended: false,
            body,
        }
    }
}

impl http_body::Body for Liar {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn size_hint(&self) -> SizeHint {
        self.says
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }
}

/// A body of empty frames, always ready and without an end.
pub struct Empties;

impl http_body::Body for Empties {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::new()))))
    }
}
