//! Tags over values that a store keeps.

use super::*;

/// Made with Python's `hmac` and `hashlib` from RFC 5869, so that another language can seal and verify.
const TAG: &str = "1cf7b0a4cfdca98eaca6a0307dced6266896edf2ee87c0c27802592a1d446416";

fn parts() -> [&'static [u8]; 3] {
    [b"id", b"", b"value"]
}

#[test]
fn a_tag_is_hmac_over_parts_with_their_lengths() {
    let tag = Keyring::new(key_1()).value_keys().tag(&parts());
    let hex: String = tag.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, TAG);
}

#[test]
fn no_other_parts_key_or_tag_verify() {
    let mut ring = Keyring::new(key_1());
    let tag = ring.value_keys().tag(&parts());
    ring.rotate(key_2(), NOW).unwrap();
    let keys = ring.value_keys();
    assert!(keys.verifies("k1", &parts(), &tag));
    assert!(!keys.verifies("k2", &parts(), &tag));
    assert!(!keys.verifies("k3", &parts(), &tag));
    for other in [
        [b"id".as_slice(), b"v", b"alue"],
        [b"i", b"d", b"value"],
        [b"id", b"value", b""],
    ] {
        assert!(!keys.verifies("k1", &other, &tag), "{other:?}");
    }
    for bit in 0..256 {
        let mut damaged = tag;
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(!keys.verifies("k1", &parts(), &damaged), "bit {bit}");
    }
}

#[test]
fn a_tag_may_be_cut_to_half_and_no_further() {
    let keys = Keyring::new(key_1()).value_keys();
    let tag = keys.tag(&parts());
    for len in 0..=32 {
        let vouches = keys.verifies("k1", &parts(), &tag[..len]);
        assert_eq!(vouches, len >= ValueKeys::MIN_TAG_LEN, "{len}");
    }
    assert!(!keys.verifies("k1", &parts(), &[tag, tag].concat()));
}

#[test]
fn the_key_that_signs_is_the_one_that_seals() {
    let mut ring = Keyring::new(key_1());
    ring.rotate(key_2(), NOW).unwrap();
    let keys = ring.value_keys();
    assert_eq!(keys.sealing_key_id(), &key_id("k2"));
    assert!(keys.verifies("k2", &parts(), &keys.tag(&parts())));
    assert!(!format!("{keys:?}").contains("c5"), "{keys:?}");
}

#[test]
fn a_fingerprints_tag_is_no_values_tag() {
    let key = key_1();
    let keys = Keyring::new(key.clone()).value_keys();
    let mut framed = 4_u64.to_be_bytes().to_vec();
    framed.extend_from_slice(b"text");
    assert!(!keys.verifies("k1", &[b"text"], &key.tag(&framed)));
}
