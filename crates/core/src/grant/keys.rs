//! The keys of grants, and a grant as it is sent.

use std::fmt;

use base64::Engine;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    BASE64, GrantError, GrantTerms, OpenedGrant, PREFIX, TAG_LEN, TAG_TEXT_LEN, open, payload,
};
use crate::{
    KeyId, OperationId,
    fingerprint::{DuplicateKey, Key, KeyError, grant_subkey, read_hex},
};

/// A key that signs and verifies grants: a subkey (HKDF-SHA256, info `counterfoil/v1/grant`) of a secret.
///
/// Only its HMAC state is kept, and wiped when it is dropped. `Debug` shows the id alone.
#[derive(Clone)]
pub struct GrantKey {
    id: KeyId,
    state: Hmac<Sha256>,
}

impl GrantKey {
    /// The subkey of a secret of 32 to 64 random bytes. Give grants a secret of their own, known to gate and service, and
    /// keep that of fingerprints at the gate. The caller wipes his own copy.
    ///
    /// # Errors
    ///
    /// [`KeyError::Length`] if the secret has fewer than 32 or more than 64 bytes.
    pub fn new(id: KeyId, secret: &[u8]) -> Result<Self, KeyError> {
        if !(Key::MIN_SECRET_LEN..=Key::MAX_SECRET_LEN).contains(&secret.len()) {
            return Err(KeyError::Length { len: secret.len() });
        }
        Ok(Self::from_subkey(id, &grant_subkey(secret)))
    }

    /// As [`new`](Self::new), from the secret in hex, of either case, with nothing around it.
    ///
    /// # Errors
    ///
    /// [`KeyError::NotHex`] if the text has another character or an odd length, else as [`new`](Self::new).
    pub fn from_hex(id: KeyId, hex: &str) -> Result<Self, KeyError> {
        let mut secret = Zeroizing::new([0; Key::MAX_SECRET_LEN]);
        let len = read_hex(hex, &mut *secret)?;
        Self::new(id, &secret[..len])
    }

    /// From the subkey itself, as [`subkey_of`](Self::subkey_of) gives it: for a service that may check the grants of a
    /// gate's [`Keyring`](crate::fingerprint::Keyring::grant_keys) and must not hold its secret.
    #[must_use]
    pub fn from_subkey(id: KeyId, subkey: &[u8; 32]) -> Self {
        let state = Hmac::new_from_slice(subkey).expect("HMAC takes a key of any length");
        Self { id, state }
    }

    /// The subkey for grants of a secret, to be handed to a service. No other subkey can be made of it. The caller wipes it.
    #[must_use]
    pub fn subkey_of(secret: &[u8]) -> [u8; 32] {
        *grant_subkey(secret)
    }

    fn of(key: &Key) -> Self {
        Self {
            id: key.id().clone(),
            state: key.grant_state(),
        }
    }

    /// The key's public name.
    #[must_use]
    pub const fn id(&self) -> &KeyId {
        &self.id
    }

    fn tag(&self, text: &[u8]) -> [u8; TAG_LEN] {
        let mut mac = self.state.clone();
        mac.update(text);
        mac.finalize().into_bytes().into()
    }

    /// The whole tag, compared in constant time: how far a forgery agrees must not show.
    pub(super) fn verifies(&self, text: &[u8], tag: &[u8; TAG_LEN]) -> bool {
        self.tag(text).ct_eq(tag).into()
    }
}

impl fmt::Debug for GrantKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrantKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The keys of grants: one mints, any number verify.
///
/// To rotate, add the next key to every service with [`with_verifying`](Self::with_verifying), then let it mint at the
/// gates, and drop the old one once the last grant that it signed is over: five minutes at most.
#[derive(Clone, Debug)]
pub struct GrantKeys {
    signing: GrantKey,
    verifying: Vec<GrantKey>,
}

impl GrantKeys {
    /// With one key, which mints and verifies.
    #[must_use]
    pub const fn new(signing: GrantKey) -> Self {
        Self {
            signing,
            verifying: Vec::new(),
        }
    }

    /// Adds a key that only verifies.
    ///
    /// # Errors
    ///
    /// [`DuplicateKey`] if there is a key of this id: of two keys with one name, only one can verify what it signed.
    pub fn with_verifying(mut self, key: GrantKey) -> Result<Self, DuplicateKey> {
        if self.find(key.id().as_str()).is_some() {
            return Err(DuplicateKey(key.id));
        }
        self.verifying.push(key);
        Ok(self)
    }

    pub(crate) fn of_ring<'k>(signing: &Key, verifying: impl Iterator<Item = &'k Key>) -> Self {
        Self {
            signing: GrantKey::of(signing),
            verifying: verifying.map(GrantKey::of).collect(),
        }
    }

    /// Signs the terms: pure computation, with the same text for the same terms and key. A handler takes
    /// [`DownstreamKey::grant`](crate::engine::DownstreamKey::grant), which asks for the lease first.
    #[must_use]
    pub fn issue(&self, terms: &GrantTerms) -> Grant {
        Grant {
            text: seal(&self.signing, payload::write(terms).as_bytes()),
            key_id: self.signing.id.clone(),
            operation_id: terms.operation_id,
        }
    }

    /// The first checks of a grant: its shape, its key and tag, and its payload. It takes any bytes, such as a header's.
    ///
    /// What it returns was signed with one of these keys, for something, at some time: go on with
    /// [`OpenedGrant::check`].
    ///
    /// # Errors
    ///
    /// [`GrantError::Mistyped`] if the text has not the shape, [`GrantError::Invalid`] otherwise.
    pub fn open(&self, text: impl AsRef<[u8]>) -> Result<OpenedGrant, GrantError> {
        open::open(self, text.as_ref())
    }

    pub(super) const fn signing(&self) -> &GrantKey {
        &self.signing
    }

    pub(super) fn find(&self, id: &str) -> Option<&GrantKey> {
        std::iter::once(&self.signing)
            .chain(&self.verifying)
            .find(|key| key.id.as_str() == id)
    }
}

/// The text over any payload. Tests seal bad ones with it.
pub(super) fn seal(key: &GrantKey, payload: &[u8]) -> String {
    let len = PREFIX.len() + key.id.as_str().len() + 1 + payload.len() * 4 / 3 + 2 + TAG_TEXT_LEN;
    let mut text = String::with_capacity(len);
    text.push_str(PREFIX);
    text.push_str(key.id.as_str());
    text.push('.');
    BASE64.encode_string(payload, &mut text);
    let tag = key.tag(text.as_bytes());
    text.push('.');
    BASE64.encode_string(tag, &mut text);
    text
}

/// A grant to send, in the header `Counterfoil-Grant`.
///
/// The text leaves by [`as_str`](Self::as_str). There is no `Display`, and `Debug` shows key id and operation id, so that it
/// gets into no log by accident: whoever reads it there could make the one write that it grants, for as long as it lives.
#[derive(Clone, PartialEq, Eq)]
pub struct Grant {
    text: String,
    key_id: KeyId,
    operation_id: OperationId,
}

impl Grant {
    /// The text to send: at most [`MAX_LEN`](super::MAX_LEN) bytes of `A-Z a-z 0-9 . _ -`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key that signed it.
    #[must_use]
    pub const fn key_id(&self) -> &KeyId {
        &self.key_id
    }

    /// The operation that it is of.
    #[must_use]
    pub const fn operation_id(&self) -> OperationId {
        self.operation_id
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("key_id", &self.key_id)
            .field("operation_id", &self.operation_id)
            .finish_non_exhaustive()
    }
}
