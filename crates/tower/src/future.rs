//! The future of a confirm.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::Response;

use crate::Body;

/// The response to a confirm, or to a request for a preview or a status.
///
/// Dropping it stops nothing that was claimed: the handler runs on, and its result is kept.
pub struct ResponseFuture<E>(
    Pin<Box<dyn Future<Output = Result<Response<Body>, E>> + Send + 'static>>,
);

impl<E> ResponseFuture<E> {
    pub(crate) fn new(
        future: impl Future<Output = Result<Response<Body>, E>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(future))
    }
}

impl<E> Future for ResponseFuture<E> {
    type Output = Result<Response<Body>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl<E> fmt::Debug for ResponseFuture<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
