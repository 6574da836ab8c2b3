//! Why a fingerprint is refused.

/// A fingerprint is refused.
///
/// What a caller is told depends on the variant alone. The cause inside [`Invalid`](Self::Invalid) is for logs and
/// counters: telling a stranger which check failed tells him what to forge next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FingerprintError {
    /// The text is not a fingerprint: length, prefix, shape or base64url. The answer is `fingerprint_mistyped`, with the
    /// advice to copy it again.
    #[error("the text is not a fingerprint")]
    Mistyped,
    /// It has the shape of a fingerprint, and it is not good for this caller. The answer is `fingerprint_invalid`, the
    /// same for every cause, and a security event.
    #[error("the fingerprint is not valid")]
    Invalid(InvalidCause),
}

/// Why a fingerprint is not valid. For logs, never for callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidCause {
    /// No key of the ring has this id: dropped too early, or made up.
    UnknownKey,
    /// The tag is not the key's over this text.
    Forged,
    /// The tag is right, and the payload is not one that this version writes.
    Unreadable,
    /// Issued to another subject, or for another scope.
    Foreign,
}

/// The request's params are not those that the fingerprint binds. The answer is `params_changed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the params are not those that the fingerprint was issued for")]
pub struct ParamsChanged;
