//! The fingerprint: the signed one-time credential that preview hands out and confirm must bring back.
//!
//! Issuing is pure computation. A [`Keyring`] signs [`Terms`] (which operation, for whom, which action, which params,
//! until when) and opens what comes back. `docs/spec/fingerprint.md` describes the form `fp1` for other languages.
//!
//! Rules:
//!
//! - The checks have one order, so that a stranger learns nothing: shape, then key and tag, then the payload's bytes
//!   (all three in [`Keyring::open`]), then subject and scope ([`Terms::check_caller`]), then the params
//!   ([`Terms::check_params`]). A request's params are validated only after [`Terms::check_caller`].
//! - `exp` is carried, never judged here: the store's clock judges it, in the statement that claims the operation. A
//!   retry of an operation that has a record is answered after `exp` too.
//! - There is one spelling of everything. A payload that does not re-encode to the same bytes is refused, even with a
//!   valid tag.
//! - The form has no field for an algorithm. A new algorithm is a new prefix, and unknown prefixes are refused.
//!
//! Caveats: a fingerprint is a bearer credential for its own subject. It is text to hand out, never text to log: logs
//! get the key id, the operation id and the [`ShortDigest`], which is what `Debug` shows.
//!
//! ```
//! use std::time::Duration;
//! use counterfoil_core::fingerprint::{Key, Keyring, Terms};
//! use counterfoil_core::{KeyId, OperationId, ParamHash, Scope, Subject, Timestamp};
//!
//! let ring = Keyring::new(Key::random(KeyId::parse("k1")?));
//! let now = Timestamp::from_unix_secs(1_800_000_000);
//! let subject = Subject::new("acme", "agent-7")?;
//! let scope = Scope::new("payments.transfer");
//! let hash = ParamHash::from_bytes([7; 32]);
//!
//! // Preview.
//! let exp = now + Duration::from_secs(900);
//! let terms = Terms::new(OperationId::mint(now), subject.clone(), scope.clone(), hash, now, exp)?;
//! let fingerprint = ring.issue(&terms);
//!
//! // Confirm.
//! let opened = ring.open(fingerprint.as_str())?;
//! opened.terms().check_caller(&subject, &scope)?;
//! opened.terms().check_params(&hash)?;
//! assert_eq!(opened.terms().id(), terms.id());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod issued;
mod key;
mod keyring;
mod open;
mod payload;
mod terms;
mod value_keys;

#[cfg(test)]
mod tests;

pub use error::{FingerprintError, InvalidCause, ParamsChanged};
pub use issued::{Fingerprint, ShortDigest};
pub use key::{Key, KeyError};
pub(crate) use key::{grant_subkey, read_hex};
pub use keyring::{DropKeyError, DuplicateKey, Keyring, SignedUntil, UnknownKey};
pub use open::Opened;
pub use terms::{Terms, TermsError};
pub use value_keys::ValueKeys;

use base64::engine::general_purpose::{GeneralPurpose, URL_SAFE_NO_PAD};

/// The longest text that is looked at, in bytes.
pub const MAX_LEN: usize = 1024;

/// Names form and version. Part of what is signed.
const PREFIX: &str = "fp1.";

/// An HMAC-SHA256 tag, whole, in bytes and in base64url.
const TAG_LEN: usize = 32;
const TAG_TEXT_LEN: usize = 43;

/// RFC 4648, section 5. Reading, it refuses padding, stray bits in the last character, and white space.
const BASE64: GeneralPurpose = URL_SAFE_NO_PAD;

// A text longer than the cap would be issued and then refused as mistyped, and the caller could never confirm.
const _: () = {
    let payload_text_len = (payload::MAX_PAYLOAD_LEN * 4).div_ceil(3);
    let longest = PREFIX.len() + crate::KeyId::MAX_LEN + 1 + payload_text_len + 1 + TAG_TEXT_LEN;
    assert!(longest <= MAX_LEN);
};
