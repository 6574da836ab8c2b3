//! A fingerprint as it is handed out.

use std::fmt;

use base64::Engine;
use sha2::{Digest, Sha256};

use super::{BASE64, Key, PREFIX, TAG_TEXT_LEN, Terms, payload::Payload};
use crate::{KeyId, OperationId};

/// A fingerprint to hand out.
///
/// The text leaves by [`as_str`](Self::as_str) or by serialization, both meant. There is no `Display`, and `Debug` shows
/// key id, operation id and a short digest, so that it gets into no log by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Fingerprint {
    text: String,
    key_id: KeyId,
    operation_id: OperationId,
}

impl Fingerprint {
    /// The text for the caller: at most [`MAX_LEN`](super::MAX_LEN) bytes of `A-Z a-z 0-9 . _ -`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key that signed it.
    #[must_use]
    pub const fn key_id(&self) -> &KeyId {
        &self.key_id
    }

    /// The operation that it names.
    #[must_use]
    pub const fn operation_id(&self) -> OperationId {
        self.operation_id
    }

    /// What stands for it in a log.
    #[must_use]
    pub fn digest(&self) -> ShortDigest {
        ShortDigest::of(self.text.as_bytes())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fingerprint")
            .field("key_id", &self.key_id)
            .field("operation_id", &format_args!("{}", self.operation_id))
            .field("digest", &self.digest())
            .finish_non_exhaustive()
    }
}

impl serde::Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// The first 32 bits of the SHA-256 of a fingerprint's text: enough to find a fingerprint again in a log, and nothing to
/// confirm with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShortDigest([u8; 4]);

impl ShortDigest {
    pub(super) fn of(text: &[u8]) -> Self {
        let [a, b, c, d, ..]: [u8; 32] = Sha256::digest(text).into();
        Self([a, b, c, d])
    }
}

/// Eight lower-case hex digits.
impl fmt::Display for ShortDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl fmt::Debug for ShortDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

pub(super) fn issue(key: &Key, terms: &Terms) -> Fingerprint {
    Fingerprint {
        text: seal(key, Payload::of(terms).as_bytes()),
        key_id: key.id().clone(),
        operation_id: terms.id(),
    }
}

/// The text over any payload. Tests seal bad ones with it.
pub(super) fn seal(key: &Key, payload: &[u8]) -> String {
    let payload_text_len = (payload.len() * 4).div_ceil(3);
    let key_id = key.id().as_str();
    let len = PREFIX.len() + key_id.len() + 1 + payload_text_len + 1 + TAG_TEXT_LEN;
    let mut text = String::with_capacity(len);
    text.push_str(PREFIX);
    text.push_str(key_id);
    text.push('.');
    BASE64.encode_string(payload, &mut text);
    let tag = key.tag(text.as_bytes());
    text.push('.');
    BASE64.encode_string(tag, &mut text);
    debug_assert_eq!(text.len(), len);
    text
}
