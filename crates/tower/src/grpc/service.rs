//! The service: reads and checks a call, then has a task of its own run it.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use counterfoil_core::engine::{Attempt, Outcome};
use http::{Request, Response};
use http_body::Body as HttpBody;
use tokio::sync::oneshot;
use tonic::server::NamedService;
use tower_service::Service;

use super::{
    capture::{Captured, Early, capture},
    deliver,
    guarded::{Guarded, Prepared},
    layer::Settings,
    meaning,
    methods::Found,
    read,
};
use crate::{
    Body, BoxError, ResponseFuture,
    inner::{pass, take_ready},
    run::{Left, Run},
};

/// A service in a [`GrpcLayer`](super::GrpcLayer). It has the name of the service inside, so that tonic's router finds it.
#[derive(Clone)]
pub struct GrpcConfirm<S> {
    inner: S,
    settings: Arc<Settings>,
}

impl<S> GrpcConfirm<S> {
    pub(super) fn new(inner: S, settings: Settings) -> Self {
        Self {
            inner,
            settings: Arc::new(settings),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for GrpcConfirm<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcConfirm")
            .field("methods", &self.settings.methods.paths())
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl<S: NamedService> NamedService for GrpcConfirm<S> {
    const NAME: &'static str = S::NAME;
}

impl<S, B, R> Service<Request<B>> for GrpcConfirm<S>
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
        let gate = match self.settings.methods.find(request.uri().path()) {
            Found::Guarded(gate) => Arc::clone(gate),
            Found::Misspelt(gate) => {
                let refused = deliver::misspelt(gate.wording());
                return ResponseFuture::new(async move { Ok(refused) });
            }
            Found::Other => return pass(ready, request),
        };
        let settings = Arc::clone(&self.settings);
        ResponseFuture::new(async move {
            let (mut parts, body) = request.into_parts();
            // Nothing is claimed in here: this part may be dropped.
            let call = match read::call(&settings.reading, &parts, body).await {
                Ok((subject, message)) => gate
                    .prepare(subject, &parts.headers, &parts.extensions, message)
                    .map_err(Into::into),
                Err(refusal) => Err(refusal),
            };
            match call {
                Err(refusal) => Ok(deliver::refusal(&refusal, gate.wording())),
                Ok(Prepared { body, run }) => {
                    read::settle_metadata(&mut parts.headers);
                    let request = Request::from_parts(parts, Body::from(body));
                    confirm(gate, run, request, ready).await
                }
            }
        })
    }
}

/// What the method left for its caller, or its error.
type Called<E> = Left<Result<Captured, E>>;

/// Runs the call, and waits for its end, or for a reply that is too large or too slow to be waited for.
async fn confirm<S, R>(
    gate: Arc<dyn Guarded>,
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
    let (tx, mut early) = oneshot::channel();
    let mut told = {
        let (gate, left) = (Arc::clone(&gate), left.clone());
        run(Box::new(move |attempt| {
            Box::pin(call(gate, attempt, request, ready, tx, left))
        }))
    };
    tokio::select! {
        biased;
        Ok(Early { response, reader }) = &mut early => {
            // The caller has the head. What follows is the run's to say, whoever reads it.
            tokio::spawn(async move {
                let told = told.await;
                let own = left.take().and_then(Result::ok);
                let trailers = deliver::trailers(&told, own, gate.wording());
                reader.send(http_body::Frame::trailers(trailers)).await;
            });
            Ok(response)
        }
        told = &mut told => match left.take() {
            // It goes on to the caller, and leaves the outcome unknown. Of a run that lost its epoch the record says more.
            Some(Err(error)) if told.own_response => Err(error),
            left => Ok(deliver::reply(&told, left.and_then(Result::ok), gate.wording())),
        },
    }
}

/// Calls the method, reads its reply, and says what it means.
async fn call<S, R>(
    gate: Arc<dyn Guarded>,
    attempt: Attempt,
    mut request: Request<Body>,
    mut ready: S,
    early: oneshot::Sender<Early>,
    left: Called<S::Error>,
) -> Outcome
where
    S: Service<Request<Body>, Response = Response<R>>,
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    request.extensions_mut().insert(attempt.clone());
    let limits = gate.limits();
    let called = match ready.call(request).await {
        Ok(response) => Ok(capture(response, limits, early, attempt.lease_lost()).await),
        Err(error) => Err(error),
    };
    let outcome = match &called {
        Err(_) => Outcome::Unknown("the method returned an error"),
        Ok(captured) => meaning::outcome(captured.code(), &attempt, gate.failures(), || {
            Some(captured.kept()?.within(limits.bytes)?.encode())
        }),
    };
    left.put(called);
    outcome
}
