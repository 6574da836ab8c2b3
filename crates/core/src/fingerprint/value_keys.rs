//! The subkeys that vouch for values which a store keeps outside of the process.

use std::fmt;

use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::Key;
use crate::KeyId;

/// Seals what is kept where others can write, such as in a cache, and verifies it when it is read back.
///
/// One key seals, any number verify, as long as values live that they sealed. These are subkeys of their own: whoever
/// holds them can't issue a fingerprint. `Debug` shows key ids alone.
///
/// ```
/// use counterfoil_core::{KeyId, fingerprint::{Key, Keyring, ValueKeys}};
///
/// let keys = Keyring::new(Key::random(KeyId::parse("k1")?)).value_keys();
/// let tag = keys.tag(&[b"id", b"value"]);
/// assert!(keys.verifies("k1", &[b"id", b"value"], &tag[..ValueKeys::MIN_TAG_LEN]));
/// assert!(!keys.verifies("k1", &[b"idv", b"alue"], &tag));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ValueKeys {
    sealing: ValueKey,
    verifying: Vec<ValueKey>,
}

#[derive(Clone)]
struct ValueKey {
    id: KeyId,
    state: Hmac<Sha256>,
}

impl ValueKeys {
    /// The shortest part of a tag that still vouches, in bytes.
    pub const MIN_TAG_LEN: usize = 16;

    pub(super) fn new<'k>(sealing: &Key, verifying: impl Iterator<Item = &'k Key>) -> Self {
        Self {
            sealing: ValueKey::of(sealing),
            verifying: verifying.map(ValueKey::of).collect(),
        }
    }

    /// The id of the key that seals: to be kept beside each value.
    #[must_use]
    pub const fn sealing_key_id(&self) -> &KeyId {
        &self.sealing.id
    }

    /// HMAC-SHA256 over the parts, each with its length in front, so that no two lists of parts are the same text.
    #[must_use]
    pub fn tag(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.sealing.tag(parts)
    }

    /// Whether a key of this id is among them.
    #[must_use]
    pub fn knows(&self, key_id: &str) -> bool {
        std::iter::once(&self.sealing)
            .chain(&self.verifying)
            .any(|key| key.id.as_str() == key_id)
    }

    /// Whether `tag`, or as much of it as was kept, was made over these parts by the key of this id. Compared in constant
    /// time. Fewer than [`MIN_TAG_LEN`](Self::MIN_TAG_LEN) bytes vouch for nothing.
    #[must_use]
    pub fn verifies(&self, key_id: &str, parts: &[&[u8]], tag: &[u8]) -> bool {
        let key = std::iter::once(&self.sealing)
            .chain(&self.verifying)
            .find(|key| key.id.as_str() == key_id);
        let Some(key) = key.filter(|_| tag.len() >= Self::MIN_TAG_LEN) else {
            return false;
        };
        key.tag(parts)
            .get(..tag.len())
            .is_some_and(|made| made.ct_eq(tag).into())
    }
}

impl ValueKey {
    fn of(key: &Key) -> Self {
        Self {
            id: key.id().clone(),
            state: key.value_state(),
        }
    }

    fn tag(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.state.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for ValueKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verifying: Vec<_> = self.verifying.iter().map(|key| &key.id).collect();
        f.debug_struct("ValueKeys")
            .field("sealing", &self.sealing.id)
            .field("verifying", &verifying)
            .finish()
    }
}
