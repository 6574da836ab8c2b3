//! What a grant binds, and what is refused.

mod vectors;

use std::time::Duration;

use proptest::prelude::*;

use super::{keys::seal, *};
use crate::{
    Epoch, KeyId, OperationId, Step, Timestamp,
    fingerprint::{Key, Keyring, SignedUntil, Terms},
};

const LEDGER: Audience = Audience::new("ledger");
const NOW: Timestamp = Timestamp::from_unix_secs(1_800_000_000);
const BODY: &[u8] = br#"{"amount":"10"}"#;

fn key(id: &str, byte: u8) -> GrantKey {
    GrantKey::new(KeyId::parse(id).unwrap(), &[byte; 32]).unwrap()
}

fn keys() -> GrantKeys {
    GrantKeys::new(key("g1", 1))
}

fn operation() -> OperationId {
    "018bcfe5-6800-7abc-9def-0123456789ab".parse().unwrap()
}

fn request() -> GrantRequest {
    GrantRequest::new(&LEDGER, "POST", "/entries?a=1").with_body(BODY)
}

fn terms() -> GrantTerms {
    let step = Step::new("fee");
    GrantTerms::new(operation(), Epoch::from_u64(3), Some(step), &request(), NOW).unwrap()
}

fn grant() -> Grant {
    keys().issue(&terms())
}

fn opened() -> OpenedGrant {
    keys().open(grant().as_str()).unwrap()
}

#[test]
fn a_grant_is_opened_to_what_was_granted_and_is_good_for_that_request() {
    let opened = opened();
    assert_eq!(opened.terms(), &terms());
    assert_eq!(opened.key_id().as_str(), "g1");
    assert_eq!(opened.check(NOW, &LEDGER, "POST", "/entries?a=1"), Ok(()));
    assert_eq!(opened.check_body(BODY), Ok(()));
    let fee = operation().step(&Step::new("fee"));
    assert_eq!(opened.terms().downstream_key(), fee);
}

#[test]
fn another_service_method_path_query_or_body_is_refused() {
    let opened = opened();
    let check = |audience: &Audience, method, target| opened.check(NOW, audience, method, target);
    let bank = Audience::new("bank");
    assert_eq!(
        check(&bank, "POST", "/entries?a=1"),
        Err(GrantError::OtherAudience)
    );
    for (method, target) in [
        ("PUT", "/entries?a=1"),
        ("post", "/entries?a=1"),
        ("POST", "/entries"),
        ("POST", "/entries?a=2"),
        ("POST", "/entries?a=1&a=1"),
        ("POST", "/Entries?a=1"),
        ("POST", "/%65ntries?a=1"),
        ("POST/", "entries?a=1"),
        ("", ""),
    ] {
        let refused = check(&LEDGER, method, target);
        assert_eq!(refused, Err(GrantError::OtherRequest), "{method} {target}");
    }
    for body in [
        &b""[..],
        b"{}",
        br#"{"amount":"10"} "#,
        br#"{"amount":"11"}"#,
    ] {
        assert_eq!(opened.check_body(body), Err(GrantError::OtherBody));
    }
}

#[test]
fn a_grant_is_good_until_its_end_and_not_at_it() {
    let opened = opened();
    let end = opened.terms().exp();
    assert_eq!(end, NOW + GrantTerms::DEFAULT_LIFE);
    let at = |now| opened.check(now, &LEDGER, "POST", "/entries?a=1");
    assert_eq!(at(end - Duration::from_millis(1)), Ok(()));
    assert_eq!(at(end), Err(GrantError::Expired));
    assert_eq!(at(end + Duration::from_secs(1)), Err(GrantError::Expired));
    assert_eq!(at(end - GrantTerms::MAX_LIFE), Ok(()));
    // A gate whose clock is far ahead would hand out grants that outlive what the service remembers.
    let early = end - GrantTerms::MAX_LIFE - Duration::from_millis(1);
    assert_eq!(at(early), Err(GrantError::EndsTooLate));
}

#[test]
fn a_life_is_one_second_to_five_minutes_and_its_end_is_rounded_down() {
    let lived = |life, now| {
        let request = request().with_life(life);
        GrantTerms::new(operation(), Epoch::FIRST, None, &request, now).map(|terms| terms.exp())
    };
    let late = NOW + Duration::from_millis(999);
    assert_eq!(
        lived(Duration::from_secs(1), late),
        Ok(NOW + Duration::from_secs(1))
    );
    assert_eq!(
        lived(Duration::from_secs(300), NOW),
        Ok(NOW + Duration::from_secs(300))
    );
    for life in [
        Duration::ZERO,
        Duration::from_millis(999),
        Duration::from_millis(300_001),
    ] {
        assert_eq!(lived(life, NOW), Err(GrantLifeError { life }));
    }
}

#[test]
fn what_another_key_signed_is_refused() {
    let text = grant().as_str().to_owned();
    let open = |keys: GrantKeys| keys.open(&text).map(|opened| opened.key_id().clone());
    assert_eq!(
        open(GrantKeys::new(key("g1", 2))),
        Err(GrantError::Invalid(InvalidGrant::Forged))
    );
    assert_eq!(
        open(GrantKeys::new(key("g2", 1))),
        Err(GrantError::Invalid(InvalidGrant::UnknownKey))
    );
    let rotated = GrantKeys::new(key("g2", 2))
        .with_verifying(key("g1", 1))
        .unwrap();
    assert_eq!(open(rotated.clone()), Ok(KeyId::parse("g1").unwrap()));
    assert!(rotated.with_verifying(key("g2", 3)).is_err());
}

#[test]
fn every_changed_character_and_every_cut_is_refused() {
    let text = grant().as_str().to_owned();
    for at in 0..text.len() {
        assert!(keys().open(&text[..at]).is_err(), "cut at {at}");
        let mut changed = text.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        assert!(keys().open(&changed).is_err(), "changed at {at}");
    }
    for changed in [
        format!("{text}."),
        format!("{text} "),
        format!(" {text}"),
        format!("{text}="),
        text.replace("gr1.", "gr2."),
        text.replace("gr1.", "fp1."),
        text.replacen('.', "..", 2),
    ] {
        assert_eq!(
            keys().open(&changed).unwrap_err(),
            GrantError::Mistyped,
            "{changed}"
        );
    }
}

#[test]
fn a_text_over_the_cap_is_not_looked_at_and_the_longest_grant_is_under_it() {
    let audience = Audience::parse(&"a".repeat(Audience::MAX_LEN)).unwrap();
    let step = Step::parse(&"s".repeat(Step::MAX_LEN)).unwrap();
    let request = GrantRequest::new(&audience, "POST", "/");
    let mut terms = GrantTerms::new(
        operation(),
        Epoch::from_u64(u64::MAX),
        Some(step),
        &request,
        Timestamp::from_unix_ms(u64::MAX),
    )
    .unwrap();
    assert_eq!(terms.exp().unix_secs(), super::terms::MAX_EXP_SECS);
    terms.operation_id = OperationId::from_bytes([255; 16]);
    let keys = GrantKeys::new(key(&"k".repeat(KeyId::MAX_LEN), 1));
    let longest = keys.issue(&terms);
    assert!(
        longest.as_str().len() <= MAX_LEN,
        "{}",
        longest.as_str().len()
    );
    assert_eq!(keys.open(longest.as_str()).unwrap().terms(), &terms);
    assert_eq!(payload::write(&terms).len(), payload::MAX_PAYLOAD_LEN);

    let over = format!(
        "gr1.g1.{}.{}",
        "A".repeat(MAX_LEN),
        "A".repeat(TAG_TEXT_LEN)
    );
    assert_eq!(keys.open(over).unwrap_err(), GrantError::Mistyped);
}

#[test]
fn a_signed_payload_of_another_spelling_is_refused() {
    let good = payload::write(&terms());
    let signed = |payload: &str| keys().open(seal(&key("g1", 1), payload.as_bytes()));
    assert!(signed(&good).is_ok());
    for bad in [
        good.replace(":3,", ": 3,"),
        good.replace(":3,", ":03,"),
        good.replace(":3,", ":3.0,"),
        good.replace(":3,", ":-3,"),
        good.replace(":3,", ":18446744073709551616,"),
        good.replace("018bcfe5", "018BCFE5"),
        good.replace(
            "018bcfe568007abc9def0123456789ab",
            "018bcfe5-6800-7abc-9def-0123456789ab",
        ),
        good.replace("\"ledger\"", "\"Ledger\""),
        good.replace("\"ledger\"", "\"le\\u0064ger\""),
        good.replace("\"fee\"", "\"\""),
        good.replace("\"fee\"", "null"),
        good.replace("\"t\":", "\"x\":"),
        good.replace('}', ",\"x\":1}"),
        good.replace('}', ",\"t\":\"fee\"}"),
        good.replace('}', "} "),
        good.replace("{\"n\"", "{\"e\":3,\"n\""),
        good.replace("1800000030", "253402300800"),
        String::new(),
        "[]".to_owned(),
        "\u{feff}".to_owned() + &good,
    ] {
        assert_ne!(bad, good);
        assert_eq!(
            signed(&bad).map(|_| ()).unwrap_err(),
            if bad.is_empty() {
                GrantError::Mistyped
            } else {
                GrantError::Invalid(InvalidGrant::Unreadable)
            },
            "{bad}"
        );
    }
}

#[test]
fn a_rings_grant_keys_are_those_of_its_secrets_and_no_fingerprint_is_a_grant() {
    let secret = [9; 32];
    let id = KeyId::parse("k1").unwrap();
    let ring = Keyring::new(Key::new(KeyId::parse("k2").unwrap(), &[8; 32]).unwrap())
        .with_verifying(Key::new(id.clone(), &secret).unwrap(), SignedUntil::Open)
        .unwrap();
    let of_secret = GrantKeys::new(GrantKey::new(id.clone(), &secret).unwrap());
    let of_subkey = GrantKeys::new(GrantKey::from_subkey(
        id.clone(),
        &GrantKey::subkey_of(&secret),
    ));
    let of_hex = GrantKeys::new(GrantKey::from_hex(id.clone(), &"09".repeat(32)).unwrap());
    for minted in [&of_secret, &of_subkey, &of_hex] {
        let grant = minted.issue(&terms());
        assert!(ring.grant_keys().open(grant.as_str()).is_ok());
    }
    let by_ring = ring.grant_keys().issue(&terms());
    assert_eq!(by_ring.key_id().as_str(), "k2");

    // The tag of one use is none of the other, even where the text before it is.
    let ring = Keyring::new(Key::new(id, &secret).unwrap());
    let hash = crate::ParamHash::from_bytes([7; 32]);
    let subject = crate::Subject::new("acme", "agent-7").unwrap();
    let scope = crate::Scope::new("payments.transfer");
    let exp = NOW + Duration::from_secs(900);
    let fingerprint = ring.issue(&Terms::new(operation(), subject, scope, hash, NOW, exp).unwrap());
    let as_grant = fingerprint.as_str().replacen("fp1.", "gr1.", 1);
    assert!(of_secret.open(as_grant).is_err());
    let as_fingerprint = of_secret
        .issue(&terms())
        .as_str()
        .replacen("gr1.", "fp1.", 1);
    assert!(ring.open(as_fingerprint).is_err());
}

#[test]
fn debug_shows_neither_the_text_nor_a_secret() {
    let text = grant().as_str().to_owned();
    let shown = format!(
        "{:?} {:?} {:?} {:?}",
        grant(),
        keys(),
        key("g1", 1),
        opened()
    );
    for part in text.split('.').skip(2) {
        assert!(!shown.contains(part), "{shown}");
    }
    assert!(!shown.contains("[1, 1"), "{shown}");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(keys().open(&bytes).is_err());
    }

    #[test]
    fn any_terms_come_back_as_they_were(
        id: [u8; 16],
        epoch: u64,
        step in proptest::option::of("[a-z0-9._-]{1,64}"),
        audience in "[a-z0-9._-]{1,64}",
        target in "/[ -~]{0,40}",
        body: Vec<u8>,
        secs in 0u64..300_000_000_000,
    ) {
        let audience = Audience::parse(&audience).unwrap();
        let request = GrantRequest::new(&audience, "POST", &target).with_body(&body);
        let step = step.map(|name| Step::parse(&name).unwrap());
        let now = Timestamp::from_unix_secs(secs);
        let terms =
            GrantTerms::new(OperationId::from_bytes(id), Epoch::from_u64(epoch), step, &request, now)
                .unwrap();
        let opened = keys().open(keys().issue(&terms).as_str()).unwrap();
        prop_assert_eq!(opened.terms(), &terms);
    }
}
