//! From a caller's text to terms that a key of the ring has signed.

use base64::Engine;

use super::{
    BASE64, FingerprintError, InvalidCause, Keyring, MAX_LEN, PREFIX, ShortDigest, TAG_LEN,
    TAG_TEXT_LEN, Terms,
    payload::{self, Payload},
};
use crate::KeyId;

/// A fingerprint that a key of the ring has signed.
///
/// Nothing is said yet about who brought it: see [`Terms::check_caller`].
#[derive(Clone, Debug)]
pub struct Opened {
    terms: Terms,
    key_id: KeyId,
    digest: ShortDigest,
}

impl Opened {
    /// What it binds.
    #[must_use]
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// What it binds, to keep.
    #[must_use]
    pub fn into_terms(self) -> Terms {
        self.terms
    }

    /// The key that signed it.
    #[must_use]
    pub const fn key_id(&self) -> &KeyId {
        &self.key_id
    }

    /// What stands for it in a log.
    #[must_use]
    pub const fn digest(&self) -> ShortDigest {
        self.digest
    }
}

pub(super) fn open(ring: &Keyring, text: &[u8]) -> Result<Opened, FingerprintError> {
    let form = Form::read(text).ok_or(FingerprintError::Mistyped)?;

    // A key id that nobody knows costs a tag too: its answer and its time are those of a forgery.
    let key = ring.find(form.key_id);
    let genuine = key
        .unwrap_or_else(|| ring.signing())
        .verifies(form.signed, &form.tag);
    let key = key.ok_or(FingerprintError::Invalid(InvalidCause::UnknownKey))?;
    if !genuine {
        return Err(FingerprintError::Invalid(InvalidCause::Forged));
    }

    let terms = payload::read(form.payload())
        .filter(|terms| Payload::of(terms).as_bytes() == form.payload())
        .ok_or(FingerprintError::Invalid(InvalidCause::Unreadable))?;
    Ok(Opened {
        terms,
        key_id: key.id().clone(),
        digest: ShortDigest::of(text),
    })
}

/// The room that the decoder asks for, for the longest text there is.
const PAYLOAD_ROOM: usize = MAX_LEN.div_ceil(4) * 3;
const TAG_ROOM: usize = TAG_TEXT_LEN.div_ceil(4) * 3;

/// The parts of a text with the shape of a fingerprint. Nothing of it can be trusted.
struct Form<'t> {
    key_id: &'t str,
    /// Everything before the tag's dot.
    signed: &'t [u8],
    payload: [u8; PAYLOAD_ROOM],
    payload_len: usize,
    tag: [u8; TAG_LEN],
}

impl<'t> Form<'t> {
    fn read(text: &'t [u8]) -> Option<Self> {
        if text.len() > MAX_LEN {
            return None;
        }
        let mut parts = text
            .strip_prefix(PREFIX.as_bytes())?
            .split(|&byte| byte == b'.');
        let key_id = parts.next().filter(|id| is_key_id(id))?;
        let payload_text = parts.next().filter(|text| !text.is_empty())?;
        let tag_text = parts.next().filter(|text| text.len() == TAG_TEXT_LEN)?;
        if parts.next().is_some() {
            return None;
        }

        let mut payload = [0; PAYLOAD_ROOM];
        let payload_len = BASE64.decode_slice(payload_text, &mut payload).ok()?;
        let mut tag = [0; TAG_ROOM];
        let tag_len = BASE64.decode_slice(tag_text, &mut tag).ok()?;
        Some(Self {
            key_id: std::str::from_utf8(key_id).ok()?,
            signed: &text[..text.len() - TAG_TEXT_LEN - 1],
            payload,
            payload_len,
            tag: tag[..tag_len].try_into().ok()?,
        })
    }

    fn payload(&self) -> &[u8] {
        &self.payload[..self.payload_len]
    }
}

/// What [`KeyId::parse`] reads, without an allocation for every forgery.
fn is_key_id(id: &[u8]) -> bool {
    (1..=KeyId::MAX_LEN).contains(&id.len())
        && id
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}
