//! The layer, and where it goes.

use tower_layer::Layer;

use super::DownstreamKeyed;

/// For clients: sets `Idempotency-Key` to the downstream key of the attempt that sends, and sends nothing without one, nor
/// after the lease of that attempt is lost.
///
/// The handler puts the [`DownstreamKey`](counterfoil_core::engine::DownstreamKey) into the request's extensions. A client
/// that is built once for the service, with this layer in it, then can't send a write without the key of its operation, or
/// with another one's: a request that comes without is an error, [`NotSent::NoKey`](super::NotSent::NoKey), at the first
/// try. So is one that brings an `Idempotency-Key` of its own, which is neither kept nor overwritten.
///
/// # Where it goes
///
/// **Inside of whatever sends again**, next to the client: then each try is asked whether the lease still runs. tower's
/// retry keeps the extensions where its policy's `clone_request` clones the whole request. Outside of it the header is the
/// same in each try too, but only the first is asked; where that can't be helped, put the layer in both places: a header
/// that the outer one set is good to the inner one. A client that sends again by itself, deeper than any layer, is not
/// asked between.
///
/// What was sent before the lease was lost can arrive after it. Only downstream can refuse that, by the epoch: see
/// [`grant`](counterfoil_core::grant).
///
/// ```
/// use counterfoil_core::engine::{Attempt, LeaseLost};
/// use counterfoil_tower::{BoxError, DownstreamError, DownstreamKeyLayer};
/// use http::{Request, Response};
/// use tower::{Service, ServiceBuilder, ServiceExt};
///
/// async fn pay<C>(attempt: &Attempt, client: C) -> Result<Response<String>, BoxError>
/// where
///     C: Service<Request<String>, Response = Response<String>, Error = BoxError>,
/// {
///     let request = Request::post("http://bank.internal/payments")
///         .extension(attempt.downstream_key()?)
///         .body(r#"{"amount":"10"}"#.to_owned())?;
///     // With a retry, it stands above this layer.
///     let client = ServiceBuilder::new().layer(DownstreamKeyLayer::new()).service(client);
///     Ok(client.oneshot(request).await?)
/// }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct DownstreamKeyLayer;

impl DownstreamKeyLayer {
    /// The layer.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for DownstreamKeyLayer {
    type Service = DownstreamKeyed<S>;

    fn layer(&self, inner: S) -> DownstreamKeyed<S> {
        DownstreamKeyed::new(inner)
    }
}
