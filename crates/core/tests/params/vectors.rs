//! The published hashes. The package `tests/hash-under-features` runs this file again, where another crate has
//! switched on the features of serde_json that change its numbers, its maps and its raw values.

use counterfoil_core::params::{
    Canonicalizer, Extra, Nulls, Numbers, ParamsPolicy, Reading, decode,
};
use serde_json::Value;

const VECTORS: &str = include_str!("../../../../docs/spec/params-v1.json");
const SPEC: &str = include_str!("../../../../docs/spec/params.md");

fn vectors() -> Vec<Value> {
    let file: Value = serde_json::from_str(VECTORS).expect("the vectors are JSON");
    assert_eq!(file["format"], "params-vectors/1");
    let list = file["vectors"].as_array().expect("a list of vectors");
    assert_eq!(list.len(), 3);
    list.clone()
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().expect("a text")
}

fn texts(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter()
        .map(|item| item.as_str().expect("a text"))
        .collect()
}

fn canonicalizer(policy: &Value) -> Canonicalizer {
    let fields = &policy["fields"];
    let mut built = match fields.get("only") {
        Some(bound) => ParamsPolicy::only(texts(bound)),
        None => ParamsPolicy::all_but(texts(&fields["all_but"])),
    };
    for decimal in texts(&policy["decimals"]) {
        built = built.with_decimal(decimal);
    }
    let numbers = match text(policy, "numbers") {
        "lossless" => Numbers::Lossless,
        _ => Numbers::Exact,
    };
    let nulls = match text(policy, "nulls") {
        "drop_top_level" => Nulls::DropTopLevel,
        "drop_everywhere" => Nulls::DropEverywhere,
        _ => Nulls::Keep,
    };
    let policy = built.with_numbers(numbers).with_nulls(nulls).compile();
    Canonicalizer::new(&policy.expect("the policy compiles"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Calls `check` with each vector, a canonicalizer for it and its extras.
fn each(mut check: impl FnMut(&Value, &mut Canonicalizer, &[Extra<'_>])) {
    for vector in vectors() {
        let parts = vector["extras"].as_array().expect("a list of extras");
        let values: Vec<Vec<&[u8]>> = parts
            .iter()
            .map(|part| {
                texts(&part["values"])
                    .into_iter()
                    .map(str::as_bytes)
                    .collect()
            })
            .collect();
        let names = parts.iter().map(|part| text(part, "name"));
        let extras: Vec<Extra<'_>> = names.zip(values.iter().map(Vec::as_slice)).collect();
        check(&vector, &mut canonicalizer(&vector["policy"]), &extras);
    }
}

#[test]
fn json_has_the_published_texts_and_hashes() {
    each(|vector, canonicalizer, extras| {
        let input = text(vector, "input").as_bytes();
        let canonical = canonicalizer.canonical_json(input).expect("accepted");
        assert_eq!(canonical, text(vector, "canonical"));
        let hash = canonicalizer
            .hash_json_with(input, extras)
            .expect("accepted");
        assert_eq!(hex(hash.as_bytes()), text(vector, "hash"));
    });
}

#[test]
fn values_of_serde_json_have_the_published_hashes() {
    each(|vector, canonicalizer, extras| {
        if text(&vector["policy"], "numbers") == "exact" {
            // Without further features serde_json's value has lost the digits by now.
            return;
        }
        let value: Value = serde_json::from_str(text(vector, "input")).expect("JSON");
        let hash = canonicalizer
            .hash_value_with(&value, extras)
            .expect("accepted");
        assert_eq!(hex(hash.as_bytes()), text(vector, "hash"));
    });
}

#[test]
fn a_body_read_whole_and_decoded_has_the_published_hash() {
    each(|vector, canonicalizer, extras| {
        if text(&vector["policy"], "numbers") == "exact" {
            return;
        }
        let body = text(vector, "input").as_bytes();
        let Ok(Reading::Object(members)) = canonicalizer.read(body) else {
            panic!("an object is read");
        };
        let value: Value = decode(&members.to_text()).expect("decoded");
        let hash = canonicalizer
            .hash_value_with(&value, extras)
            .expect("accepted");
        assert_eq!(hex(hash.as_bytes()), text(vector, "hash"));
    });
}

#[test]
fn the_published_text_names_the_hashes_of_the_vectors() {
    for vector in vectors() {
        assert!(SPEC.contains(text(&vector, "hash")));
    }
}
