//! The hashes of params while serde_json keeps numbers as text, members in order and JSON as raw text.

#[path = "../../../crates/core/tests/params/vectors.rs"]
mod vectors;

use counterfoil_core::params::{
    Canonicalizer, Numbers, ParamsErrorKind, ParamsPolicy, Reading, decode,
};
use serde::{Deserialize, Serialize};
use serde_json::{
    Number, Value,
    value::{RawValue, to_raw_value},
};

fn canonicalizer(policy: ParamsPolicy) -> Canonicalizer {
    Canonicalizer::new(&policy.compile().expect("the policy compiles"))
}

fn plain() -> Canonicalizer {
    canonicalizer(ParamsPolicy::default())
}

#[derive(Serialize, Deserialize)]
struct Command {
    number: Number,
    value: Value,
    raw: Box<RawValue>,
}

#[test]
fn the_features_are_on() {
    let value: Value = serde_json::from_str(r#"{"b":1.00,"a":1e400}"#).expect("JSON");
    assert_eq!(value.to_string(), r#"{"b":1.00,"a":1e+400}"#);
}

#[test]
fn numbers_kept_as_text_are_written_as_numbers() {
    let json = r#"{"a":[1.00,1e2,-0.0,0.10,18446744073709551615,5e-324]}"#;
    let value: Value = serde_json::from_str(json).expect("JSON");
    let mut canonicalizer = plain();
    let expected = r#"{"a":[1,100,0,0.1,18446744073709551615,5e-324]}"#;
    assert_eq!(
        canonicalizer.canonical_value(&value).expect("accepted"),
        expected
    );
    assert_eq!(
        canonicalizer.hash_value(&value),
        canonicalizer.hash_json(json.as_bytes())
    );
}

#[test]
fn numbers_kept_as_text_obey_the_policy() {
    let value: Value = serde_json::from_str(r#"{"a":[1,9007199254740993.0]}"#).expect("JSON");
    let error = plain().canonical_value(&value).expect_err("not lossless");
    assert_eq!(
        (error.kind(), error.field()),
        (ParamsErrorKind::LossyNumber, Some("/a/1"))
    );
    let mut exact = canonicalizer(ParamsPolicy::default().with_numbers(Numbers::Exact));
    let text = exact.canonical_value(&value).expect("exact");
    assert_eq!(text, r#"{"a":[1,9007199254740993]}"#);
    let mut decimal = canonicalizer(ParamsPolicy::default().with_decimal("/a/1"));
    let text = decimal.canonical_value(&value).expect("a decimal");
    assert_eq!(text, r#"{"a":[1,"9007199254740993"]}"#);
    let long = format!("[{}]", "1".repeat(129));
    let value: Value = serde_json::from_str(&long).expect("JSON");
    let error = exact.canonical_value(&value).expect_err("too long");
    assert_eq!(
        (error.kind(), error.field()),
        (ParamsErrorKind::NumberTooLong, Some("/0"))
    );
}

#[test]
fn raw_json_is_read_as_strictly_as_a_body() {
    let raw = |json: &str| RawValue::from_string(json.to_owned()).expect("JSON");
    let mut canonicalizer = canonicalizer(ParamsPolicy::all_but(["/x/note"]).with_decimal("/x/n"));
    let value =
        std::collections::BTreeMap::from([("x", raw(r#"{"n": 1.50, "note": 1, "b": [ 1.0 ]}"#))]);
    let text = canonicalizer.canonical_value(&value).expect("accepted");
    assert_eq!(text, r#"{"x":{"b":[1],"n":"1.5"}}"#);
    let twice = [raw(r#"{"a":1,"a":2}"#)];
    let error = canonicalizer
        .canonical_value(&twice)
        .expect_err("a duplicate");
    assert_eq!(
        (error.kind(), error.field()),
        (ParamsErrorKind::DuplicateMember, Some("/0/a"))
    );
    let deep = raw(&("[".repeat(64) + &"]".repeat(64)));
    assert!(canonicalizer.canonical_value(&deep).is_ok());
    let error = canonicalizer.canonical_value(&[deep]).expect_err("65 deep");
    assert_eq!(error.kind(), ParamsErrorKind::TooDeep);
}

#[test]
fn a_raw_value_is_no_string() {
    let raw = to_raw_value("10").expect("JSON");
    let mut canonicalizer = plain();
    let number = RawValue::from_string("10".to_owned()).expect("JSON");
    assert_eq!(
        canonicalizer.canonical_value(&raw).expect("accepted"),
        "\"10\""
    );
    assert_eq!(
        canonicalizer.canonical_value(&number).expect("accepted"),
        "10"
    );
}

#[test]
fn a_type_of_serde_jsons_own_parts_hashes_as_the_body_did() {
    let mut canonicalizer = plain();
    let body = br#"{"raw": {"b": [1.0, "\u0041"], "a": null}, "value": {"z": 1e2, "y": [0.10]}, "number": 2.50}"#;
    let hash = canonicalizer.hash_json(body).expect("accepted");
    let Ok(Reading::Object(members)) = canonicalizer.read(body) else {
        panic!("an object is read");
    };
    let command: Command = decode(&members.to_text()).expect("decoded");
    assert_eq!(command.raw.get(), r#"{"a":null,"b":[1,"A"]}"#);
    assert_eq!(canonicalizer.hash_value(&command), Ok(hash));
}

/// serde_json takes these members for a number, and for JSON in a string.
#[test]
fn reserved_names_reach_no_type() {
    for name in ["Number", "RawValue"] {
        let body = format!("{{\"x\":{{\"$serde_json::private::{name}\":\"10\"}}}}");
        let theirs: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(theirs["x"].to_string(), "10");
        let error = decode::<Value>(&body).expect_err("a reserved name");
        assert_eq!(error.kind(), ParamsErrorKind::UnknownMember);
        let mut canonicalizer = plain();
        assert_eq!(
            canonicalizer
                .canonical_json(body.as_bytes())
                .expect("a name as any"),
            body
        );
    }
}
