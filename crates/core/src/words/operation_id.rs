//! The name of one intended write.

use std::{fmt, str::FromStr};

use uuid::Uuid;

use super::Timestamp;

/// The name of one intended write, the same on every hop.
///
/// A UUIDv7 (RFC 9562, section 5.7): the time in front keeps an index in order and lets a table be partitioned by age.
/// The operation of an idempotency key has a UUIDv8 instead, derived from the key, which holds no time.
/// Both spellings are read, 32 hex digits and hyphenated; it is written hyphenated, in lower case.
///
/// ```
/// use counterfoil_core::{OperationId, Timestamp};
///
/// let id = OperationId::mint(Timestamp::from_unix_secs(1_700_000_000));
/// assert_eq!(id.to_string().parse::<OperationId>()?, id);
/// assert_eq!(id.simple().parse::<OperationId>()?, id);
/// assert_eq!(id.minted_at(), Some(Timestamp::from_unix_secs(1_700_000_000)));
/// # Ok::<(), counterfoil_core::InvalidOperationId>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(Uuid);

impl OperationId {
    /// A fresh id: the time from the server's clock, and 74 random bits.
    #[must_use]
    pub fn mint(now: Timestamp) -> Self {
        let random = crate::random::bytes::<10>();
        Self(uuid::Builder::from_unix_timestamp_millis(now.unix_ms(), &random).into_uuid())
    }

    /// A UUIDv8 (RFC 9562, section 5.8) of these bytes, but for the six bits that say so. The same bytes give the same id.
    pub(crate) fn derived(bytes: [u8; 16]) -> Self {
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// Whether it was derived, as an idempotency key's is, rather than minted.
    #[must_use]
    pub fn is_derived(&self) -> bool {
        self.0.get_version_num() == 8
    }

    /// From the 16 bytes of a UUID, as a store keeps them.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// The 16 bytes of the UUID.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// When it was minted, to the millisecond, by the minter's clock; `None` for an id that is no UUIDv7.
    #[must_use]
    pub fn minted_at(&self) -> Option<Timestamp> {
        if self.0.get_version_num() != 7 {
            return None;
        }
        let b = self.0.as_bytes();
        let ms = u64::from_be_bytes([0, 0, b[0], b[1], b[2], b[3], b[4], b[5]]);
        Some(Timestamp::from_unix_ms(ms))
    }

    /// 32 lower-case hex digits, as the fingerprint carries it.
    #[must_use]
    pub fn simple(&self) -> String {
        self.0.simple().to_string()
    }
}

/// Reads 32 hex digits or the hyphenated form, of either case; no braces, no `urn:` prefix, nothing around it.
impl FromStr for OperationId {
    type Err = InvalidOperationId;

    fn from_str(text: &str) -> Result<Self, InvalidOperationId> {
        // The UUID parser also takes braces and the URN form; those are copies of something else.
        let plain = match text.len() {
            32 => !text.contains('-'),
            36 => true,
            _ => false,
        };
        if !plain {
            return Err(InvalidOperationId);
        }
        Uuid::try_parse(text)
            .map(Self)
            .map_err(|_| InvalidOperationId)
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.hyphenated(), f)
    }
}

impl fmt::Debug for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.hyphenated(), f)
    }
}

impl serde::Serialize for OperationId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The text is not an operation id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an operation id has 32 hex digits, with or without the four hyphens of a UUID")]
pub struct InvalidOperationId;
