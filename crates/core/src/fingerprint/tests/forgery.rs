use hmac::{Hmac, KeyInit, Mac};
use proptest::prelude::*;
use sha2::Sha256;

use super::*;

fn ring() -> Keyring {
    Keyring::new(key_1())
        .with_verifying(key_2(), SignedUntil::Open)
        .unwrap()
}

#[test]
fn every_flipped_bit_is_refused() {
    let ring = ring();
    let terms = plain_terms()
        .with_repeat_of(plain_terms().id)
        .with_approval();
    let good = ring.issue(&terms).as_str().as_bytes().to_vec();
    for position in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[position] ^= 1 << bit;
            assert!(ring.open(&bad).is_err(), "bit {bit} of byte {position}");
        }
    }
}

#[test]
fn every_truncation_and_every_extension_is_mistyped_or_forged() {
    let ring = ring();
    let good = ring.issue(&plain_terms());
    let good = good.as_str();
    for len in 0..good.len() {
        assert_eq!(cause(&ring, &good[..len]), None, "the first {len}");
        assert_eq!(
            cause(&ring, &good[good.len() - len..]),
            None,
            "the last {len}"
        );
    }
    for more in ["A", "AA", ".", ".A", "=", "\n", " ", "\0", good] {
        assert_eq!(
            cause(&ring, format!("{good}{more}")),
            None,
            "{more:?} after"
        );
        assert_eq!(
            cause(&ring, format!("{more}{good}")),
            None,
            "{more:?} before"
        );
    }
}

#[test]
fn another_keys_name_on_it_is_a_forgery() {
    let ring = ring();
    let good = ring.issue(&plain_terms());
    let renamed = good.as_str().replacen("fp1.k1.", "fp1.k2.", 1);
    assert_eq!(cause(&ring, renamed), Some(InvalidCause::Forged));
}

#[test]
fn an_unknown_key_is_told_apart_in_the_log_alone() {
    let ring = ring();
    let stranger = Keyring::new(Key::random(key_id("k3"))).issue(&plain_terms());
    let unknown = ring.open(stranger.as_str()).unwrap_err();
    assert_eq!(unknown, FingerprintError::Invalid(InvalidCause::UnknownKey));
    let forged = FingerprintError::Invalid(InvalidCause::Forged);
    assert_eq!(unknown.to_string(), forged.to_string());
}

/// The ring's own key answers in place of an unknown one; a good tag of it must not make the name good.
#[test]
fn the_signing_keys_tag_under_an_unknown_name_is_refused() {
    let ring = ring();
    let alias = Key::new(key_id("k3"), &SECRET_1).unwrap();
    let text = Keyring::new(alias).issue(&plain_terms());
    assert_eq!(cause(&ring, text.as_str()), Some(InvalidCause::UnknownKey));
}

#[test]
fn a_key_of_the_same_name_and_another_secret_is_a_forger() {
    let forger = Keyring::new(Key::random(key_id("k1")));
    let text = forger.issue(&plain_terms());
    assert_eq!(cause(&ring(), text.as_str()), Some(InvalidCause::Forged));
}

#[test]
fn a_tag_by_the_secret_itself_is_a_forgery() {
    let good = ring().issue(&plain_terms());
    let (signed, _) = good.as_str().rsplit_once('.').unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&SECRET_1).unwrap();
    mac.update(signed.as_bytes());
    let tag = base64::Engine::encode(&BASE64, mac.finalize().into_bytes());
    let text = format!("{signed}.{tag}");
    assert_eq!(cause(&ring(), text), Some(InvalidCause::Forged));
}

#[test]
fn a_text_over_the_cap_is_mistyped_although_signed() {
    // With this prefix, key id and tag, 975 characters of payload make 1,025.
    let longest = sealed([b' '; 729]);
    assert_eq!(longest.len(), 1023);
    assert_eq!(cause(&ring(), longest), Some(InvalidCause::Unreadable));
    let over = sealed([b' '; 732]);
    assert_eq!(over.len(), 1027);
    assert_eq!(cause(&ring(), over), None);

    let at = [b"fp1.k1.".as_slice(), &[b'A'; 973], b".", &[b'A'; 43]].concat();
    assert_eq!(at.len(), MAX_LEN);
    // 973 characters are one over a multiple of four: no base64.
    assert_eq!(cause(&ring(), at), None);
    let at = [b"fp1.k12.".as_slice(), &[b'A'; 972], b".", &[b'A'; 43]].concat();
    assert_eq!(at.len(), MAX_LEN);
    assert_eq!(cause(&ring(), at), Some(InvalidCause::UnknownKey));
}

#[test]
fn a_key_id_has_the_same_shape_here_as_in_its_type() {
    let ring = ring();
    let tag = "A".repeat(43);
    let mut ids: Vec<String> = (0..=0xff_u8).map(|b| char::from(b).to_string()).collect();
    ids.extend(["", "k k", "0123456789abcdef", "0123456789abcdefg"].map(String::from));
    for id in ids.iter().filter(|id| *id != ".") {
        let is_mistyped = cause(&ring, format!("fp1.{id}.AAAA.{tag}")).is_none();
        assert_eq!(is_mistyped, KeyId::parse(id).is_err(), "{id:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_open_and_none_panic(bytes in proptest::collection::vec(any::<u8>(), 0..1100)) {
        prop_assert!(ring().open(bytes).is_err());
    }

    #[test]
    fn no_text_near_the_shape_opens(text in "(fp1|fp2)\\.k[12]?\\.[A-Za-z0-9_=-]{0,40}\\.[A-Za-z0-9_-]{42,44}") {
        prop_assert!(ring().open(text).is_err());
    }

    #[test]
    fn changed_bytes_never_open(
        at in any::<proptest::sample::Index>(),
        with in proptest::collection::vec(any::<u8>(), 0..4),
        removed in 0..4_usize,
    ) {
        let good = ring().issue(&plain_terms());
        let mut bad = good.as_str().as_bytes().to_vec();
        let start = at.index(bad.len());
        let end = (start + removed).min(bad.len());
        bad.splice(start..end, with);
        prop_assert!(bad == good.as_str().as_bytes() || ring().open(&bad).is_err());
    }

    #[test]
    fn no_signed_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 1..730)) {
        prop_assert_eq!(cause(&ring(), sealed(bytes)), Some(InvalidCause::Unreadable));
    }

    /// With the key in hand, a changed payload opens only as what it spells.
    #[test]
    fn a_signed_payload_opens_only_in_its_one_spelling(
        at in any::<proptest::sample::Index>(),
        with in "[ -~]{0,3}",
        removed in 0..3_usize,
    ) {
        let terms = plain_terms().with_repeat_of(plain_terms().id);
        let mut bytes = payload::Payload::of(&terms).as_bytes().to_vec();
        let start = at.index(bytes.len());
        let end = (start + removed).min(bytes.len());
        bytes.splice(start..end, with.bytes());
        if let Ok(opened) = ring().open(sealed(&bytes)) {
            let again = payload::Payload::of(opened.terms());
            prop_assert_eq!(again.as_bytes(), bytes);
        }
    }
}
