use super::*;

const LIFE: Duration = Duration::from_secs(7 * 24 * 3600);

#[test]
fn a_secret_of_another_length_is_refused_with_both_numbers() {
    for len in [0, 1, 31, 65, 1000] {
        let error = Key::new(key_id("k1"), &vec![7; len]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("a key has 32 to 64 bytes, this one has {len}")
        );
        let error = Key::from_hex(key_id("k1"), &"07".repeat(len)).unwrap_err();
        assert_eq!(error, KeyError::Length { len });
    }
    for len in [32, 33, 63, 64] {
        assert!(Key::new(key_id("k1"), &vec![7; len]).is_ok());
    }
}

#[test]
fn hex_of_either_case_is_the_same_key() {
    let lower = Key::from_hex(key_id("k1"), &"c5".repeat(64)).unwrap();
    let upper = Key::from_hex(key_id("k1"), &"C5".repeat(64)).unwrap();
    let bytes = Key::new(key_id("k1"), &SECRET_2).unwrap();
    assert_eq!(lower.tag(b"text"), bytes.tag(b"text"));
    assert_eq!(upper.tag(b"text"), bytes.tag(b"text"));
    let counting: String = (0..32).map(|n| format!("{n:02x}")).collect();
    let counted = Key::from_hex(key_id("k1"), &counting).unwrap();
    assert_eq!(counted.tag(b"text"), key_1().tag(b"text"));
}

#[test]
fn hex_with_anything_around_it_is_refused() {
    let good = "c5".repeat(32);
    for bad in [
        format!("0x{good}"),
        format!(" {good} "),
        format!("{good}\n"),
        format!("{good}c"),
        good.replace("c5c5", "c5 c"),
        good.replacen('5', "g", 1),
        "ü".repeat(32),
    ] {
        let error = Key::from_hex(key_id("k1"), &bad).unwrap_err();
        assert_eq!(error, KeyError::NotHex, "{bad:?}");
    }
}

#[test]
fn two_random_keys_differ() {
    let (one, other) = (Key::random(key_id("k1")), Key::random(key_id("k1")));
    assert_ne!(one.tag(b"text"), other.tag(b"text"));
}

#[test]
fn after_a_rotation_the_old_fingerprint_names_the_same_operation() {
    let mut ring = Keyring::new(key_1());
    let terms = plain_terms();
    let before = ring.issue(&terms);
    ring.rotate(key_2(), NOW).unwrap();
    let after = ring.issue(&terms);

    assert_eq!(before.key_id(), &key_id("k1"));
    assert_eq!(after.key_id(), &key_id("k2"));
    assert_ne!(before.as_str(), after.as_str());
    let opened = ring.open(before.as_str()).unwrap();
    assert_eq!(opened.key_id(), &key_id("k1"));
    assert_eq!(opened.terms(), ring.open(after.as_str()).unwrap().terms());
}

#[test]
fn a_key_that_is_needed_is_dropped_no_sooner() {
    let mut ring = Keyring::new(key_1());
    let old = ring.issue(&plain_terms());
    ring.rotate(key_2(), NOW).unwrap();
    let k1 = key_id("k1");
    let until = NOW + LIFE;

    let error = ring.drop_key(&k1, until - Duration::from_millis(1), LIFE);
    let needed = DropKeyError::StillNeeded {
        id: k1.clone(),
        until,
    };
    assert_eq!(error, Err(needed.clone()));
    assert_eq!(
        needed.to_string(),
        "the key k1 verifies retries until 1800604800 (Unix seconds)"
    );
    assert!(ring.open(old.as_str()).is_ok());

    ring.drop_key(&k1, until, LIFE).unwrap();
    assert_eq!(cause(&ring, old.as_str()), Some(InvalidCause::UnknownKey));
    assert_eq!(
        ring.drop_key(&k1, until, LIFE),
        Err(DropKeyError::Unknown(k1))
    );
}

#[test]
fn a_leaked_key_is_dropped_when_told_to() {
    let mut ring = Keyring::new(key_1());
    let old = ring.issue(&plain_terms());
    ring.rotate(key_2(), NOW).unwrap();
    ring.drop_key_anyway(&key_id("k1")).unwrap();
    assert!(ring.open(old.as_str()).is_err());
}

#[test]
fn the_key_that_signs_is_never_dropped() {
    let mut ring = Keyring::new(key_1());
    let k1 = key_id("k1");
    let late = NOW + LIFE + LIFE;
    let signs = Err(DropKeyError::Signs(k1.clone()));
    assert_eq!(ring.drop_key(&k1, late, LIFE), signs);
    assert_eq!(ring.drop_key_anyway(&k1), signs);
}

#[test]
fn a_key_that_signs_elsewhere_is_dropped_only_when_told_to() {
    let mut ring = Keyring::new(key_1())
        .with_verifying(key_2(), SignedUntil::Open)
        .unwrap();
    let k2 = key_id("k2");
    assert_eq!(
        ring.drop_key(&k2, NOW + LIFE + LIFE, LIFE),
        Err(DropKeyError::SignsElsewhere(k2.clone()))
    );
    ring.drop_key_anyway(&k2).unwrap();
    assert_eq!(ring.verifying_keys().count(), 0);
}

#[test]
fn instances_that_rotate_one_by_one_open_each_others_fingerprints() {
    let ready = || {
        Keyring::new(key_1())
            .with_verifying(key_2(), SignedUntil::Open)
            .unwrap()
    };
    let (mut first, second) = (ready(), ready());
    first.promote(&key_id("k2"), NOW).unwrap();
    for (issuer, reader) in [(&first, &second), (&second, &first)] {
        let fingerprint = issuer.issue(&plain_terms());
        assert!(reader.open(fingerprint.as_str()).is_ok());
    }
    assert_eq!(first.signing_key_id(), &key_id("k2"));
    let retired: Vec<_> = first.verifying_keys().collect();
    assert_eq!(retired, [(&key_id("k1"), SignedUntil::At(NOW))]);
}

#[test]
fn promoting_the_key_that_signs_changes_nothing() {
    let mut ring = Keyring::new(key_1());
    ring.promote(&key_id("k1"), NOW).unwrap();
    assert_eq!(ring.verifying_keys().count(), 0);
    let k2 = key_id("k2");
    assert_eq!(ring.promote(&k2, NOW), Err(UnknownKey(k2)));
}

#[test]
fn two_keys_of_one_id_are_refused() {
    let duplicate = || Key::random(key_id("k1"));
    let k1 = DuplicateKey(key_id("k1"));
    let added = Keyring::new(key_1()).with_verifying(duplicate(), SignedUntil::Open);
    assert_eq!(added.unwrap_err(), k1);

    let mut ring = Keyring::new(key_1());
    assert_eq!(ring.rotate(duplicate(), NOW), Err(k1.clone()));
    ring.rotate(key_2(), NOW).unwrap();
    assert_eq!(ring.rotate(duplicate(), NOW), Err(k1));
}

#[test]
fn debug_shows_no_secret_and_no_fingerprint() {
    let ring = Keyring::new(key_1())
        .with_verifying(key_2(), SignedUntil::At(NOW))
        .unwrap();
    let fingerprint = ring.issue(&plain_terms());
    let opened = ring.open(fingerprint.as_str()).unwrap();
    let shown = format!("{ring:?} {:?} {fingerprint:?} {opened:?}", key_1());
    let pretty = format!("{ring:#?} {:#?} {fingerprint:#?} {opened:#?}", key_1());

    let tag = fingerprint.as_str().rsplit('.').next().unwrap();
    let payload = fingerprint.as_str().split('.').nth(2).unwrap();
    for text in [shown, pretty] {
        for secret in [
            "00010203",
            "c5c5c5",
            "0, 1, 2, 3",
            "197, 197",
            fingerprint.as_str(),
            &tag[..8],
            &payload[..8],
        ] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
    assert_eq!(format!("{:?}", key_1()), "Key { id: k1, .. }");
    assert_eq!(
        format!("{fingerprint:?}"),
        format!(
            "Fingerprint {{ key_id: k1, operation_id: 01a3185c-5c00-7abc-8def-0123456789ab, digest: {}, .. }}",
            fingerprint.digest()
        )
    );
}

#[test]
fn a_fingerprint_serializes_as_its_text() {
    let fingerprint = Keyring::new(key_1()).issue(&plain_terms());
    let json = serde_json::to_string(&fingerprint).unwrap();
    assert_eq!(json, format!("\"{}\"", fingerprint.as_str()));
}

#[test]
fn the_digest_is_the_head_of_the_sha_256_of_the_text() {
    use sha2::{Digest, Sha256};
    let fingerprint = Keyring::new(key_1()).issue(&plain_terms());
    let whole: String = Sha256::digest(fingerprint.as_str())
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(fingerprint.digest().to_string(), whole[..8]);
}
