//! The service: reads and checks a request, then has a task of its own run it.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use counterfoil_core::engine::{Attempt, Outcome};
use http::{HeaderName, Request, Response, header, request::Parts};
use http_body::Body as HttpBody;
use tower_service::Service;

use super::{
    Settings,
    capture::{Captured, capture},
    deliver,
};
use crate::{
    Body, BoxError, ResponseFuture, headers,
    http_answer::Refusal,
    inner::{pass, take_ready},
    run::{Left, Run},
};

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
        let ready = take_ready(&mut self.inner);
        let layer = Arc::clone(&self.layer);
        if layer.passes_safe_methods && request.method().is_safe() {
            return pass(ready, request);
        }
        ResponseFuture::new(async move {
            let (mut parts, body) = request.into_parts();
            // Nothing is claimed in here: this part may be dropped.
            match prepare(&layer, &mut parts, body).await {
                Err(refusal) => Ok(layer.rendering().refusal(&refusal)),
                Ok((run, bytes)) => {
                    let request = inner_request(parts, bytes);
                    confirm(layer, run, request, ready).await
                }
            }
        })
    }
}

/// All that comes before the claim, in the order of the checks.
async fn prepare<B>(layer: &Settings, parts: &mut Parts, body: B) -> Result<(Run, Bytes), Refusal>
where
    B: HttpBody<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    let subject = layer.reading.subject(parts)?;
    layer.gate.look(parts)?;
    let bytes = layer.reading.body(parts, body).await?;
    let run = layer
        .gate
        .prepare(&layer.reading, parts, subject, &bytes)
        .await?;
    Ok((run, bytes))
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

/// What the handler left for its caller, or its error.
type Called<E> = Left<Result<Captured, E>>;

/// Runs the request, and hands over what it comes to.
async fn confirm<S, R>(
    layer: Arc<Settings>,
    run: Run,
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
    let left = Called::<S::Error>::default();
    let told = {
        let (layer, left) = (Arc::clone(&layer), left.clone());
        run(Box::new(move |attempt| {
            Box::pin(call(layer, attempt, request, ready, left))
        }))
    };
    let told = told.await;
    match left.take() {
        // It goes on to the caller, and leaves the outcome unknown. Of a run that lost its epoch the record says more.
        Some(Err(error)) if told.own_response => Err(error),
        Some(Ok(captured)) => {
            let doubt = layer.meanings.doubt;
            Ok(deliver::response(
                captured,
                &told,
                doubt,
                &layer.rendering(),
            ))
        }
        Some(Err(_)) | None => Ok(layer.rendering().answer(&told.answer)),
    }
}

/// Calls the handler, reads its response as far as it is kept, and says what it means.
async fn call<S, R>(
    layer: Arc<Settings>,
    attempt: Attempt,
    mut request: Request<Body>,
    mut ready: S,
    left: Called<S::Error>,
) -> Outcome
where
    S: Service<Request<Body>, Response = Response<R>>,
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    request.extensions_mut().insert(attempt.clone());
    let called = match ready.call(request).await {
        Ok(response) => Ok(capture(response, layer.limits).await),
        Err(error) => Err(error),
    };
    let outcome = match &called {
        Err(_) => Outcome::Unknown("the handler returned an error"),
        Ok(captured) => deliver::outcome(captured, &attempt, layer.meanings),
    };
    left.put(called);
    outcome
}
