//! The same for handlers whose client is reqwest, which has no tower layers for its requests.
//!
//! Each call is asked once, when it is sent. A retry of reqwest's own, which it makes by default only where the server has
//! said that it took nothing, is not asked again. For retries of your own, build the request anew and call [`send`] again:
//! the key is the same.

use counterfoil_core::engine::DownstreamKey;

use super::{DownstreamError, NotSent, service::value_of};
use crate::headers;

/// Sends a request under a downstream key: the header `Idempotency-Key` is the key's, and nothing is sent once the lease of
/// its run is lost.
///
/// ```
/// use counterfoil_core::engine::Attempt;
/// use counterfoil_tower::{BoxError, reqwest::send};
/// use reqwest::{Client, Response};
///
/// async fn pay(attempt: &Attempt, client: &Client) -> Result<Response, BoxError> {
///     let key = attempt.downstream_key()?;
///     Ok(send(client.post("http://bank.internal/payments").body("{}"), &key).await?)
/// }
/// ```
///
/// Cancellation: once it was polled, downstream may have the request.
///
/// # Errors
///
/// [`DownstreamError::NotSent`] if the lease is lost or the request has an `Idempotency-Key` already; else reqwest's, as
/// [`DownstreamError::Service`], which says nothing of whether downstream got it.
pub async fn send(
    request: reqwest::RequestBuilder,
    key: &DownstreamKey,
) -> Result<reqwest::Response, DownstreamError> {
    let failed = |error: reqwest::Error| DownstreamError::Service(error.into());
    let (client, request) = request.build_split();
    let mut request = request.map_err(failed)?;
    set_key(&mut request, key).map_err(DownstreamError::NotSent)?;
    client.execute(request).await.map_err(failed)
}

/// Sets the header on a request that is sent by other means, right away: between this and the sending nobody asks for the
/// lease.
///
/// # Errors
///
/// [`NotSent::LeaseLost`], or [`NotSent::HeaderPresent`] if the request has the header already, with whatever value.
pub fn set_key(request: &mut reqwest::Request, key: &DownstreamKey) -> Result<(), NotSent> {
    if request.headers().contains_key(headers::IDEMPOTENCY_KEY) {
        return Err(NotSent::HeaderPresent);
    }
    key.check_lease().map_err(NotSent::LeaseLost)?;
    request
        .headers_mut()
        .insert(headers::IDEMPOTENCY_KEY, value_of(key));
    Ok(())
}
