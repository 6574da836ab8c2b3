//! A key, of which only derived states are kept.

use std::fmt;

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::TAG_LEN;
use crate::KeyId;

/// What the subkey for fingerprints is derived with. Each other use (grants, audit checkpoints) has an info of its own,
/// so that a holder of one subkey can't make another.
const FINGERPRINT_INFO: &[u8] = b"counterfoil/v1/fingerprint";

/// What the subkey for values that a store keeps is derived with.
const VALUE_INFO: &[u8] = b"counterfoil/v1/value";

/// What the subkey for grants is derived with.
const GRANT_INFO: &[u8] = b"counterfoil/v1/grant";

/// A key that signs and verifies fingerprints.
///
/// The secret itself is not kept: the subkeys are derived once, and of each only the HMAC state, which is wiped when the
/// key is dropped. `Debug` shows the id alone. Cloning copies the states; the copies are wiped likewise. What the compiler
/// copied to the stack on the way can't be wiped from safe Rust.
#[derive(Clone)]
pub struct Key {
    id: KeyId,
    fingerprint: Hmac<Sha256>,
    value: Hmac<Sha256>,
    grant: Hmac<Sha256>,
}

impl Key {
    /// The shortest secret, in bytes.
    pub const MIN_SECRET_LEN: usize = 32;
    /// The longest secret, in bytes. HMAC hashes longer ones down first, which gains nothing.
    pub const MAX_SECRET_LEN: usize = 64;

    /// A key from its secret: random bytes, not a password. The caller wipes his own copy.
    ///
    /// # Errors
    ///
    /// [`KeyError::Length`] if the secret has fewer than 32 or more than 64 bytes.
    pub fn new(id: KeyId, secret: &[u8]) -> Result<Self, KeyError> {
        if !(Self::MIN_SECRET_LEN..=Self::MAX_SECRET_LEN).contains(&secret.len()) {
            return Err(KeyError::Length { len: secret.len() });
        }
        Ok(Self::derived(id, secret))
    }

    /// A key from its secret in hex, of either case, with nothing around it.
    ///
    /// ```
    /// use counterfoil_core::{KeyId, fingerprint::Key};
    ///
    /// let id = KeyId::parse("2027-01")?;
    /// let key = Key::from_hex(id.clone(), &"a7".repeat(32))?;
    /// assert_eq!(key.id(), &id);
    ///
    /// let short = Key::from_hex(id, &"a7".repeat(31)).unwrap_err();
    /// assert_eq!(short.to_string(), "a key has 32 to 64 bytes, this one has 31");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`KeyError::NotHex`] if the text has another character or an odd length, else as [`new`](Self::new).
    pub fn from_hex(id: KeyId, hex: &str) -> Result<Self, KeyError> {
        let mut secret = Zeroizing::new([0; Self::MAX_SECRET_LEN]);
        let len = read_hex(hex, &mut *secret)?;
        Self::new(id, &secret[..len])
    }

    /// A key of 32 random bytes. What it signs can't be verified once the process has ended.
    ///
    /// # Panics
    ///
    /// If the operating system gives no random bytes.
    #[must_use]
    pub fn random(id: KeyId) -> Self {
        let secret = Zeroizing::new(crate::random::bytes::<32>());
        Self::derived(id, &*secret)
    }

    fn derived(id: KeyId, secret: &[u8]) -> Self {
        Self {
            id,
            fingerprint: subkey(secret, FINGERPRINT_INFO),
            value: subkey(secret, VALUE_INFO),
            grant: subkey(secret, GRANT_INFO),
        }
    }

    /// The key's public name.
    #[must_use]
    pub const fn id(&self) -> &KeyId {
        &self.id
    }

    pub(super) fn value_state(&self) -> Hmac<Sha256> {
        self.value.clone()
    }

    pub(crate) fn grant_state(&self) -> Hmac<Sha256> {
        self.grant.clone()
    }

    pub(super) fn tag(&self, text: &[u8]) -> [u8; TAG_LEN] {
        let mut mac = self.fingerprint.clone();
        mac.update(text);
        mac.finalize().into_bytes().into()
    }

    /// The whole tag, compared in constant time: how far a forgery agrees must not show.
    pub(super) fn verifies(&self, text: &[u8], tag: &[u8; TAG_LEN]) -> bool {
        self.tag(text).ct_eq(tag).into()
    }
}

/// Reads hex of either case into the front of `secret`, and says how many bytes it was.
pub(crate) fn read_hex(hex: &str, secret: &mut [u8]) -> Result<usize, KeyError> {
    let digits = hex.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(KeyError::NotHex);
    }
    let len = digits.len() / 2;
    let Some(secret) = secret.get_mut(..len) else {
        return Err(KeyError::Length { len });
    };
    for (byte, pair) in secret.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = nibble(pair[0]) << 4 | nibble(pair[1]);
    }
    Ok(len)
}

/// The HMAC state of a subkey.
fn subkey(secret: &[u8], info: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(&*expanded(secret, info)).expect("HMAC takes a key of any length")
}

/// The bytes of the subkey for grants, for a service that is to have no other.
pub(crate) fn grant_subkey(secret: &[u8]) -> Zeroizing<[u8; 32]> {
    expanded(secret, GRANT_INFO)
}

/// RFC 5869 with no salt and 32 bytes of output.
fn expanded(secret: &[u8], info: &[u8]) -> Zeroizing<[u8; 32]> {
    let (mut prk, hkdf) = Hkdf::<Sha256>::extract(None, secret);
    prk.as_mut_slice().zeroize();
    let mut subkey = Zeroizing::new([0; 32]);
    hkdf.expand(info, &mut *subkey)
        .expect("HKDF-SHA256 gives up to 8160 bytes");
    subkey
}

const fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        // The caller has let only hex digits through.
        _ => digit - b'A' + 10,
    }
}

// HMAC's state is two hash states and a buffer. It carries no marker of its own; the hash does, with the features that
// this crate asks for, and without them this does not compile.
const _: () = {
    const fn is_wiped<T: ZeroizeOnDrop>() {}
    is_wiped::<Sha256>();
};

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The secret can't be a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It is too short or too long.
    #[error("a key has 32 to 64 bytes, this one has {len}")]
    Length {
        /// Its length, in bytes.
        len: usize,
    },
    /// It is not hex.
    #[error("a key in hex has an even number of the digits 0-9 a-f A-F and nothing else")]
    NotHex,
}
