//! What the path says: its values, and the whole of it as it was sent.

use std::{fmt, sync::Arc};

use counterfoil_core::answer::Answer;
use http::{Uri, request::Parts};

type Read = Arc<dyn Fn(&Parts) -> Vec<(String, String)> + Send + Sync>;

/// Where the values of path parameters come from.
#[derive(Clone, Default)]
pub(super) enum PathValues {
    /// From what axum's router left; without the feature `axum`, none.
    #[default]
    Router,
    /// From the service's own function.
    Custom(Read),
}

impl PathValues {
    pub(super) fn custom(
        read: impl Fn(&Parts) -> Vec<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        Self::Custom(Arc::new(read))
    }

    pub(super) async fn read(&self, parts: &mut Parts) -> Result<Vec<(String, String)>, Answer> {
        match self {
            Self::Custom(read) => Ok(read(parts)),
            Self::Router => of_router(parts).await,
        }
    }
}

impl fmt::Debug for PathValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Router => "the router's",
            Self::Custom(_) => "the service's own",
        })
    }
}

#[cfg(feature = "axum")]
async fn of_router(parts: &mut Parts) -> Result<Vec<(String, String)>, Answer> {
    use axum::extract::{
        FromRequestParts, RawPathParams, rejection::RawPathParamsRejection as Rejection,
    };

    match RawPathParams::from_request_parts(parts, &()).await {
        Ok(params) => Ok(params
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()),
        // Outside of a router, or on a route without parameters.
        Err(Rejection::MissingPathParams(_)) => Ok(Vec::new()),
        // Not UTF-8, or what a later version may refuse.
        Err(_) => Err(super::malformed("path")),
    }
}

/// The request's target as it was sent. A nested router of axum hands on the rest of the path alone: `/accounts/a/limit`
/// and `/accounts/b/limit` would be one request under one key.
#[cfg(feature = "axum")]
pub(super) fn sent(parts: &Parts) -> Uri {
    use axum::extract::OriginalUri;

    let original = parts.extensions.get::<OriginalUri>();
    original.map_or_else(|| parts.uri.clone(), |OriginalUri(uri)| uri.clone())
}

#[cfg(not(feature = "axum"))]
pub(super) fn sent(parts: &Parts) -> Uri {
    parts.uri.clone()
}

#[cfg(not(feature = "axum"))]
async fn of_router(_: &mut Parts) -> Result<Vec<(String, String)>, Answer> {
    Ok(Vec::new())
}
