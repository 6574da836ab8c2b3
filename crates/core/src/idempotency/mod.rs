//! Idempotency keys: names that the client makes, for callers that are programs.
//!
//! A fingerprint is the server's word for one operation; a key is the client's. From there on both take the same way:
//! the operation id is derived from the key and its subject, and what the key was first sent with is hashed, so that the
//! same key with another request is told so.
//!
//! - [`IdempotencyKey`] is a key that can be one: printable ASCII, 1 to 255 characters. [`IdempotencyKey::from_header`]
//!   reads the header field, [`IdempotencyKey::from_text`] a member of a body.
//! - [`KeyRules`] says which of them a gate takes: from 16 characters on by default, or UUIDv7 only, and for how long.
//! - `docs/spec/idempotency-key.md` has both hashes for other languages.
//!
//! Caveats: the key scopes the deduplication, never the content. Two equal requests under two keys are two operations.
//! A key that is sent again after its record was dropped runs again, unless the rules bound its age.

mod header;
mod key;
mod request;
mod rules;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

pub use key::{IdempotencyKey, InvalidKey};
pub use request::Keyed;
pub use rules::KeyRules;
