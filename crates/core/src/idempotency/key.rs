//! The key itself.

use std::fmt;

use sha2::{Digest, Sha256};

use super::header;
use crate::{OperationId, Subject, params::hash_part};

/// A key that names one operation of its subject: 1 to 255 characters of printable ASCII, compared byte for byte.
///
/// Which keys a gate takes is for its [`KeyRules`](super::KeyRules) to say. `Debug` shows a short digest: a key is
/// often all that a caller needs to get a result.
///
/// ```
/// use counterfoil_core::{Subject, idempotency::IdempotencyKey};
///
/// let bare = IdempotencyKey::from_header(b"8e03978e-40d5-43dd-bc93-6894a57f9324")?;
/// let quoted = IdempotencyKey::from_header(b"\"8e03978e-40d5-43dd-bc93-6894a57f9324\"")?;
/// assert_eq!(bare, quoted);
///
/// let client = Subject::new("acme", "billing").expect("a subject");
/// assert_eq!(bare.operation_id(&client), quoted.operation_id(&client));
/// # Ok::<(), counterfoil_core::idempotency::InvalidKey>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(Box<str>);

/// What was sent is no key, or none that the gate takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// Nothing stands there.
    #[error("the key is empty")]
    Empty,
    /// A character outside of ASCII.
    #[error("a key has no character outside of ASCII")]
    NotAscii,
    /// A control character, such as NUL, a tab or 0x1F.
    #[error("a key has no control character")]
    ControlCharacter,
    /// More than one key in one header field.
    #[error("the field holds a list, and there is one key for a request")]
    List,
    /// Parameters behind the key.
    #[error("the key has parameters, which mean nothing here")]
    Parameters,
    /// Neither a structured-field string nor a bare key.
    #[error("the field is neither a string in quotes nor a bare key")]
    Syntax,
    /// Over [`IdempotencyKey::MAX_LEN`].
    #[error("a key has at most 255 characters")]
    TooLong,
    /// Under the gate's shortest key.
    #[error("the key is shorter than the service takes")]
    TooShort,
    /// The gate takes UUIDv7 only.
    #[error("the service takes UUIDv7 only")]
    NotUuidV7,
    /// Its time is over, and no record stands.
    #[error("the key is older than the service takes")]
    TooOld,
    /// Its time is yet to come.
    #[error("the key's time lies ahead of the service's clock")]
    AheadOfTime,
    /// Two header fields.
    #[error("the key is given twice")]
    GivenTwice,
    /// A body's member that is no string.
    #[error("the key is not a string")]
    WrongType,
}

impl InvalidKey {
    /// Every one.
    pub const ALL: &'static [Self] = &[
        Self::Empty,
        Self::NotAscii,
        Self::ControlCharacter,
        Self::List,
        Self::Parameters,
        Self::Syntax,
        Self::TooLong,
        Self::TooShort,
        Self::NotUuidV7,
        Self::TooOld,
        Self::AheadOfTime,
        Self::GivenTwice,
        Self::WrongType,
    ];

    /// The fault in one word, as an answer's `reason` has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NotAscii => "not_ascii",
            Self::ControlCharacter => "control_character",
            Self::List => "list",
            Self::Parameters => "parameters",
            Self::Syntax => "syntax",
            Self::TooLong => "too_long",
            Self::TooShort => "too_short",
            Self::NotUuidV7 => "not_uuid_v7",
            Self::TooOld => "too_old",
            Self::AheadOfTime => "ahead_of_time",
            Self::GivenTwice => "given_twice",
            Self::WrongType => "wrong_type",
        }
    }
}

/// What the operation id is the digest of, by name and version.
const DOMAIN: &[u8] = b"counterfoil/idempotency-key/v1";

impl IdempotencyKey {
    /// The longest key, in characters.
    pub const MAX_LEN: usize = 255;

    /// Reads the header field `Idempotency-Key`: a structured-field string in quotes (RFC 9651, section 3.3.3), as
    /// draft-ietf-httpapi-idempotency-key-header has it, or a bare key.
    ///
    /// A value that begins with a quote is the former. A bare key has letters, digits and ``!#$%&'*+-.^_`|~/:=`` only
    /// and does not begin with a colon, so that no list, no parameters and no other type of structured fields is one. A bare
    /// key and the same text in quotes are one key.
    ///
    /// # Errors
    ///
    /// The first [`InvalidKey`].
    pub fn from_header(value: &[u8]) -> Result<Self, InvalidKey> {
        check_characters(value)?;
        let text = header::read(value)?;
        Self::from_text(&text)
    }

    /// Takes a text as it is, such as a member of a body. A quote in it is a character of the key.
    ///
    /// # Errors
    ///
    /// The first [`InvalidKey`].
    pub fn from_text(text: &str) -> Result<Self, InvalidKey> {
        check_characters(text.as_bytes())?;
        if text.len() > Self::MAX_LEN {
            return Err(InvalidKey::TooLong);
        }
        Ok(Self(text.into()))
    }

    /// The key, without quotes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The operation that this key names for its subject: a UUIDv8 (RFC 9562, section 5.8) of the SHA-256 over tenant,
    /// principal and key, each with its length. Another subject's same key is another operation.
    #[must_use]
    pub fn operation_id(&self, subject: &Subject) -> OperationId {
        let mut hasher = Sha256::new();
        for part in [
            DOMAIN,
            subject.tenant().as_bytes(),
            subject.principal().as_bytes(),
            self.0.as_bytes(),
        ] {
            hash_part(&mut hasher, part);
        }
        let digest: [u8; 32] = hasher.finalize().into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        OperationId::derived(bytes)
    }

    /// The first eight hex digits of its SHA-256: what stands for it in a log.
    fn digest(&self) -> String {
        let digest = Sha256::digest(self.0.as_bytes());
        digest[..4]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

fn check_characters(bytes: &[u8]) -> Result<(), InvalidKey> {
    if bytes.is_empty() {
        Err(InvalidKey::Empty)
    } else if !bytes.is_ascii() {
        Err(InvalidKey::NotAscii)
    } else if bytes.iter().any(u8::is_ascii_control) {
        Err(InvalidKey::ControlCharacter)
    } else {
        Ok(())
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdempotencyKey({}…)", self.digest())
    }
}
