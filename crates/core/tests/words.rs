//! The words, parsed at the edge.

use std::time::Duration;

use counterfoil_core::{Epoch, KeyId, OperationId, Owner, ParamHash, Scope, Subject, Timestamp};
use proptest::prelude::*;

#[test]
fn an_operation_id_is_read_in_its_two_spellings_and_no_other() {
    let id: OperationId = "018bcfe5-6800-7abc-8def-0123456789ab".parse().unwrap();
    for same in [
        "018bcfe568007abc8def0123456789ab",
        "018BCFE5-6800-7ABC-8DEF-0123456789AB",
    ] {
        assert_eq!(same.parse::<OperationId>(), Ok(id), "{same}");
    }
    for other in [
        "",
        "018bcfe5-6800-7abc-8def-0123456789a",
        "018bcfe5-6800-7abc-8def-0123456789ab ",
        " 018bcfe5-6800-7abc-8def-0123456789ab",
        "{018bcfe5-6800-7abc-8def-0123456789ab}",
        "urn:uuid:018bcfe5-6800-7abc-8def-0123456789ab",
        "\"018bcfe5-6800-7abc-8def-0123456789ab\"",
        "018bcfe56800-7abc-8def-0123456789ab-",
        "018bcfe5-68007abc8def0123456789ab",
        "018bcfe5-6800-7abc-8def-0123456789ag",
        "018bcfe5-6800-7abc-8def-0123456789\u{ff21}",
    ] {
        assert!(other.parse::<OperationId>().is_err(), "{other}");
    }
    assert_eq!(format!("{id:?}"), id.to_string());
}

#[test]
fn a_minted_id_tells_its_time_and_sorts_by_it() {
    let at = |ms| OperationId::mint(Timestamp::from_unix_ms(ms));
    assert_eq!(
        at(1_700_000_000_123).minted_at(),
        Some(Timestamp::from_unix_ms(1_700_000_000_123))
    );
    assert!(at(1_700_000_000_000) < at(1_700_000_000_001));
    assert_ne!(at(7), at(7), "74 random bits");
    let v4 = OperationId::from_bytes(
        *b"\x01\x02\x03\x04\x05\x06\x47\x08\x89\x0a\x0b\x0c\x0d\x0e\x0f\x10",
    );
    assert_eq!(v4.minted_at(), None);
}

#[test]
fn a_scope_has_the_characters_that_it_says() {
    for good in ["a", "payments.transfer", "a-b_c.9", &"x".repeat(64)] {
        assert_eq!(Scope::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", "A", "a b", "a/b", "ä", &"x".repeat(65)] {
        assert!(Scope::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_subject_names_the_part_that_does_not_fit() {
    assert_eq!(
        Subject::new("", "p").unwrap_err().to_string(),
        "the subject's tenant is empty"
    );
    assert_eq!(
        Subject::new("t", "").unwrap_err().to_string(),
        "the subject's principal is empty"
    );
    assert!(Subject::new(&"t".repeat(192), &"ü".repeat(32)).is_ok());
    let long = Subject::new("t", &"ü".repeat(33)).unwrap_err();
    assert_eq!(
        long.to_string(),
        "the subject's principal is longer than 192 bytes when percent-encoded"
    );
    assert_ne!(Subject::new("a", "bc"), Subject::new("ab", "c"));
}

#[test]
fn a_key_id_has_the_characters_that_it_says() {
    for good in ["k", "K-1_b", "0123456789abcdef"] {
        assert_eq!(KeyId::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", "0123456789abcdefg", "a.b", "a b", "ä"] {
        assert!(KeyId::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_logs_may_show_is_short() {
    let hash = ParamHash::from_bytes([0xab; 32]);
    assert_eq!(format!("{hash:?}"), "ParamHash(abababab…)");
    let owner = Owner::from_bytes([0xcd; 16]);
    assert_eq!(format!("{owner:?}"), "Owner(cdcdcdcd…)");
    assert_ne!(Owner::mint(), Owner::mint());
}

#[test]
fn time_and_epochs_saturate_instead_of_wrapping() {
    let end = Timestamp::from_unix_ms(u64::MAX);
    assert_eq!(end + Duration::MAX, end);
    assert_eq!(
        Timestamp::from_unix_secs(1) - Duration::MAX,
        Timestamp::from_unix_ms(0)
    );
    assert_eq!(Timestamp::from_unix_secs(1).since(end), Duration::ZERO);
    assert_eq!(Epoch::from_u64(u64::MAX).next(), Epoch::from_u64(u64::MAX));
}

proptest! {
    #[test]
    fn an_id_is_read_back_from_what_it_writes(bytes in any::<[u8; 16]>()) {
        let id = OperationId::from_bytes(bytes);
        prop_assert_eq!(id.to_string().parse(), Ok(id));
        prop_assert_eq!(id.simple().parse(), Ok(id));
    }

    #[test]
    fn any_text_is_an_id_or_an_error(text in "\\PC{0,40}") {
        let _ = text.parse::<OperationId>();
    }
}
