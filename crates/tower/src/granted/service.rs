//! The service: checks, then hands on.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use tower_service::Service;

use super::{check::check, layer::Settings};
use crate::{
    Body, BoxError, ResponseFuture, headers,
    inner::{pass, take_ready},
};

/// A service in a [`GrantLayer`](super::GrantLayer).
#[derive(Clone)]
pub struct GrantChecked<S> {
    inner: S,
    settings: Arc<Settings>,
}

impl<S> GrantChecked<S> {
    pub(super) fn new(inner: S, settings: Settings) -> Self {
        Self {
            inner,
            settings: Arc::new(settings),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for GrantChecked<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrantChecked")
            .field("audience", &self.settings.audience)
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl<S, B, R> Service<Request<B>> for GrantChecked<S>
where
    S: Service<Request<Body>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send + 'static,
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
        let mut ready = take_ready(&mut self.inner);
        if request.method().is_safe() {
            return pass(ready, request);
        }
        let settings = Arc::clone(&self.settings);
        ResponseFuture::new(async move {
            let (mut parts, body) = request.into_parts();
            let (granted, bytes) = match check(&settings, &mut parts, body).await {
                Ok(passed) => passed,
                Err(refused) => return Ok(refused.response(&settings)),
            };
            headers::hide_credentials(&mut parts.headers);
            parts.extensions.insert(granted);
            let request = Request::from_parts(parts, Body::from(bytes));
            Ok(ready.call(request).await?.map(Body::new))
        })
    }
}
