//! The published cases, from bytes and through `Serialize`.

use std::{fmt::Write, path::PathBuf};

use counterfoil_core::params::{Canonicalizer, Numbers, ParamsError};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::with_numbers;

fn cases(file: &str, list: &str) -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/cases");
    let text = std::fs::read_to_string(folder.join(file)).expect("the cases are in the tree");
    let cases: Value = serde_json::from_str(&text).expect("the cases are JSON");
    cases[list].as_array().expect("a list of cases").clone()
}

fn text(case: &Value, member: &str) -> String {
    case[member].as_str().expect("a text").to_owned()
}

/// A text that starts with `hex:` stands for those bytes.
fn bytes(text: &str) -> Vec<u8> {
    let Some(hex) = text.strip_prefix("hex:") else {
        return text.as_bytes().to_vec();
    };
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("two hex digits");
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn read(
    canonicalizer: &mut Canonicalizer,
    input: &[u8],
) -> Result<(String, [u8; 32]), ParamsError> {
    let text = canonicalizer.canonical_json(input)?.to_owned();
    let hash = canonicalizer.hash_json(input)?;
    Ok((text, *hash.as_bytes()))
}

fn every_case_holds(column: &str, numbers: Numbers) {
    let mut canonicalizer = with_numbers(numbers);
    let cases = cases("canonical.json", "cases");
    assert!(cases.len() > 150);
    for case in cases {
        let a = read(&mut canonicalizer, &bytes(&text(&case, "a")));
        let b = read(&mut canonicalizer, &bytes(&text(&case, "b")));
        let holds = match text(&case, column).as_str() {
            "equal" => a.is_ok() && a == b,
            "different" => match (&a, &b) {
                (Ok(a), Ok(b)) => a.0 != b.0 && a.1 != b.1,
                _ => false,
            },
            "reject_a" => a.is_err() && b.is_ok(),
            "reject_b" => a.is_ok() && b.is_err(),
            "reject_both" => a.is_err() && b.is_err(),
            other => panic!("unknown expectation {other}"),
        };
        assert!(holds, "{column}: {}: {a:?} {b:?}", case["why"]);
    }
}

#[test]
fn every_published_case_holds_when_numbers_must_be_lossless() {
    every_case_holds("lossless", Numbers::Lossless);
}

#[test]
fn every_published_case_holds_when_numbers_are_exact() {
    every_case_holds("exact", Numbers::Exact);
}

#[test]
fn the_golden_texts_are_written_byte_for_byte() {
    let mut canonicalizer = with_numbers(Numbers::Exact);
    let golden = cases("canonical-golden.json", "golden");
    assert!(golden.len() >= 9);
    for case in golden {
        let input = text(&case, "input");
        let canonical = canonicalizer
            .canonical_json(input.as_bytes())
            .expect("golden input is accepted");
        assert_eq!(canonical, text(&case, "canonical"));
        let mut hex = String::new();
        for byte in Sha256::digest(canonical) {
            write!(hex, "{byte:02x}").expect("a String takes all");
        }
        assert_eq!(hex, text(&case, "sha256_of_canonical"));
    }
}

/// What serde_json's own value keeps of a text is hashed as the text is.
#[test]
fn the_way_through_serialize_gives_the_texts_that_the_bytes_give() {
    let mut canonicalizer = with_numbers(Numbers::Lossless);
    let mut compared = 0;
    for case in cases("canonical.json", "cases") {
        for side in ["a", "b"] {
            let text = text(&case, side);
            if text.contains("$serde_json::private") {
                // A member of that name serde_json's own reader takes for a number or a raw text, where another crate
                // has switched that on: what it keeps is not what was sent.
                continue;
            }
            let input = bytes(&text);
            let Ok((canonical, hash)) = read(&mut canonicalizer, &input) else {
                continue;
            };
            let value: Value = serde_json::from_slice(&input).expect("what we accept is JSON");
            let from_value = canonicalizer.canonical_value(&value).expect("accepted");
            assert_eq!(from_value, canonical);
            let again = canonicalizer.hash_value(&value).expect("accepted");
            assert_eq!(again.as_bytes(), &hash);
            compared += 1;
        }
    }
    assert!(compared > 150);
}
