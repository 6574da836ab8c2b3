//! The service: checks, sets the header, sends.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use counterfoil_core::{OperationId, engine::DownstreamKey};
use http::{Extensions, HeaderMap, HeaderValue, Request};
use pin_project_lite::pin_project;
use tower_service::Service;

use super::{DownstreamError, NotSent};
use crate::{BoxError, headers};

/// A client in a [`DownstreamKeyLayer`](super::DownstreamKeyLayer).
#[derive(Clone, Debug)]
pub struct DownstreamKeyed<S> {
    inner: S,
}

impl<S> DownstreamKeyed<S> {
    pub(super) const fn new(inner: S) -> Self {
        Self { inner }
    }
}

/// In a request's extensions: the layer set the header to this key.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SetByUs(OperationId);

impl<S, B> Service<Request<B>> for DownstreamKeyed<S>
where
    S: Service<Request<B>>,
    S::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = DownstreamError;
    type Future = DownstreamFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), DownstreamError>> {
        let ready = self.inner.poll_ready(cx);
        ready.map_err(|error| DownstreamError::Service(error.into()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        // Before the service inside is called: it may send within that call.
        match set(&mut request) {
            Ok(()) => DownstreamFuture {
                state: State::Sent {
                    future: self.inner.call(request),
                },
            },
            Err(why) => DownstreamFuture {
                state: State::Refused { why },
            },
        }
    }
}

fn set<B>(request: &mut Request<B>) -> Result<(), NotSent> {
    let key = request.extensions().get::<DownstreamKey>().cloned();
    let key = key.ok_or(NotSent::NoKey)?;
    key.check_lease().map_err(NotSent::LeaseLost)?;
    if request.headers().contains_key(headers::IDEMPOTENCY_KEY) {
        return if is_ours(request.headers(), request.extensions(), &key) {
            Ok(())
        } else {
            Err(NotSent::HeaderPresent)
        };
    }
    request
        .headers_mut()
        .insert(headers::IDEMPOTENCY_KEY, value_of(&key));
    request.extensions_mut().insert(SetByUs(key.id()));
    Ok(())
}

/// The key as it is sent: no quotes, as most providers take it.
pub(super) fn value_of(key: &DownstreamKey) -> HeaderValue {
    let value = HeaderValue::try_from(key.to_string());
    value.expect("hex digits and hyphens make a header value")
}

/// Whether the same layer further out set it, to this key, and nobody touched it since.
fn is_ours(headers: &HeaderMap, extensions: &Extensions, key: &DownstreamKey) -> bool {
    let mut values = headers.get_all(headers::IDEMPOTENCY_KEY).iter();
    extensions.get() == Some(&SetByUs(key.id()))
        && values
            .next()
            .is_some_and(|value| *value == *key.to_string())
        && values.next().is_none()
}

pin_project! {
    /// The response to a request that went downstream, or why it did not.
    ///
    /// Dropping it drops the future of the service inside, whatever that has sent by then: the outcome is not known.
    pub struct DownstreamFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = Projected]
    enum State<F> {
        Refused { why: NotSent },
        Sent { #[pin] future: F },
    }
}

impl<F, R, E> Future for DownstreamFuture<F>
where
    F: Future<Output = Result<R, E>>,
    E: Into<BoxError>,
{
    type Output = Result<R, DownstreamError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            Projected::Refused { why } => Poll::Ready(Err(DownstreamError::NotSent(*why))),
            Projected::Sent { future } => future
                .poll(cx)
                .map_err(|error| DownstreamError::Service(error.into())),
        }
    }
}

impl<F> fmt::Debug for DownstreamFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DownstreamFuture").finish_non_exhaustive()
    }
}
