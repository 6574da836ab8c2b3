//! The published vectors, `docs/spec/fingerprint-v1.json`. With `COUNTERFOIL_WRITE_VECTORS=1` in the environment the
//! first test writes the file instead of comparing it.

use std::{fs, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::*;
use crate::fingerprint::terms::MAX_EXP_SECS;

#[derive(Debug, Serialize, Deserialize)]
struct Vectors {
    about: String,
    keys: Vec<KeyVector>,
    good: Vec<Good>,
    bad: Vec<Bad>,
    requests: Vec<Request>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeyVector {
    id: String,
    secret_hex: String,
    subkey_hex: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Good {
    name: String,
    key: String,
    operation_id: String,
    exp: u64,
    tenant: String,
    principal: String,
    scope: String,
    param_hash_hex: String,
    repeat_of: Option<String>,
    needs_approval: bool,
    payload: String,
    fingerprint: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Bad {
    name: String,
    text: String,
    answer: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Request {
    name: String,
    fingerprint: String,
    tenant: String,
    principal: String,
    scope: String,
    param_hash_hex: String,
    answer: String,
}

#[test]
fn the_published_vectors_are_what_this_code_writes() {
    let mut text = serde_json::to_string_pretty(&written()).unwrap();
    text.push('\n');
    if std::env::var_os("COUNTERFOIL_WRITE_VECTORS").is_some() {
        fs::write(spec("fingerprint-v1.json"), &text).unwrap();
    }
    // Not `assert_eq`: the two texts have a hundred kilobytes.
    assert!(
        read(&spec("fingerprint-v1.json")) == text,
        "the file is another one"
    );
}

#[test]
fn every_published_vector_is_answered_as_it_says() {
    let vectors: Vectors = serde_json::from_str(&read(&spec("fingerprint-v1.json"))).unwrap();
    let ring = ring_of(&vectors.keys);
    for good in &vectors.good {
        let opened = ring.open(&good.fingerprint).unwrap();
        let terms = opened.terms();
        assert_eq!(opened.key_id().as_str(), good.key, "{}", good.name);
        assert_eq!(describe(good.name.clone(), &good.key, terms), *good);
    }
    for bad in &vectors.bad {
        let error = ring.open(&bad.text).unwrap_err();
        assert_eq!(answer(error), bad.answer, "{}", bad.name);
    }
    for request in &vectors.requests {
        assert_eq!(
            answer_to(&ring, request),
            request.answer,
            "{}",
            request.name
        );
    }
}

#[test]
fn the_example_in_the_text_is_the_first_vector() {
    let vectors = written();
    let text = read(&spec("fingerprint.md"));
    let (key, first) = (&vectors.keys[0], &vectors.good[0]);
    for part in [
        &key.secret_hex,
        &key.subkey_hex,
        &first.payload,
        &first.fingerprint,
    ] {
        assert!(text.contains(part.as_str()), "{part}");
    }
}

impl PartialEq for Good {
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_string(self).unwrap() == serde_json::to_string(other).unwrap()
    }
}

fn spec(file: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/spec")).join(file)
}

fn read(path: &PathBuf) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn ring_of(keys: &[KeyVector]) -> Keyring {
    let mut keys = keys
        .iter()
        .map(|key| Key::from_hex(key_id(&key.id), &key.secret_hex).unwrap());
    let signing = Keyring::new(keys.next().unwrap());
    keys.fold(signing, |ring, key| {
        ring.with_verifying(key, SignedUntil::Open).unwrap()
    })
}

fn answer(error: FingerprintError) -> &'static str {
    match error {
        FingerprintError::Mistyped => "fingerprint_mistyped",
        FingerprintError::Invalid(_) => "fingerprint_invalid",
    }
}

fn answer_to(ring: &Keyring, request: &Request) -> &'static str {
    let subject = Subject::new(&request.tenant, &request.principal).unwrap();
    let scope = Scope::parse(&request.scope).unwrap();
    let hash = unhex(&request.param_hash_hex).try_into().unwrap();
    let opened = ring.open(&request.fingerprint).unwrap();
    if let Err(error) = opened.terms().check_caller(&subject, &scope) {
        return answer(error);
    }
    match opened.terms().check_params(&ParamHash::from_bytes(hash)) {
        Ok(()) => "ok",
        Err(ParamsChanged) => "params_changed",
    }
}

fn describe(name: String, key: &str, terms: &Terms) -> Good {
    let key = [key_1(), key_2(), key_3()]
        .into_iter()
        .find(|known| known.id().as_str() == key)
        .unwrap();
    Good {
        name,
        key: key.id().to_string(),
        operation_id: terms.id().simple(),
        exp: terms.exp().unix_secs(),
        tenant: terms.subject().tenant().to_owned(),
        principal: terms.subject().principal().to_owned(),
        scope: terms.scope().to_string(),
        param_hash_hex: hex(terms.hash().as_bytes()),
        repeat_of: terms.repeat_of().map(|twin| twin.simple()),
        needs_approval: terms.needs_approval(),
        payload: String::from_utf8(payload::Payload::of(terms).as_bytes().to_vec()).unwrap(),
        fingerprint: Keyring::new(key).issue(terms).as_str().to_owned(),
    }
}

const SECRET_3: [u8; 48] = [0x3e; 48];

/// With the longest id.
fn key_3() -> Key {
    Key::new(key_id("Key_2027-01-prod"), &SECRET_3).unwrap()
}

fn written() -> Vectors {
    Vectors {
        about: "Test vectors for fingerprints of the form fp1; fingerprint.md explains them. The keys are for tests alone."
            .to_owned(),
        keys: [("k1", &SECRET_1[..]), ("k2", &SECRET_2), ("Key_2027-01-prod", &SECRET_3)]
            .map(|(id, secret)| written_key(id, secret))
            .into(),
        good: written_good(),
        bad: written_bad(),
        requests: written_requests(),
    }
}

/// By HKDF itself, not by way of [`Key`].
fn written_key(id: &str, secret: &[u8]) -> KeyVector {
    let mut subkey = [0; 32];
    hkdf::Hkdf::<sha2::Sha256>::new(None, secret)
        .expand(b"counterfoil/v1/fingerprint", &mut subkey)
        .unwrap();
    KeyVector {
        id: id.to_owned(),
        secret_hex: hex(secret),
        subkey_hex: hex(&subkey),
    }
}

fn written_good() -> Vec<Good> {
    let plain = plain_terms;
    let twin = id("01a3185c-0000-7fff-bfff-ffffffffffff");
    let subject = |tenant: &str, principal: &str| Terms {
        subject: Subject::new(tenant, principal).unwrap(),
        ..plain()
    };
    let longest = Terms {
        exp: Timestamp::from_unix_secs(MAX_EXP_SECS),
        scope: Scope::parse(&"z".repeat(64)).unwrap(),
        ..subject(&"\u{fc}".repeat(32), &"/".repeat(64))
    };
    let shortest = Terms {
        id: id("00000000000070008000000000000000"),
        exp: Timestamp::from_unix_secs(0),
        scope: Scope::new("s"),
        hash: ParamHash::from_bytes([0; 32]),
        ..subject("t", "p")
    };
    let hash_of_high_bits = Terms {
        hash: ParamHash::from_bytes([0xff; 32]),
        ..plain()
    };
    let cases = [
        ("plain", "k1", plain()),
        ("a key of 64 bytes", "k2", plain()),
        (
            "a key of 48 bytes with the longest id",
            "Key_2027-01-prod",
            plain(),
        ),
        (
            "every unreserved character",
            "k1",
            subject("AZaz09-._~", "~_.-90zaZA"),
        ),
        (
            "reserved characters",
            "k1",
            subject("a/b c", "x%y+z\"\\<>&=?#@:"),
        ),
        ("a slash in the tenant", "k1", subject("a/b", "c")),
        ("a slash in the principal", "k1", subject("a", "b/c")),
        ("control characters", "k1", subject("\0\n", "\u{7f}\u{85}")),
        ("letters of other scripts", "k1", subject("株式会社", "Zoë")),
        ("beyond the basic plane", "k1", subject("🦀", "\u{10ffff}")),
        (
            "composed and decomposed are two subjects",
            "k1",
            subject("\u{e9}", "e\u{301}"),
        ),
        ("a repeat on purpose", "k1", plain().with_repeat_of(twin)),
        ("an approval needed", "k1", plain().with_approval()),
        ("both", "k2", plain().with_repeat_of(twin).with_approval()),
        (
            "a repeat of an operation that a client's key names",
            "k1",
            plain().with_repeat_of(id("01a3185c5c008abc8def0123456789ab")),
        ),
        (
            "a hash that uses the last two characters of the alphabet",
            "k1",
            hash_of_high_bits,
        ),
        ("the shortest", "k1", shortest),
        (
            "the longest",
            "Key_2027-01-prod",
            longest.with_repeat_of(twin).with_approval(),
        ),
    ];
    cases
        .into_iter()
        .map(|(name, key, terms)| describe(name.to_owned(), key, &terms))
        .collect()
}

fn written_bad() -> Vec<Bad> {
    let bad = |name: &str, text: String, answer: &str| Bad {
        name: name.to_owned(),
        text,
        answer: answer.to_owned(),
    };
    let mistyped = spelling::mistyped().into_iter();
    let badly_signed = spelling::badly_signed().into_iter();
    let badly_spelled = spelling::badly_spelled().into_iter();
    mistyped
        .map(|(name, text)| bad(name, text, "fingerprint_mistyped"))
        .chain(badly_signed.map(|(name, text, _)| bad(name, text, "fingerprint_invalid")))
        .chain(
            badly_spelled.map(|(name, payload)| bad(name, sealed(payload), "fingerprint_invalid")),
        )
        .collect()
}

fn written_requests() -> Vec<Request> {
    let fingerprint = Keyring::new(key_2()).issue(&plain_terms());
    let request =
        |name: &str, [tenant, principal, scope]: [&str; 3], hash: u8, answer: &str| Request {
            name: name.to_owned(),
            fingerprint: fingerprint.as_str().to_owned(),
            tenant: tenant.to_owned(),
            principal: principal.to_owned(),
            scope: scope.to_owned(),
            param_hash_hex: hex(&[hash; 32]),
            answer: answer.to_owned(),
        };
    let own = ["acme", "agent-7", "payments.transfer"];
    let invalid = "fingerprint_invalid";
    vec![
        request(
            "its own request, under a key that only verifies",
            own,
            0xa7,
            "ok",
        ),
        request("other params", own, 0xa8, "params_changed"),
        request(
            "another principal",
            ["acme", "agent-8", "payments.transfer"],
            0xa7,
            invalid,
        ),
        request(
            "another tenant",
            ["evil", "agent-7", "payments.transfer"],
            0xa7,
            invalid,
        ),
        request(
            "another scope",
            ["acme", "agent-7", "payments.refund"],
            0xa7,
            invalid,
        ),
        request(
            "another case",
            ["Acme", "agent-7", "payments.transfer"],
            0xa7,
            invalid,
        ),
        request(
            "another principal with other params",
            ["acme", "agent-8", "payments.transfer"],
            0xa8,
            invalid,
        ),
    ]
}
