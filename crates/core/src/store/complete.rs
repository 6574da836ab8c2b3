//! Complete, release and annotate: what an owner says of its run.

use std::{borrow::Cow, fmt};

use bytes::Bytes;

use crate::{Timestamp, lifecycle::Ending};

/// A result as a store keeps it: opaque bytes, and the name of their format.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct StoredResult {
    /// The format's name, such as `json` or `http/1`. At most 16 bytes.
    pub format: Cow<'static, str>,
    /// The bytes.
    pub bytes: Bytes,
}

impl StoredResult {
    /// A result in the format `json`.
    #[must_use]
    pub const fn json(bytes: Bytes) -> Self {
        Self {
            format: Cow::Borrowed("json"),
            bytes,
        }
    }
}

/// Shows the size, never the content.
impl fmt::Debug for StoredResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "StoredResult({}, {} bytes)",
            self.format,
            self.bytes.len()
        )
    }
}

/// How a run ended, or was handed on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Completion {
    /// It happened, or finally did not.
    Ended {
        /// Which of the two.
        ending: Ending,
        /// What every retry gets; `None` where it was too large to keep.
        result: Option<StoredResult>,
        /// The business document's number; `None` keeps what is on record.
        result_ref: Option<String>,
    },
    /// Handed to downstream; the receipt is outstanding.
    Accepted {
        /// When the receipt is overdue.
        deadline: Option<Timestamp>,
        /// What the first caller was told, such as a 202 with its body.
        result: Option<StoredResult>,
        /// The business document's number; `None` keeps what is on record.
        result_ref: Option<String>,
    },
    /// It may have happened or not.
    Unknown {
        /// Why, for the operator: one fixed sentence, no text from downstream.
        reason: String,
    },
}

/// A store's answer to complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completed {
    /// It stands as said.
    Completed,
    /// `failed` after a takeover: the operation is UNKNOWN, since an earlier attempt may have done it.
    InDoubt,
    /// Somebody else has the epoch, or it has ended otherwise. Nothing changed; the completion is kept as evidence.
    NotOwner,
}

/// A store's answer to release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Released {
    /// It is free for a later claim, which takes the next epoch.
    Released,
    /// After a takeover: the operation is UNKNOWN, since an earlier attempt may have done it.
    InDoubt,
    /// Somebody else has the epoch, or it has ended. Nothing changed.
    NotOwner,
}

/// What an owner notes while it runs; durable when the call returns.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Annotation {
    /// Downstream's reference; `None` keeps what is on record.
    pub provider_ref: Option<String>,
    /// The business document's number; `None` keeps what is on record.
    pub result_ref: Option<String>,
}

/// A store's answer to annotate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Annotated {
    /// It is on record.
    Annotated,
    /// Somebody else has the epoch, or the operation has ended.
    NotOwner,
}
