//! Hash, owner, epoch and key id: what a claim is made of.

use std::fmt;

/// SHA-256 over the canonical form of the bound params, behind a domain prefix.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParamHash([u8; 32]);

impl ParamHash {
    /// From 32 bytes, as a store or a fingerprint keeps them.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The first eight hex digits: enough to tell two apart in a log.
impl fmt::Debug for ParamHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ParamHash(")?;
        for byte in &self.0[..4] {
            write!(f, "{byte:02x}")?;
        }
        f.write_str("…)")
    }
}

/// A fresh random id for one execution attempt: 128 bits, never used again.
///
/// An owner shared across attempts or restarts lets a dead attempt's copy claim for a living one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner([u8; 16]);

impl Owner {
    /// A fresh owner.
    #[must_use]
    pub fn mint() -> Self {
        Self(crate::random::bytes())
    }

    /// From 16 bytes, as a store keeps them.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owner(")?;
        for byte in &self.0[..4] {
            write!(f, "{byte:02x}")?;
        }
        f.write_str("…)")
    }
}

/// A fencing number: one higher each time another owner gets the operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(u64);

impl Epoch {
    /// Before the first claim.
    pub const NONE: Self = Self(0);
    /// The first owner's epoch.
    pub const FIRST: Self = Self(1);

    /// From a number, as a store keeps it.
    #[must_use]
    pub const fn from_u64(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The next owner's epoch.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epoch({})", self.0)
    }
}

/// The public name of a signing key: 1 to 16 characters of `A-Z a-z 0-9 _ -`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(Box<str>);

impl KeyId {
    /// The longest id, in bytes.
    pub const MAX_LEN: usize = 16;

    /// Reads a key id.
    ///
    /// # Errors
    ///
    /// [`InvalidKeyId`] if the text is empty, too long, or has another character.
    pub fn parse(text: &str) -> Result<Self, InvalidKeyId> {
        let fits = (1..=Self::MAX_LEN).contains(&text.len());
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        if fits && text.bytes().all(plain) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidKeyId)
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not a key id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key id has 1 to 16 characters of A-Z a-z 0-9 _ -")]
pub struct InvalidKeyId;
