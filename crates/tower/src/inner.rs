//! The service inside of a layer.

use std::mem;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use tower_service::Service;

use crate::{Body, BoxError, ResponseFuture, headers};

/// The one that was polled ready is the one that is called; the fresh clone is polled before its own call.
pub(crate) fn take_ready<S: Clone>(inner: &mut S) -> S {
    let fresh = inner.clone();
    mem::replace(inner, fresh)
}

/// A request that no gate looks at.
pub(crate) fn pass<S, B, R>(mut ready: S, request: Request<B>) -> ResponseFuture<S::Error>
where
    S: Service<Request<Body>, Response = Response<R>>,
    S::Future: Send + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let mut request = request.map(Body::new);
    headers::hide_credentials(request.headers_mut());
    let response = ready.call(request);
    ResponseFuture::new(async move { Ok(response.await?.map(Body::new)) })
}
