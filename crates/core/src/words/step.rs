//! The name of one sub-step of an operation, and the key that it has downstream.

use std::{borrow::Cow, fmt};

use sha2::{Digest, Sha256};

use super::OperationId;
use crate::params::hash_part;

/// The name of one sub-step of an operation, such as `refund`: 1 to 64 characters of `a-z 0-9 . _ -`.
///
/// An operation that makes several writes downstream names each of them, and each has a key of its own. Like a
/// [`Scope`](crate::Scope), a name is written down once: a refactoring that changed it would change the key, and a retry
/// would make the write again.
///
/// ```
/// use counterfoil_core::{OperationId, Step};
///
/// const REFUND: Step = Step::new("refund");
/// let operation: OperationId = "018bcfe5-6800-7abc-9def-0123456789ab".parse()?;
/// assert_eq!(operation.step(&REFUND).to_string(), "3c00430f-b654-8594-99a3-5ca1ccac1294");
/// assert!(Step::parse("Refund #2").is_err());
/// # Ok::<(), counterfoil_core::InvalidOperationId>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step(Cow<'static, str>);

/// What a step's key is the digest of, by name and version.
const DOMAIN: &[u8] = b"counterfoil/downstream-step/v1";

impl Step {
    /// The longest name, in bytes.
    pub const MAX_LEN: usize = 64;

    /// A step known when the program is written.
    ///
    /// # Panics
    ///
    /// On a name that [`Step::parse`] refuses; in a `const` that is a compile error.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        assert!(
            is_valid(name.as_bytes()),
            "a step has 1 to 64 characters of a-z 0-9 . _ -"
        );
        Self(Cow::Borrowed(name))
    }

    /// A step whose name is made while the program runs, such as `line.3`. It must be the same at every retry.
    ///
    /// # Errors
    ///
    /// [`InvalidStep::Name`] if the name is empty, too long, or has another character.
    pub fn parse(name: &str) -> Result<Self, InvalidStep> {
        if is_valid(name.as_bytes()) {
            Ok(Self(Cow::Owned(name.to_owned())))
        } else {
            Err(InvalidStep::Name)
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl OperationId {
    /// The key of a named sub-step: a UUIDv8 (RFC 9562, section 5.8) of the SHA-256 over a domain, this id's 16 bytes and
    /// the step's name, each with its length. The same id and name give the same key, always; another name gives another
    /// one, but for a collision of 122 bits of SHA-256. `docs/spec/downstream-key.md` says it for other languages.
    #[must_use]
    pub fn step(&self, step: &Step) -> Self {
        let mut hasher = Sha256::new();
        for part in [DOMAIN, self.as_bytes(), step.as_str().as_bytes()] {
            hash_part(&mut hasher, part);
        }
        let digest: [u8; 32] = hasher.finalize().into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self::derived(bytes)
    }
}

const fn is_valid(name: &[u8]) -> bool {
    if name.is_empty() || name.len() > Step::MAX_LEN {
        return false;
    }
    let mut i = 0;
    while i < name.len() {
        if !matches!(name[i], b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-') {
            return false;
        }
        i += 1;
    }
    true
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// There is no key for this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidStep {
    /// The name is empty, too long, or has another character.
    #[error("a step has 1 to 64 characters of a-z 0-9 . _ -")]
    Name,
    /// The key is a step's already.
    #[error(
        "a step has no steps of its own: name them all at the operation's key, such as pay.fee"
    )]
    OfAStep,
}

#[cfg(test)]
mod tests;
