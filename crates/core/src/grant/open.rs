//! From a header's text to terms that a key has signed, and their checks.

use base64::Engine;

use super::{
    Audience, BASE64, GrantError, GrantKeys, GrantTerms, InvalidGrant, MAX_LEN, PREFIX, TAG_LEN,
    TAG_TEXT_LEN, payload,
    terms::{body_digest, line_digest},
};
use crate::{KeyId, Timestamp};

/// A grant that a key has signed. Nothing is said yet about the request that it came with.
#[derive(Clone, Debug)]
pub struct OpenedGrant {
    terms: GrantTerms,
    key_id: KeyId,
}

impl OpenedGrant {
    /// What it binds.
    #[must_use]
    pub const fn terms(&self) -> &GrantTerms {
        &self.terms
    }

    /// The key that signed it.
    #[must_use]
    pub const fn key_id(&self) -> &KeyId {
        &self.key_id
    }

    /// Whether it is good now, here, and for this request, whose method and target (path and query) are as they were sent.
    /// `now` is by the clock of the service that asks.
    ///
    /// # Errors
    ///
    /// The first that fails of [`GrantError::Expired`], [`GrantError::EndsTooLate`], [`GrantError::OtherAudience`] and
    /// [`GrantError::OtherRequest`].
    pub fn check(
        &self,
        now: Timestamp,
        audience: &Audience,
        method: &str,
        target: &str,
    ) -> Result<(), GrantError> {
        let terms = &self.terms;
        if now >= terms.exp {
            return Err(GrantError::Expired);
        }
        if terms.exp.since(now) > GrantTerms::MAX_LIFE {
            return Err(GrantError::EndsTooLate);
        }
        if terms.audience != *audience {
            return Err(GrantError::OtherAudience);
        }
        if terms.line != line_digest(method, target) {
            return Err(GrantError::OtherRequest);
        }
        Ok(())
    }

    /// Whether it is for this body.
    ///
    /// # Errors
    ///
    /// [`GrantError::OtherBody`].
    pub fn check_body(&self, body: &[u8]) -> Result<(), GrantError> {
        if self.terms.body == body_digest(body) {
            Ok(())
        } else {
            Err(GrantError::OtherBody)
        }
    }
}

pub(super) fn open(keys: &GrantKeys, text: &[u8]) -> Result<OpenedGrant, GrantError> {
    let form = Form::read(text).ok_or(GrantError::Mistyped)?;

    // A key id that nobody knows costs a tag too: its answer and its time are those of a forgery.
    let key = keys.find(form.key_id);
    let genuine = key
        .unwrap_or_else(|| keys.signing())
        .verifies(form.signed, &form.tag);
    let key = key.ok_or(GrantError::Invalid(InvalidGrant::UnknownKey))?;
    if !genuine {
        return Err(GrantError::Invalid(InvalidGrant::Forged));
    }

    let terms =
        payload::read(&form.payload).ok_or(GrantError::Invalid(InvalidGrant::Unreadable))?;
    Ok(OpenedGrant {
        terms,
        key_id: key.id().clone(),
    })
}

/// The parts of a text with the shape of a grant. Nothing of it can be trusted.
struct Form<'t> {
    key_id: &'t str,
    /// Everything before the tag's dot.
    signed: &'t [u8],
    payload: Vec<u8>,
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
        let key_id = std::str::from_utf8(parts.next()?).ok()?;
        KeyId::parse(key_id).ok()?;
        let payload = parts.next().filter(|text| !text.is_empty())?;
        let tag = parts.next().filter(|text| text.len() == TAG_TEXT_LEN)?;
        if parts.next().is_some() {
            return None;
        }
        Some(Self {
            key_id,
            signed: &text[..text.len() - TAG_TEXT_LEN - 1],
            payload: BASE64.decode(payload).ok()?,
            tag: BASE64.decode(tag).ok()?.try_into().ok()?,
        })
    }
}
