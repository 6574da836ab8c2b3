//! The signing keys: from `--keys`, else from the environment, else a random one.
//!
//! A bad key is named by its place in the list, and by its id where that is one: it may be the secret otherwise.

use counterfoil::{
    KeyId,
    fingerprint::{Key, Keyring, SignedUntil},
    grant::{GrantKey, GrantKeys},
};
use tracing::warn;

use crate::options::KeysText;

/// Where keys are looked for when `--keys` is not given.
pub(crate) const VARIABLE: &str = "COUNTERFOIL_KEYS";

/// Where the keys of grants are, which the ledger of another process has too.
pub(crate) const GRANTS: &str = "COUNTERFOIL_GRANT_KEYS";

/// Keys that can't be used, in a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{source_name}: {problem}")]
pub(crate) struct KeysError {
    source_name: &'static str,
    problem: String,
}

/// The keys that somebody named, if anybody did.
pub(crate) fn load(given: Option<&KeysText>) -> Result<Option<Keyring>, KeysError> {
    if let Some(KeysText(text)) = given {
        return named("--keys", text).map(Some);
    }
    std::env::var_os(VARIABLE)
        .map(|text| named(VARIABLE, &text.to_string_lossy()))
        .transpose()
}

/// The keys of grants.
pub(crate) fn load_for_grants() -> Result<GrantKeys, KeysError> {
    let of = |problem| KeysError {
        source_name: GRANTS,
        problem,
    };
    let text = std::env::var(GRANTS)
        .map_err(|_| of("--ledger-url needs grant keys there, as KID=HEX[,…]".to_owned()))?;
    parse_for_grants(&text).map_err(of)
}

/// Says what it means that nobody named any.
pub(crate) fn warn_of_random() {
    warn!(
        "no --keys and no {VARIABLE}: a random key signs, and fingerprints die with this process"
    );
}

/// A key that only this process knows.
pub(crate) fn random() -> Keyring {
    let id = KeyId::parse("random").expect("a good key id");
    Keyring::new(Key::random(id))
}

fn named(source_name: &'static str, text: &str) -> Result<Keyring, KeysError> {
    parse(text).map_err(|problem| KeysError {
        source_name,
        problem,
    })
}

/// `KID=HEX[,KID=HEX…]`; the first signs, the others verify.
fn parse(text: &str) -> Result<Keyring, String> {
    let mut ring: Option<Keyring> = None;
    for (index, part) in text.split(',').enumerate() {
        let place = index + 1;
        let key = key(part).map_err(|problem| format!("key {place}: {problem}"))?;
        ring = Some(match ring {
            None => Keyring::new(key),
            Some(ring) => ring
                .with_verifying(key, SignedUntil::Open)
                .map_err(|error| format!("key {place}: {error}"))?,
        });
    }
    ring.ok_or_else(|| "there is no key".to_owned())
}

/// Likewise; the first mints.
fn parse_for_grants(text: &str) -> Result<GrantKeys, String> {
    let mut keys: Option<GrantKeys> = None;
    for (index, part) in text.split(',').enumerate() {
        let place = |problem| format!("key {}: {problem}", index + 1);
        let (id, hex) = split(part).map_err(place)?;
        let key = GrantKey::from_hex(id.clone(), hex);
        let key = key.map_err(|error| place(format!("{id}: {error}")))?;
        keys = Some(match keys {
            None => GrantKeys::new(key),
            Some(keys) => keys
                .with_verifying(key)
                .map_err(|error| place(error.to_string()))?,
        });
    }
    keys.ok_or_else(|| "there is no key".to_owned())
}

fn key(part: &str) -> Result<Key, String> {
    let (id, hex) = split(part)?;
    Key::from_hex(id.clone(), hex).map_err(|error| format!("{id}: {error}"))
}

fn split(part: &str) -> Result<(KeyId, &str), String> {
    let Some((id, hex)) = part.split_once('=') else {
        return Err("write it as KID=HEX".to_owned());
    };
    let id = KeyId::parse(id)
        .map_err(|_| "its id is not 1 to 16 of the characters A-Z a-z 0-9 _ -".to_owned())?;
    Ok((id, hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7";

    #[test]
    fn the_first_key_signs_and_the_others_verify() {
        let ring = parse(&format!("new={SECRET},old={SECRET},older={SECRET}")).expect("a ring");
        assert_eq!(ring.signing_key_id().as_str(), "new");
        let others: Vec<&str> = ring.verifying_keys().map(|(id, _)| id.as_str()).collect();
        assert_eq!(others, ["old", "older"]);
    }

    #[test]
    fn a_bad_key_is_named_by_its_place_and_never_shown() {
        let short = &SECRET[2..];
        for (text, words) in [
            (String::new(), "key 1: write it as KID=HEX"),
            (SECRET.to_owned(), "key 1: write it as KID=HEX"),
            (format!("k={SECRET},"), "key 2: write it as KID=HEX"),
            (format!("{SECRET}=k"), "key 1: its id is not"),
            (
                format!("k={SECRET},l={short}"),
                "key 2: l: a key has 32 to 64 bytes, this one has 31",
            ),
            (format!("k={SECRET}zz"), "key 1: k: a key in hex"),
            (
                format!("k={SECRET},k={SECRET}"),
                "key 2: the ring has a key k already",
            ),
        ] {
            let problem = parse(&text).expect_err("a bad key");
            assert!(problem.starts_with(words), "{problem}");
            assert!(!problem.contains("a7a7"), "{problem}");
            // Grant keys are read by the same rules.
            let same = parse_for_grants(&text).expect_err("a bad key");
            assert!(same.starts_with(words), "{same}");
            assert!(!same.contains("a7a7"), "{same}");
        }
    }
}
