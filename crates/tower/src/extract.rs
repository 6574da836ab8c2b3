//! Extractors for axum's handlers.

use std::{fmt, ops::Deref, sync::Arc};

use axum::{extract::FromRequestParts, http::StatusCode};
use counterfoil_core::engine::Attempt;
use http::request::Parts;

/// The validated params: the very value that was hashed and confirmed.
///
/// A handler that reads the body again, by other rules, may see another value than the one that was agreed to. `P` is
/// the params type of the gate; a raw gate's is [`RawParams`](counterfoil_core::engine::RawParams).
///
/// Outside of a [`ConfirmLayer`](crate::ConfirmLayer), or with another type, it is refused with 500: the service is
/// wired wrongly. Under a layer whose `P` is another type that comes after the claim, and leaves the outcome unknown;
/// the first request in a test shows it.
///
/// ```
/// use std::sync::Arc;
/// use counterfoil_tower::{Confirmed, ThisAttempt};
///
/// struct Refund {
///     order: String,
/// }
///
/// async fn refund(ThisAttempt(attempt): ThisAttempt, Confirmed(refund): Confirmed<Refund>) -> String {
///     match attempt.downstream_key() {
///         Ok(key) => format!("refunded {} as {key}", refund.order),
///         Err(lost) => lost.to_string(),
///     }
/// }
/// # let _: axum::routing::MethodRouter = axum::routing::post(refund);
/// ```
pub struct Confirmed<P>(pub Arc<P>);

impl<P> Clone for Confirmed<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P> Deref for Confirmed<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.0
    }
}

/// Shows nothing of the params.
impl<P> fmt::Debug for Confirmed<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Confirmed").finish_non_exhaustive()
    }
}

impl<S: Sync, P: Send + Sync + 'static> FromRequestParts<S> for Confirmed<P> {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let params = attempt_of(parts)?.params();
        params.map(Self).ok_or((
            StatusCode::INTERNAL_SERVER_ERROR,
            "the gate around this handler has another params type",
        ))
    }
}

/// The handler's context.
///
/// Outside of a [`ConfirmLayer`](crate::ConfirmLayer) it is refused with 500: the service is wired wrongly.
#[derive(Clone, Debug)]
pub struct ThisAttempt(pub Attempt);

impl Deref for ThisAttempt {
    type Target = Attempt;

    fn deref(&self) -> &Attempt {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for ThisAttempt {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        attempt_of(parts).map(Self)
    }
}

fn attempt_of(parts: &Parts) -> Result<Attempt, (StatusCode, &'static str)> {
    parts.extensions.get::<Attempt>().cloned().ok_or((
        StatusCode::INTERNAL_SERVER_ERROR,
        "this handler is not inside a ConfirmLayer",
    ))
}
