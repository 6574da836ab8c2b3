//! What a handler says of its run.

use bytes::Bytes;
use serde::Serialize;

use crate::store::StoredResult;

/// What a handler without HTTP returns. Not a `Result`: an error says nothing of whether it happened, and that has to
/// be said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It happened. The result is what every retry gets; `None` where it is too large to keep.
    Done(Option<StoredResult>),
    /// It did not happen, and that is final.
    Failed(Option<StoredResult>),
    /// It was handed to downstream; the receipt is outstanding.
    Accepted(Option<StoredResult>),
    /// This attempt did nothing; the same fingerprint may be confirmed again.
    NotExecuted,
    /// It may have happened or not. The reason is a fixed sentence for the operator.
    Unknown(&'static str),
}

impl Outcome {
    /// It happened, with a result as JSON. A result that can't be encoded is unknown: the effect is there.
    #[must_use]
    pub fn done<T: Serialize + ?Sized>(result: &T) -> Self {
        Self::encoded(result, Self::Done)
    }

    /// It did not happen, and that is final; with an explanation as JSON.
    #[must_use]
    pub fn failed<T: Serialize + ?Sized>(result: &T) -> Self {
        Self::encoded(result, Self::Failed)
    }

    /// It was handed on; with what the caller is told as JSON.
    #[must_use]
    pub fn accepted<T: Serialize + ?Sized>(result: &T) -> Self {
        Self::encoded(result, Self::Accepted)
    }

    fn encoded<T: Serialize + ?Sized>(
        result: &T,
        outcome: impl FnOnce(Option<StoredResult>) -> Self,
    ) -> Self {
        match serde_json::to_vec(result) {
            Ok(json) => outcome(Some(StoredResult::json(Bytes::from(json)))),
            Err(_) => Self::Unknown("the result could not be encoded"),
        }
    }

    /// The one word for it; `None` for an accepted one, which no declared word names.
    pub(super) const fn disposition(&self) -> Option<Disposition> {
        Some(match self {
            Self::Done(_) => Disposition::Done,
            Self::Failed(_) => Disposition::Failed,
            Self::NotExecuted => Disposition::NotExecuted,
            Self::Unknown(_) => Disposition::Unknown,
            Self::Accepted(_) => return None,
        })
    }
}

/// The handler's word, given through [`Attempt::declare`](super::Attempt::declare): the one way that works for
/// responses, for errors that carry no extension, and for closures alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Disposition {
    /// It happened.
    Done,
    /// It did not happen, and that is final.
    Failed,
    /// This attempt did nothing.
    NotExecuted,
    /// It may have happened or not.
    Unknown,
}
