//! The service: reads and checks a request, then has a task of its own run it.

use std::{
    fmt, mem,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use counterfoil_core::{
    answer::{Answer, Status},
    engine::{Outcome, Running},
};
use http::{HeaderName, Request, Response, header, request::Parts};
use http_body::Body as HttpBody;
use tokio::sync::oneshot;
use tower_service::Service;
use tracing::Instrument;

use super::{
    Settings,
    capture::{self, Captured},
    deliver,
    guarded::Prepared,
};
use crate::{Body, BoxError, ResponseFuture, headers, http_answer::Refusal};

/// A handler in a [`ConfirmLayer`](crate::ConfirmLayer) or a [`KeyLayer`](crate::KeyLayer).
///
/// Its response comes from a task of its own once the operation is claimed; an error of the handler goes on to the
/// caller, and leaves the outcome unknown.
#[derive(Clone)]
pub struct Confirm<S> {
    inner: S,
    layer: Arc<Settings>,
}

impl<S> Confirm<S> {
    pub(crate) fn new(inner: S, layer: Settings) -> Self {
        Self {
            inner,
            layer: Arc::new(layer),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for Confirm<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Confirm")
            .field("scope", &self.layer.gate.scope())
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl<S, B, R> Service<Request<B>> for Confirm<S>
where
    S: Service<Request<Body>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that was polled ready is the one that is called; the fresh clone is polled before its own call.
        let fresh = self.inner.clone();
        let mut ready = mem::replace(&mut self.inner, fresh);
        let layer = Arc::clone(&self.layer);
        if layer.passes_safe_methods && request.method().is_safe() {
            let mut request = request.map(Body::new);
            headers::hide_credentials(request.headers_mut());
            let response = ready.call(request);
            return ResponseFuture::new(async move { Ok(response.await?.map(Body::new)) });
        }
        ResponseFuture::new(async move {
            let (mut parts, body) = request.into_parts();
            // Nothing is claimed in here: this part may be dropped.
            match prepare(&layer, &mut parts, body).await {
                Err(refusal) => Ok(layer.rendering().refusal(&refusal)),
                Ok((prepared, bytes)) => {
                    let request = inner_request(parts, bytes);
                    confirm(layer, prepared, request, ready).await
                }
            }
        })
    }
}

/// All that comes before the claim, in the order of the checks.
async fn prepare<B>(
    layer: &Settings,
    parts: &mut Parts,
    body: B,
) -> Result<(Box<dyn Prepared>, Bytes), Refusal>
where
    B: HttpBody<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    let subject = layer.reading.subject(parts)?;
    layer.gate.look(parts)?;
    let bytes = layer.reading.body(parts, body).await?;
    let prepared = layer
        .gate
        .prepare(&layer.reading, parts, subject, &bytes)
        .await?;
    Ok((prepared, bytes))
}

/// What the handler gets: the request as it came, but for the encodings that its first caller would take. The stored
/// response must be readable by every later caller.
fn inner_request(mut parts: Parts, bytes: Bytes) -> Request<Body> {
    parts.headers.remove(header::ACCEPT_ENCODING);
    parts
        .headers
        .remove(HeaderName::from_static("grpc-accept-encoding"));
    headers::hide_credentials(&mut parts.headers);
    Request::from_parts(parts, Body::from(bytes))
}

/// Claims and runs in a task of its own, in the caller's span, and waits for what it hands over.
async fn confirm<S, R>(
    layer: Arc<Settings>,
    prepared: Box<dyn Prepared>,
    request: Request<Body>,
    ready: S,
) -> Result<Response<Body>, S::Error>
where
    S: Service<Request<Body>, Response = Response<R>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let (mut tx, rx) = oneshot::channel();
    let id = prepared.operation_id();
    let task_layer = Arc::clone(&layer);
    prepared.spawn(Box::new(move |prepared| {
        let rest = async move {
            let claimed = prepared.claim(Box::pin(tx.closed())).await;
            let response = run(&task_layer, claimed, request, ready).await;
            // The caller may be gone. What it was to be told is on record.
            drop(tx.send(response));
        };
        Box::pin(rest)
    }));
    rx.await.unwrap_or_else(|_| {
        // The task is gone without a word: the runtime ends, or we have a fault.
        let answer = Answer::new(Status::OutcomeUnknown).with_operation(id);
        Ok(layer.rendering().answer(&answer))
    })
}

async fn run<S, R>(
    layer: &Settings,
    claimed: Result<Running, Box<Answer>>,
    mut request: Request<Body>,
    ready: S,
) -> Result<Response<Body>, S::Error>
where
    S: Service<Request<Body>, Response = Response<R>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let running = match claimed {
        Ok(running) => running,
        Err(answer) => return Ok(layer.rendering().answer(&answer)),
    };
    request.extensions_mut().insert(running.attempt().clone());
    let limits = layer.limits;
    // A task of its own again: a panic ends it and not this one, and a handler that blocks stops no renewal.
    let handler = tokio::spawn(call(ready, request, limits).in_current_span());
    match handler.await {
        Ok(Ok(captured)) => {
            let rendering = layer.rendering();
            Ok(deliver::response(captured, running, layer.meanings, &rendering).await)
        }
        Ok(Err(error)) => {
            unknown(running, "the handler returned an error").await;
            Err(error)
        }
        Err(error) => {
            let reason = if error.is_panic() {
                "the handler panicked"
            } else {
                "the handler was aborted"
            };
            let answer = unknown(running, reason).await;
            Ok(layer.rendering().answer(&answer))
        }
    }
}

/// Calls the handler, and reads its response as far as it is kept.
async fn call<S, R>(
    mut ready: S,
    request: Request<Body>,
    limits: capture::Limits,
) -> Result<Captured, S::Error>
where
    S: Service<Request<Body>, Response = Response<R>>,
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let response = ready.call(request).await?;
    Ok(capture::capture(response, limits).await)
}

async fn unknown(running: Running, reason: &'static str) -> Answer {
    running.complete(Outcome::Unknown(reason)).await.answer
}
