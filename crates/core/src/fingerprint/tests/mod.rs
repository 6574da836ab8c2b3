//! What the fingerprint's tests share.

mod forgery;
mod keys;
mod life;
mod spelling;
mod values;
mod vectors;

use std::time::Duration;

use super::*;
use crate::{KeyId, OperationId, ParamHash, Scope, Subject, Timestamp};

const SECRET_1: [u8; 32] = *b"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\
    \x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f";
const SECRET_2: [u8; 64] = [0xc5; 64];

/// 2027-01-15T08:00:00Z.
const NOW: Timestamp = Timestamp::from_unix_secs(1_800_000_000);

fn key_id(text: &str) -> KeyId {
    KeyId::parse(text).unwrap()
}

fn key_1() -> Key {
    Key::new(key_id("k1"), &SECRET_1).unwrap()
}

fn key_2() -> Key {
    Key::new(key_id("k2"), &SECRET_2).unwrap()
}

fn id(hex: &str) -> OperationId {
    hex.parse().unwrap()
}

fn plain_terms() -> Terms {
    Terms::new(
        id("01a3185c-5c00-7abc-8def-0123456789ab"),
        Subject::new("acme", "agent-7").unwrap(),
        Scope::new("payments.transfer"),
        ParamHash::from_bytes([0xa7; 32]),
        NOW,
        NOW + Duration::from_secs(900),
    )
    .unwrap()
}

/// A text with a valid tag over any payload.
fn sealed(payload: impl AsRef<[u8]>) -> String {
    issued::seal(&key_1(), payload.as_ref())
}

fn cause(ring: &Keyring, text: impl AsRef<[u8]>) -> Option<InvalidCause> {
    match ring.open(text).unwrap_err() {
        FingerprintError::Mistyped => None,
        FingerprintError::Invalid(cause) => Some(cause),
    }
}
