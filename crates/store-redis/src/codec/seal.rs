//! Sealed slots: what is kept in Redis, with a tag that a holder of the keys put on it.

use std::sync::{Arc, PoisonError, RwLock};

use counterfoil_core::fingerprint::ValueKeys;

use super::bytes::{Reader, Unreadable, Write, text};

/// As much of a tag as is kept. Half of HMAC-SHA256 is what RFC 2104 allows, and a record has several.
const TAG_LEN: usize = ValueKeys::MIN_TAG_LEN;

/// What a slot is, so that none is taken for another.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Whose operation it is. Lua reads its limits.
    Identity,
    /// Who has the epoch.
    Claim,
    /// What was said of the operation.
    Word,
    /// Downstream's reference.
    ProviderRef,
    /// The business document's number.
    ResultRef,
    /// A whole record in a cache.
    Copy,
}

impl Kind {
    const fn label(self) -> &'static [u8] {
        match self {
            Self::Identity => b"counterfoil/redis/v1/identity",
            Self::Claim => b"counterfoil/redis/v1/claim",
            Self::Word => b"counterfoil/redis/v1/word",
            Self::ProviderRef => b"counterfoil/redis/v1/provider_ref",
            Self::ResultRef => b"counterfoil/redis/v1/result_ref",
            Self::Copy => b"counterfoil/redis/v1/copy",
        }
    }
}

/// Seals and opens: `tag, length of the key's id, key's id, content`.
///
/// The place is sealed along: what was put under another prefix is not taken for one's own.
#[derive(Clone, Debug)]
pub(crate) struct Seals {
    keys: ValueKeys,
    place: String,
}

impl Seals {
    pub(crate) fn new(keys: ValueKeys, prefix: &str) -> Self {
        Self {
            keys,
            place: prefix.to_owned(),
        }
    }

    /// The content, sealed together with what it is about.
    pub(crate) fn seal<const N: usize>(
        &self,
        kind: Kind,
        about: [&[u8]; N],
        content: &[u8],
    ) -> Vec<u8> {
        let key_id = self.keys.sealing_key_id().as_str().as_bytes();
        let tag = self.keys.tag(&self.parts(kind, &about, content));
        let mut sealed = Vec::with_capacity(TAG_LEN + 1 + key_id.len() + content.len());
        sealed.bytes(&tag[..TAG_LEN]);
        sealed.bytes_u8(key_id);
        sealed.bytes(content);
        sealed
    }

    /// The content, if it was sealed as this kind and about this.
    pub(crate) fn open<'s, const N: usize>(
        &self,
        kind: Kind,
        about: [&[u8]; N],
        sealed: &'s [u8],
    ) -> Result<&'s [u8], Unreadable> {
        let (tag, key_id, content) = split(sealed)?;
        if self
            .keys
            .verifies(key_id, &self.parts(kind, &about, content), tag)
        {
            Ok(content)
        } else {
            Err(Unreadable)
        }
    }
}

/// The seals of now. Other keys may come at any time; a call takes those of its beginning, and keeps to them.
pub(crate) struct CurrentSeals(RwLock<Arc<Seals>>);

impl CurrentSeals {
    pub(crate) fn new(keys: ValueKeys, prefix: &str) -> Self {
        Self(RwLock::new(Arc::new(Seals::new(keys, prefix))))
    }

    pub(crate) fn now(&self) -> Arc<Seals> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, keys: ValueKeys) {
        let mut now = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *now = Arc::new(Seals::new(keys, &now.place));
    }
}

impl Seals {
    fn parts<'p>(&'p self, kind: Kind, about: &[&'p [u8]], content: &'p [u8]) -> Vec<&'p [u8]> {
        let mut parts = Vec::with_capacity(about.len() + 3);
        parts.push(kind.label());
        parts.push(self.place.as_bytes());
        parts.extend_from_slice(about);
        parts.push(content);
        parts
    }

    /// Whether it names a key that was not given: then nothing can be said of it.
    pub(crate) fn is_of_an_unknown_key(&self, sealed: &[u8]) -> bool {
        split(sealed).is_ok_and(|(_, key_id, _)| !self.keys.knows(key_id))
    }
}

fn split(sealed: &[u8]) -> Result<(&[u8], &str, &[u8]), Unreadable> {
    let mut reader = Reader::new(sealed);
    let tag = reader.take(TAG_LEN)?;
    let key_id = text(reader.bytes_u8()?)?;
    Ok((tag, key_id, reader.rest()))
}
