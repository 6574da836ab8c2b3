//! Why a grant is refused.

/// A grant is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// The text is not a grant: length, prefix, shape or base64url.
    #[error("the text is not a grant")]
    Mistyped,
    /// It has the shape of a grant, and no key of this service vouches for it. The cause is for logs: telling a stranger
    /// which check failed tells him what to forge next.
    #[error("the grant is not valid")]
    Invalid(InvalidGrant),
    /// Its time is over, by this service's clock.
    #[error("the grant has expired")]
    Expired,
    /// It is good for longer than a grant may be, by this service's clock: the two clocks are far apart.
    #[error("the grant ends later than a grant may: the clocks are far apart")]
    EndsTooLate,
    /// It is for another service.
    #[error("the grant is for another service")]
    OtherAudience,
    /// It is for another method, path or query.
    #[error("the grant is for another method, path or query")]
    OtherRequest,
    /// It is for another body.
    #[error("the grant is for another body")]
    OtherBody,
}

/// Why a grant is not valid. For logs, never for callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidGrant {
    /// No key has this id: dropped too early, or made up.
    UnknownKey,
    /// The tag is not the key's over this text.
    Forged,
    /// The tag is right, and the payload is not one that this version writes.
    Unreadable,
}
