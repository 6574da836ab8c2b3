//! Why a request did not go out, or what became of it.

use std::fmt;

use counterfoil_core::engine::LeaseLost;

use crate::BoxError;

/// A request to downstream has no response.
#[derive(Debug)]
#[non_exhaustive]
pub enum DownstreamError {
    /// The layer refused it: by this request nothing has left the process. Earlier tries of it may have.
    NotSent(NotSent),
    /// The error of the service inside, as it came: it says nothing of whether downstream got the request.
    Service(BoxError),
}

/// Why the layer refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSent {
    /// The request's extensions hold no [`DownstreamKey`](counterfoil_core::engine::DownstreamKey).
    NoKey,
    /// The lease of the key's run has lapsed or somebody else has the epoch: this attempt sends nothing more.
    LeaseLost(LeaseLost),
    /// The request has a header `Idempotency-Key` that this layer did not set.
    HeaderPresent,
}

impl DownstreamError {
    /// The refusal, if it is one. A retry policy does not send such a request again.
    #[must_use]
    pub const fn not_sent(&self) -> Option<NotSent> {
        match self {
            Self::NotSent(why) => Some(*why),
            Self::Service(_) => None,
        }
    }
}

impl fmt::Display for DownstreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSent(_) => "the request was not sent downstream",
            Self::Service(_) => "the request to downstream failed",
        })
    }
}

impl std::error::Error for DownstreamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotSent(why) => Some(why),
            Self::Service(error) => Some(&**error),
        }
    }
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKey => f.write_str(
                "its extensions hold no downstream key: put in the one of the attempt, and keep extensions where requests are copied",
            ),
            Self::LeaseLost(lost) => lost.fmt(f),
            Self::HeaderPresent => {
                f.write_str("it has an Idempotency-Key that is not the downstream key")
            }
        }
    }
}

impl std::error::Error for NotSent {}
