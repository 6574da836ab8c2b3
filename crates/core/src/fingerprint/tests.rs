use super::*;
use crate::{KeyId, OperationId, ParamHash, Scope, Subject, Timestamp};

#[test]
fn what_was_issued_opens_to_the_same_terms() {
    let ring = Keyring::new(Key::random(KeyId::parse("k1").unwrap()));
    let now = Timestamp::from_unix_ms(1_800_000_000_123);
    let terms = Terms::new(
        OperationId::mint(now),
        Subject::new("acme", "agent 7/ü").unwrap(),
        Scope::new("payments.transfer"),
        ParamHash::from_bytes([7; 32]),
        now,
        now + std::time::Duration::from_secs(900),
    )
    .unwrap()
    .with_repeat_of(OperationId::mint(now))
    .with_approval();
    let opened = ring.open(ring.issue(&terms).as_str()).unwrap();
    assert_eq!(opened.terms(), &terms);
}
