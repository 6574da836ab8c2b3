//! The one word that says what became of a call.

use std::fmt;

/// Defines [`Status`] with its words, so that no status can be missing from [`Status::ALL`] or lack a word.
macro_rules! statuses {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// What became of a call, in one word.
        ///
        /// Each has its meaning, its next step and its defaults; `docs/answers.md` has the table.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Status {
            $($(#[$doc])* $variant,)*
        }

        impl Status {
            /// Every status, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word in answers and headers.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

statuses! {
    /// The first run, where an envelope is asked for.
    Completed = "completed",
    /// The operation is done; this call ran nothing.
    AlreadyCompleted = "already_completed",
    /// The operation failed for good, and nothing happened.
    AlreadyFailed = "already_failed",
    /// Taken on and not ended yet.
    InProgress = "in_progress",
    /// It may have happened or not.
    OutcomeUnknown = "outcome_unknown",
    /// The status was asked, and there is no record: the fingerprint lives, or it is a key, of which a record may also have
    /// been dropped.
    NotStarted = "not_started",
    /// The params are not those that the fingerprint was issued for.
    ParamsChanged = "params_changed",
    /// The params can't be read, or break a rule.
    ParamsInvalid = "params_invalid",
    /// No record, and the fingerprint's life is over.
    FingerprintExpired = "fingerprint_expired",
    /// Not a fingerprint's shape, prefix or checksum: a copying error.
    FingerprintMistyped = "fingerprint_mistyped",
    /// Well-formed, and not one of ours for this subject and scope.
    FingerprintInvalid = "fingerprint_invalid",
    /// No fingerprint was sent.
    FingerprintRequired = "fingerprint_required",
    /// A person has to decide first.
    ApprovalRequired = "approval_required",
    /// A person refused.
    ApprovalDenied = "approval_denied",
    /// The approval's time ran out.
    ApprovalExpired = "approval_expired",
    /// Called off before it ran.
    Cancelled = "cancelled",
    /// An equal operation of the same subject is there: the repeat guard.
    PossibleDuplicate = "possible_duplicate",
    /// Another operation holds the same business key: the unique guard.
    AlreadyExists = "already_exists",
    /// Another operation holds the resource: the exclusive guard.
    ResourceBusy = "resource_busy",
    /// The resource is no longer at the expected version.
    VersionConflict = "version_conflict",
    /// The store that decides is out of reach.
    Unavailable = "unavailable",
    /// The last attempt did nothing.
    NotExecuted = "not_executed",
    /// No authenticated caller.
    Unauthenticated = "unauthenticated",
    /// The request's body is over the limit.
    BodyTooLarge = "body_too_large",
    /// The request's body didn't arrive in time.
    BodyTimeout = "body_timeout",
    /// Two credentials in one request that are not the same.
    CredentialsDiffer = "credentials_differ",
    /// More runs than the cap allows.
    OverCapacity = "over_capacity",
    /// No such operation of this caller.
    NotFound = "not_found",
    /// It can't be cancelled any more.
    TooLate = "too_late",
    /// The service doesn't offer this.
    NotImplemented = "not_implemented",
    /// No idempotency key was sent.
    KeyRequired = "key_required",
    /// What was sent is no idempotency key.
    KeyInvalid = "key_invalid",
    /// The key belongs to another request.
    KeyReused = "key_reused",
}

impl Status {
    /// Reads the word back.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|status| status.as_str() == word)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
