//! Texts that are nearly a fingerprint. They are published as vectors too, see `vectors`.

use base64::Engine;

use super::*;

const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

#[test]
fn what_has_not_the_shape_is_mistyped() {
    for (name, text) in mistyped() {
        assert_eq!(cause(&ring(), text), None, "{name}");
    }
}

#[test]
fn what_no_key_of_the_ring_signed_is_invalid() {
    for (name, text, expected) in badly_signed() {
        assert_eq!(cause(&ring(), text), Some(expected), "{name}");
    }
}

#[test]
fn a_signed_payload_of_another_spelling_is_invalid() {
    for (name, payload) in badly_spelled() {
        let text = sealed(payload);
        assert_eq!(
            cause(&ring(), text),
            Some(InvalidCause::Unreadable),
            "{name}"
        );
    }
}

fn ring() -> Keyring {
    Keyring::new(key_1())
        .with_verifying(key_2(), SignedUntil::Open)
        .unwrap()
}

fn plain_payload() -> String {
    String::from_utf8(payload::Payload::of(&plain_terms()).as_bytes().to_vec()).unwrap()
}

/// Puts the tag of key `k1` on any text.
fn tagged(signed: String) -> String {
    let tag = BASE64.encode(key_1().tag(signed.as_bytes()));
    format!("{signed}.{tag}")
}

/// Sets the lowest bit of the last character, which base64url leaves unused where the length is no multiple of four.
fn with_stray_bit(text: &str) -> String {
    let (head, last) = text.split_at(text.len() - 1);
    let value = ALPHABET.find(last).unwrap();
    assert!(
        !text.len().is_multiple_of(4) && value.is_multiple_of(4),
        "{text} has room for a stray bit"
    );
    format!("{head}{}", &ALPHABET[value + 1..value + 2])
}

pub(super) fn mistyped() -> Vec<(&'static str, String)> {
    let good = ring().issue(&plain_terms()).as_str().to_owned();
    let parts: Vec<&str> = good.split('.').collect();
    let [_, _, payload, tag] = parts[..] else {
        panic!("a fingerprint has four parts")
    };
    // A payload whose base64url has unused bits.
    let odd = BASE64.encode(plain_payload().replace("agent-7", "agent-77"));
    let over_cap = sealed(plain_payload().replace("agent-7", &"a".repeat(600)));
    assert!(over_cap.len() > MAX_LEN);
    vec![
        ("empty", String::new()),
        ("the prefix alone", "fp1.".to_owned()),
        ("a word", "confirm".to_owned()),
        ("an unknown version", tagged(format!("fp2.k1.{payload}"))),
        ("an upper-case prefix", tagged(format!("FP1.k1.{payload}"))),
        ("no prefix", tagged(format!("k1.{payload}"))),
        ("no tag", format!("fp1.k1.{payload}")),
        ("an empty tag", format!("fp1.k1.{payload}.")),
        ("no key id", tagged(format!("fp1.{payload}"))),
        ("an empty key id", tagged(format!("fp1..{payload}"))),
        (
            "a key id of 17 characters",
            tagged(format!("fp1.{}.{payload}", "k".repeat(17))),
        ),
        (
            "a key id with a plus sign",
            tagged(format!("fp1.k+1.{payload}")),
        ),
        ("an empty payload", tagged("fp1.k1.".to_owned())),
        ("a fifth part", format!("{good}.AAAA")),
        ("a dot at the end", format!("{good}.")),
        ("two dots", tagged(format!("fp1.k1..{payload}"))),
        (
            "a dot in the payload",
            tagged(format!("fp1.k1.{}.{}", &payload[..8], &payload[8..])),
        ),
        ("a space in front", format!(" {good}")),
        ("a line feed behind", format!("{good}\n")),
        (
            "a line feed in the payload",
            tagged(format!("fp1.k1.{}\n{}", &payload[..8], &payload[8..])),
        ),
        ("quotes around", format!("\"{good}\"")),
        (
            "padding behind the payload",
            tagged(format!("fp1.k1.{odd}=")),
        ),
        ("padding behind the tag", format!("{good}=")),
        (
            "a stray bit in the payload",
            tagged(format!("fp1.k1.{}", with_stray_bit(&odd))),
        ),
        (
            "a stray bit in the tag",
            format!("fp1.k1.{payload}.{}", with_stray_bit(tag)),
        ),
        (
            "a payload of 4n+1 characters",
            tagged("fp1.k1.AAAAA".to_owned()),
        ),
        (
            "the other base64 alphabet",
            tagged(format!("fp1.k1.{payload}+/")),
        ),
        (
            "a tag of 31 bytes",
            format!("fp1.k1.{payload}.{}", BASE64.encode([0; 31])),
        ),
        (
            "a tag of 33 bytes",
            format!("fp1.k1.{payload}.{}", BASE64.encode([0; 33])),
        ),
        (
            "a tag cut to 128 bits",
            format!("fp1.k1.{payload}.{}", &tag[..22]),
        ),
        ("the last character lost", good[..good.len() - 1].to_owned()),
        ("a look-alike letter", good.replacen('p', "р", 1)),
        (
            "an ellipsis for the middle",
            format!("{}…{}", &good[..40], &good[good.len() - 20..]),
        ),
        ("over 1,024 bytes, well signed", over_cap),
    ]
}

pub(super) fn badly_signed() -> Vec<(&'static str, String, InvalidCause)> {
    let good = ring().issue(&plain_terms()).as_str().to_owned();
    let (signed, tag) = good.rsplit_once('.').unwrap();
    let other_params = BASE64.encode(plain_payload().replace("agent-7", "agent-8"));
    let tag_over_payload = {
        let payload = signed.rsplit_once('.').unwrap().1;
        BASE64.encode(key_1().tag(payload.as_bytes()))
    };
    // Deterministic, so that the published file does not change.
    let stranger = Key::new(key_id("k9"), &[9; 32]).unwrap();
    let namesake = Key::new(key_id("k1"), &[9; 32]).unwrap();
    let issue = |key| Keyring::new(key).issue(&plain_terms()).as_str().to_owned();
    vec![
        ("an unknown key", issue(stranger), InvalidCause::UnknownKey),
        (
            "another secret under a known name",
            issue(namesake),
            InvalidCause::Forged,
        ),
        (
            "another key's name",
            good.replacen(".k1.", ".k2.", 1),
            InvalidCause::Forged,
        ),
        (
            "the key's name in upper case",
            good.replacen(".k1.", ".K1.", 1),
            InvalidCause::UnknownKey,
        ),
        (
            "another subject under the same tag",
            format!("fp1.k1.{other_params}.{tag}"),
            InvalidCause::Forged,
        ),
        (
            "a tag of zeros",
            format!("{signed}.{}", BASE64.encode([0; 32])),
            InvalidCause::Forged,
        ),
        (
            "a tag over the payload alone",
            format!("{signed}.{tag_over_payload}"),
            InvalidCause::Forged,
        ),
        (
            "a tag by the key itself, not its subkey",
            with_tag_by(signed, &SECRET_1),
            InvalidCause::Forged,
        ),
        (
            "a tag by the subkey of another use",
            with_tag_by(signed, &grant_subkey()),
            InvalidCause::Forged,
        ),
    ]
}

fn with_tag_by(signed: &str, hmac_key: &[u8]) -> String {
    use hmac::{Hmac, KeyInit, Mac};
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(hmac_key).unwrap();
    mac.update(signed.as_bytes());
    format!("{signed}.{}", BASE64.encode(mac.finalize().into_bytes()))
}

fn grant_subkey() -> [u8; 32] {
    let mut subkey = [0; 32];
    hkdf::Hkdf::<sha2::Sha256>::new(None, &SECRET_1)
        .expand(b"counterfoil/v1/grant", &mut subkey)
        .unwrap();
    subkey
}

/// Payloads that `k1` signs, and that nothing of ours writes.
pub(super) fn badly_spelled() -> Vec<(&'static str, Vec<u8>)> {
    let good = plain_payload();
    let twin = ",\"r\":\"01a3185c5c007abc8def0123456789ab\"";
    let hash = "p6enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6c";
    let change = |from: &str, to: &str| {
        assert!(good.contains(from), "{from} in {good}");
        good.replacen(from, to, 1).into_bytes()
    };
    let append = |members: &str| change("\"}", &format!("\"{members}}}"));
    let mut raw_utf8 = change("agent-7", "ag\u{fc}nt");
    let latin_1 = raw_utf8.iter().position(|&b| b == 0xc3).unwrap();
    raw_utf8.remove(latin_1);
    vec![
        // The operation.
        ("an id in upper case", change("5c5c007abc", "5C5C007ABC")),
        (
            "an id with hyphens",
            change(
                "01a3185c5c007abc8def0123456789ab",
                "01a3185c-5c00-7abc-8def-0123456789ab",
            ),
        ),
        ("an id of 31 digits", change("0123456789ab", "0123456789a")),
        (
            "an id of 33 digits",
            change("0123456789ab", "0123456789abc"),
        ),
        (
            "an id that is no hex",
            change("0123456789ab", "0123456789ag"),
        ),
        ("an id of version 4", change("7abc", "4abc")),
        ("an id of version 8", change("7abc", "8abc")),
        ("an id of another variant", change("8def", "cdef")),
        // The expiry.
        (
            "exp with a zero in front",
            change("1800000900", "01800000900"),
        ),
        ("exp with a plus sign", change("1800000900", "+1800000900")),
        ("exp below zero", change("1800000900", "-1")),
        ("exp of minus zero", change("1800000900", "-0")),
        ("exp with a fraction", change("1800000900", "1800000900.0")),
        ("exp with an exponent", change("1800000900", "18e8")),
        ("exp as text", change("1800000900", "\"1800000900\"")),
        ("exp of null", change("1800000900", "null")),
        ("no number for exp", change("1800000900", "")),
        (
            "exp after the year 9999",
            change("1800000900", "253402300800"),
        ),
        (
            "exp over 64 bits",
            change("1800000900", "18446744073709551616"),
        ),
        // The subject.
        (
            "an unreserved character percent-encoded",
            change("agent-7", "agent%2D7"),
        ),
        (
            "percent-encoding in lower case",
            change("agent-7", "agent%2f7"),
        ),
        (
            "a plus sign in percent-encoding",
            change("agent-7", "agent%+f7"),
        ),
        ("half a percent-encoding", change("agent-7", "agent%2")),
        ("a percent sign alone", change("agent-7", "agent%")),
        ("percent-encoding of no hex", change("agent-7", "agent%zz")),
        (
            "percent-encoding of no UTF-8",
            change("agent-7", "agent%FF"),
        ),
        (
            "percent-encoding of a surrogate",
            change("agent-7", "agent%ED%A0%80"),
        ),
        (
            "percent-encoding of a long form",
            change("agent-7", "agent%C0%AF"),
        ),
        ("a space in the subject", change("agent-7", "agent 7")),
        ("UTF-8 in the subject", change("agent-7", "ag\u{fc}nt")),
        ("Latin-1 in the subject", raw_utf8),
        (
            "an escape in the subject",
            change("agent-7", "agent\\u002d7"),
        ),
        ("a second slash", change("acme/agent-7", "acme/agent/7")),
        ("no slash", change("acme/agent-7", "acme")),
        ("an empty tenant", change("acme/", "/")),
        ("an empty principal", change("agent-7", "")),
        ("a tenant of 193 bytes", change("acme", &"a".repeat(193))),
        (
            "a principal of 193 bytes, percent-encoded",
            change("agent-7", &format!("a{}", "%20".repeat(64))),
        ),
        // The scope.
        ("a scope in upper case", change("payments", "Payments")),
        ("an empty scope", change("payments.transfer", "")),
        (
            "a scope of 65 characters",
            change("payments.transfer", &"s".repeat(65)),
        ),
        (
            "an escape in the scope",
            change("payments.", "payments\\u002e"),
        ),
        // The hash.
        (
            "a stray bit in the hash",
            change(hash, &with_stray_bit(hash)),
        ),
        ("padding behind the hash", change(hash, &format!("{hash}="))),
        (
            "a hash of 31 bytes",
            change(hash, &BASE64.encode([0xa7; 31])),
        ),
        (
            "a hash of 33 bytes",
            change(hash, &BASE64.encode([0xa7; 33])),
        ),
        ("a hash in hex", change(hash, &"a7".repeat(32))),
        // The optional members.
        ("a of false", append(",\"a\":false")),
        ("a of 1", append(",\"a\":1")),
        ("a as text", append(",\"a\":\"true\"")),
        ("a before r", append(&format!(",\"a\":true{twin}"))),
        ("r of null", append(",\"r\":null")),
        ("an empty r", append(",\"r\":\"\"")),
        ("r in upper case", append(&twin.replace("abc", "ABC"))),
        (
            "r with hyphens",
            append(",\"r\":\"01a3185c-5c00-7abc-8def-0123456789ab\""),
        ),
        // The members.
        ("an unknown member", append(",\"z\":1")),
        (
            "an unknown member between",
            change(",\"s\":", ",\"v\":1,\"s\":"),
        ),
        ("a member twice", append(",\"p\":\"\"")),
        ("r twice", append(&format!("{twin}{twin}"))),
        ("a twice", append(",\"a\":true,\"a\":true")),
        (
            "s before u",
            change(
                "\"u\":\"acme/agent-7\",\"s\":\"payments.transfer\"",
                "\"s\":\"payments.transfer\",\"u\":\"acme/agent-7\"",
            ),
        ),
        (
            "exp before n",
            change(
                "\"n\":\"01a3185c5c007abc8def0123456789ab\",\"exp\":1800000900",
                "\"exp\":1800000900,\"n\":\"01a3185c5c007abc8def0123456789ab\"",
            ),
        ),
        (
            "no n",
            change("\"n\":\"01a3185c5c007abc8def0123456789ab\",", ""),
        ),
        ("no exp", change(",\"exp\":1800000900", "")),
        ("no u", change(",\"u\":\"acme/agent-7\"", "")),
        ("no s", change(",\"s\":\"payments.transfer\"", "")),
        ("no p", change(&format!(",\"p\":\"{hash}\""), "")),
        (
            "a member's name in upper case",
            change("\"exp\"", "\"EXP\""),
        ),
        (
            "a member's name with an escape",
            change("\"n\"", "\"\\u006e\""),
        ),
        // The text.
        ("a space behind a colon", change("\"exp\":", "\"exp\": ")),
        ("a space behind a comma", change(",\"u\"", ", \"u\"")),
        ("a line feed at the end", change("\"}", "\"}\n")),
        ("a byte at the end", change("\"}", "\"}\0")),
        ("a second object", change("\"}", "\"}{}")),
        ("a comma at the end", append(",")),
        ("a byte order mark", change("{", "\u{feff}{")),
        ("an array", format!("[{good}]").into_bytes()),
        ("cut short", good.as_bytes()[..good.len() - 1].to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("no JSON", b"payments.transfer".to_vec()),
    ]
}
