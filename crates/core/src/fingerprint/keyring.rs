//! The keys of a service: one signs, any number verify.

use std::time::Duration;

use super::{Fingerprint, FingerprintError, Key, Opened, Terms, ValueKeys, issued, open};
use crate::{KeyId, Timestamp, grant::GrantKeys};

/// The keys of a service: one signs, any number verify.
///
/// **Rotation.** A fingerprint names its key, and the operation's record does not depend on the key, so a retry under a
/// retired key finds the same operation. With several instances:
///
/// 1. add the next key to every instance with [`with_verifying`](Self::with_verifying) and [`SignedUntil::Open`];
/// 2. then let it sign everywhere, with [`promote`](Self::promote) or [`rotate`](Self::rotate);
/// 3. keep the old key, and [`drop_key`](Self::drop_key) it when nothing that it signed can be asked about any more. A
///    retry under a dropped key is `fingerprint_invalid`, although its operation may have been done.
///
/// One instance that restarts may skip the first step.
#[derive(Clone, Debug)]
pub struct Keyring {
    signing: Key,
    verifying: Vec<Verifying>,
}

#[derive(Clone, Debug)]
struct Verifying {
    key: Key,
    signed_until: SignedUntil,
}

/// Until when a key that only verifies has signed, in any instance of the service.
///
/// Exhaustive on purpose: it signs, or it has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedUntil {
    /// It signs in another instance, or is about to.
    Open,
    /// It has signed nothing since this time.
    At(Timestamp),
}

impl Keyring {
    /// A ring with one key, which signs and verifies.
    #[must_use]
    pub const fn new(signing: Key) -> Self {
        Self {
            signing,
            verifying: Vec::new(),
        }
    }

    /// Adds a key that only verifies.
    ///
    /// # Errors
    ///
    /// [`DuplicateKey`] if the ring has a key of this id: of two keys with one name, only one can verify what it signed.
    pub fn with_verifying(
        mut self,
        key: Key,
        signed_until: SignedUntil,
    ) -> Result<Self, DuplicateKey> {
        self.refuse_duplicate(key.id())?;
        self.verifying.push(Verifying { key, signed_until });
        Ok(self)
    }

    /// Lets a new key sign from `now` on. The present one goes on verifying.
    ///
    /// ```
    /// use counterfoil_core::{KeyId, Timestamp, fingerprint::{Key, Keyring}};
    ///
    /// let mut ring = Keyring::new(Key::random(KeyId::parse("k1")?));
    /// ring.rotate(Key::random(KeyId::parse("k2")?), Timestamp::from_unix_secs(1_800_000_000))?;
    /// assert_eq!(ring.signing_key_id().as_str(), "k2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`DuplicateKey`] if the ring has a key of this id; a key that it has is [`promote`](Self::promote)d.
    pub fn rotate(&mut self, signing: Key, now: Timestamp) -> Result<(), DuplicateKey> {
        self.refuse_duplicate(signing.id())?;
        self.sign_with(signing, now);
        Ok(())
    }

    /// Lets a key that only verified sign from `now` on. The one that signed until now goes on verifying. Promoting the
    /// key that signs changes nothing.
    ///
    /// # Errors
    ///
    /// [`UnknownKey`] if the ring has no key of this id.
    pub fn promote(&mut self, id: &KeyId, now: Timestamp) -> Result<(), UnknownKey> {
        if self.signing.id() == id {
            return Ok(());
        }
        let position = self.position(id).ok_or_else(|| UnknownKey(id.clone()))?;
        let promoted = self.verifying.remove(position).key;
        self.sign_with(promoted, now);
        Ok(())
    }

    /// Drops a key that nothing can need any more.
    ///
    /// A key is needed until the last fingerprint that it signed is past `exp` plus retention, since until then a retry
    /// is answered from the record. `longest_life` is that sum: the longest life of a fingerprint (with an approval's
    /// time, where there are approvals), retention, the most that the clocks of issuers and store differ, and the time
    /// that a rotation takes to reach every instance, since the ring knows of its own only.
    ///
    /// # Errors
    ///
    /// [`DropKeyError`] if the key signs, here or elsewhere, is still needed, or is not in the ring. The ring is
    /// unchanged.
    pub fn drop_key(
        &mut self,
        id: &KeyId,
        now: Timestamp,
        longest_life: Duration,
    ) -> Result<(), DropKeyError> {
        let position = self.droppable(id)?;
        match self.verifying[position].signed_until {
            SignedUntil::Open => Err(DropKeyError::SignsElsewhere(id.clone())),
            SignedUntil::At(last) if now < last + longest_life => Err(DropKeyError::StillNeeded {
                id: id.clone(),
                until: last + longest_life,
            }),
            SignedUntil::At(_) => {
                self.verifying.remove(position);
                Ok(())
            }
        }
    }

    /// Drops a key although it may be needed, as after a leak. Whatever it signed is `fingerprint_invalid` from now on,
    /// retries of operations that were done included.
    ///
    /// # Errors
    ///
    /// [`DropKeyError`] if the key signs in this ring, or is not in it: rotate first.
    pub fn drop_key_anyway(&mut self, id: &KeyId) -> Result<(), DropKeyError> {
        let position = self.droppable(id)?;
        self.verifying.remove(position);
        Ok(())
    }

    /// The id of the key that signs.
    #[must_use]
    pub const fn signing_key_id(&self) -> &KeyId {
        self.signing.id()
    }

    /// The keys that only verify, in the order of their coming, and until when each signed.
    pub fn verifying_keys(&self) -> impl Iterator<Item = (&KeyId, SignedUntil)> {
        self.verifying.iter().map(|v| (v.key.id(), v.signed_until))
    }

    /// Signs the terms: pure computation, with the same text for the same terms and key.
    #[must_use]
    pub fn issue(&self, terms: &Terms) -> Fingerprint {
        issued::issue(&self.signing, terms)
    }

    /// Checks 1 to 3 of a fingerprint that a caller brought: its shape, its key and tag, and its payload.
    ///
    /// It takes any bytes, such as a header's. What it returns was issued with a key of this ring, to somebody, at some
    /// time: go on with [`Terms::check_caller`].
    ///
    /// # Errors
    ///
    /// [`FingerprintError::Mistyped`] if the text has not the shape, [`FingerprintError::Invalid`] otherwise.
    pub fn open(&self, text: impl AsRef<[u8]>) -> Result<Opened, FingerprintError> {
        open::open(self, text.as_ref())
    }

    /// The subkeys of this ring for values that a store keeps: the key that signs seals, and all verify. A ring that
    /// rotates later doesn't change them: whoever has them is given the new ones.
    #[must_use]
    pub fn value_keys(&self) -> ValueKeys {
        ValueKeys::new(&self.signing, self.verifying.iter().map(|v| &v.key))
    }

    /// The subkeys of this ring for grants: the key that signs mints them, and all verify. A ring that rotates later
    /// doesn't change them.
    #[must_use]
    pub fn grant_keys(&self) -> GrantKeys {
        GrantKeys::of_ring(&self.signing, self.verifying.iter().map(|v| &v.key))
    }

    pub(super) fn signing(&self) -> &Key {
        &self.signing
    }

    pub(super) fn find(&self, id: &str) -> Option<&Key> {
        std::iter::once(&self.signing)
            .chain(self.verifying.iter().map(|v| &v.key))
            .find(|key| key.id().as_str() == id)
    }

    fn sign_with(&mut self, signing: Key, now: Timestamp) {
        let retired = std::mem::replace(&mut self.signing, signing);
        self.verifying.push(Verifying {
            key: retired,
            signed_until: SignedUntil::At(now),
        });
    }

    fn refuse_duplicate(&self, id: &KeyId) -> Result<(), DuplicateKey> {
        match self.find(id.as_str()) {
            Some(_) => Err(DuplicateKey(id.clone())),
            None => Ok(()),
        }
    }

    fn droppable(&self, id: &KeyId) -> Result<usize, DropKeyError> {
        if self.signing.id() == id {
            return Err(DropKeyError::Signs(id.clone()));
        }
        self.position(id)
            .ok_or_else(|| DropKeyError::Unknown(id.clone()))
    }

    fn position(&self, id: &KeyId) -> Option<usize> {
        self.verifying.iter().position(|v| v.key.id() == id)
    }
}

/// The ring has a key of this id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ring has a key {0} already")]
pub struct DuplicateKey(pub KeyId);

/// The ring has no key of this id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ring has no key {0}")]
pub struct UnknownKey(pub KeyId);

/// The ring does not drop this key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DropKeyError {
    /// The ring has no key of this id.
    #[error("the ring has no key {0}")]
    Unknown(KeyId),
    /// It is the key that signs.
    #[error("the key {0} signs: rotate to another one first")]
    Signs(KeyId),
    /// It signs in another instance, or is about to.
    #[error("the key {0} signs in another instance")]
    SignsElsewhere(KeyId),
    /// An operation whose fingerprint it signed may still be asked about.
    #[error("the key {id} verifies retries until {} (Unix seconds)", until.unix_ms().div_ceil(1000))]
    StillNeeded {
        /// The key.
        id: KeyId,
        /// From then on it can be dropped.
        until: Timestamp,
    },
}
