//! What is known after a store's call went wrong.

use std::{error::Error, fmt};

/// A store's call went wrong; [`kind`](Self::kind) says what is known of it.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: &'static str,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What is known after an error.
///
/// The difference between the first two decides whether a write is asked again or given up; a store that can't tell
/// says [`Indeterminate`](Self::Indeterminate).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// Surely not applied: refused, never sent, or rolled back.
    NotApplied,
    /// The reply was lost; it may have been applied. Ask again with the same owner.
    Indeterminate,
    /// A record stands and can't be read, or fails its authentication. Its outcome is unknown.
    Corrupt,
    /// The store has forgotten what it once knew: it can't say that there is no record. The outcome is unknown.
    Forgotten,
    /// The call asks for what this store does not do, or breaks the contract. Never worth repeating.
    Misuse,
}

impl StoreError {
    /// An error of a kind, with one fixed sentence. The text goes to logs: no ids, no params, no secrets in it.
    #[must_use]
    pub fn new(kind: StoreErrorKind, message: &'static str) -> Self {
        Self {
            kind,
            message,
            source: None,
        }
    }

    /// Keeps the error that this one came from.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What is known.
    #[must_use]
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Whether the same call, by the same owner, is worth sending again.
    #[must_use]
    pub const fn may_retry(&self) -> bool {
        matches!(
            self.kind,
            StoreErrorKind::NotApplied | StoreErrorKind::Indeterminate
        )
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}
