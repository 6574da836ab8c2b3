//! Grants: the short signed header by which a service downstream knows that a write came through a gate.
//!
//! A [`Grant`] is minted for one write: one operation, the epoch of the run that makes it, a step if the operation has
//! several, the service that it is for, the method and target, the digest of the body, and a time in seconds. The gate's
//! handler mints it with its [`DownstreamKey`](crate::engine::DownstreamKey::grant), which needs a live lease. The service
//! downstream opens it with [`GrantKeys::open`], checks it against the request that it came with, and refuses an epoch
//! lower than it has seen for the operation: that stops an attempt whose lease lapsed while its request was on the way.
//! `docs/spec/grant.md` describes the form for other languages.
//!
//! Rules:
//!
//! - The checks have one order: shape, then key and tag, then the payload's bytes (all three in [`GrantKeys::open`]), then
//!   time, audience and request ([`OpenedGrant::check`]), then the body ([`OpenedGrant::check_body`]). So a stranger makes
//!   no service read a body.
//! - The key is a subkey of its own. Who holds it can't make a fingerprint, nor a sealed value. It signs and verifies: **a
//!   service that can check grants can mint them**, so each service that is not trusted with another's writes gets a key of
//!   its own, beside an [`Audience`] of its own.
//! - A grant is not spent. Its copy is a good grant until its time is over, and meets the service's own unique key, which is
//!   the downstream key that comes with it.
//! - Text that does not re-encode to the same bytes is refused, even with a valid tag.
//!
//! ```
//! use counterfoil_core::{
//!     Epoch, KeyId, OperationId, Timestamp,
//!     grant::{Audience, GrantKey, GrantKeys, GrantRequest, GrantTerms},
//! };
//!
//! const LEDGER: Audience = Audience::new("ledger");
//! let keys = GrantKeys::new(GrantKey::new(KeyId::parse("g1")?, &[7; 32])?);
//! let now = Timestamp::from_unix_secs(1_800_000_000);
//!
//! // At the gate. A handler has `DownstreamKey::grant` for it.
//! let request = GrantRequest::new(&LEDGER, "POST", "/entries").with_body(b"{}");
//! let terms = GrantTerms::new(OperationId::mint(now), Epoch::FIRST, None, &request, now)?;
//! let grant = keys.issue(&terms);
//!
//! // Downstream.
//! let opened = keys.open(grant.as_str())?;
//! opened.check(now, &LEDGER, "POST", "/entries")?;
//! opened.check_body(b"{}")?;
//! assert_eq!(opened.terms(), &terms);
//! assert!(opened.check(now, &LEDGER, "DELETE", "/entries").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod audience;
mod epochs;
mod error;
mod keys;
mod open;
mod payload;
mod terms;

#[cfg(test)]
mod tests;

pub use audience::{Audience, InvalidAudience};
pub use epochs::{EpochMemory, NotRemembered, RecentEpochs, Seen};
pub use error::{GrantError, InvalidGrant};
pub use keys::{Grant, GrantKey, GrantKeys};
pub use open::OpenedGrant;
pub use terms::{GrantLifeError, GrantRequest, GrantTerms};

use base64::engine::general_purpose::{GeneralPurpose, URL_SAFE_NO_PAD};

/// The longest text that is looked at, in bytes.
pub const MAX_LEN: usize = 512;

/// Names form and version. Part of what is signed.
const PREFIX: &str = "gr1.";

/// An HMAC-SHA256 tag, whole, in bytes and in base64url.
const TAG_LEN: usize = 32;
const TAG_TEXT_LEN: usize = 43;

/// RFC 4648, section 5. Reading, it refuses padding, stray bits in the last character, and white space.
const BASE64: GeneralPurpose = URL_SAFE_NO_PAD;

// A text longer than the cap would be minted and then refused.
const _: () = {
    let payload_text_len = (payload::MAX_PAYLOAD_LEN * 4).div_ceil(3);
    let longest = PREFIX.len() + crate::KeyId::MAX_LEN + 1 + payload_text_len + 1 + TAG_TEXT_LEN;
    assert!(longest <= MAX_LEN);
};
