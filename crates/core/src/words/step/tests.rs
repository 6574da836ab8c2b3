//! Names, and the published vectors, `docs/spec/downstream-key-v1.json`. With `COUNTERFOIL_WRITE_VECTORS=1` in the
//! environment the test writes the file instead of comparing it. `verify_downstream_key.py` checks them by code of its own.

use std::{collections::HashSet, fs, path::PathBuf};

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Subject, idempotency::IdempotencyKey};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Vectors {
    about: String,
    steps: Vec<Vector>,
    no_steps: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Vector {
    name: String,
    operation_id: String,
    step: String,
    key: String,
}

const MINTED: &str = "018bcfe5-6800-7abc-9def-0123456789ab";

fn id(text: &str) -> OperationId {
    text.parse().unwrap()
}

fn vector(name: &str, operation: &str, step: &str) -> Vector {
    Vector {
        name: name.to_owned(),
        operation_id: operation.to_owned(),
        step: step.to_owned(),
        key: id(operation).step(&Step::parse(step).unwrap()).to_string(),
    }
}

fn vectors() -> Vectors {
    let longest = "z".repeat(Step::MAX_LEN);
    let derived = "99f9105e-d57b-8a2b-8cd5-b23ac4bd4e1c";
    let too_long = "z".repeat(Step::MAX_LEN + 1);
    Vectors {
        about: "Test vectors of downstream keys, version 1. downstream-key.md says what they mean."
            .to_owned(),
        steps: vec![
            vector("a step", MINTED, "refund"),
            vector("another step", MINTED, "fee"),
            vector("a step that begins as another", MINTED, "refund.2"),
            vector("every kind of character", MINTED, "a-z_0.9"),
            vector("the shortest name", MINTED, "0"),
            vector("the longest name", MINTED, &longest),
            vector("an operation of an idempotency key", derived, "refund"),
            vector(
                "all bits clear",
                "00000000-0000-0000-0000-000000000000",
                "refund",
            ),
            vector(
                "all bits set",
                "ffffffff-ffff-ffff-ffff-ffffffffffff",
                "refund",
            ),
        ],
        no_steps: [
            "",
            "Refund",
            "two words",
            "a/b",
            "é",
            "a\n",
            "a:b",
            &too_long,
        ]
        .map(str::to_owned)
        .to_vec(),
    }
}

#[test]
fn the_published_vectors_are_what_this_code_makes() {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/downstream-key-v1.json");
    let made = vectors();
    for name in &made.no_steps {
        assert_eq!(Step::parse(name), Err(InvalidStep::Name), "{name:?}");
    }
    if std::env::var_os("COUNTERFOIL_WRITE_VECTORS").is_some() {
        let mut text = serde_json::to_string_pretty(&made).unwrap();
        text.push('\n');
        fs::write(&path, text).unwrap();
        return;
    }
    let published: Vectors = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(published, made);
}

#[test]
fn ten_thousand_names_of_one_operation_have_ten_thousand_keys_and_none_is_the_operations() {
    let operation = id(MINTED);
    let mut keys: HashSet<_> = (0..10_000)
        .map(|n| operation.step(&Step::parse(&format!("line.{n}")).unwrap()))
        .collect();
    assert!(keys.insert(operation));
    assert_eq!(keys.len(), 10_001);
}

#[test]
fn a_steps_key_is_no_idempotency_keys_operation() {
    let subject = Subject::new("acme", "billing").unwrap();
    let text = "refund-refund-refund";
    let by_key = IdempotencyKey::from_text(text)
        .unwrap()
        .operation_id(&subject);
    assert_ne!(by_key, by_key.step(&Step::parse(text).unwrap()));
}

proptest! {
    #[test]
    fn one_operation_and_name_give_one_key_and_others_another(
        a: [u8; 16],
        b: [u8; 16],
        name in "[a-z0-9._-]{1,64}",
        other in "[a-z0-9._-]{1,64}",
    ) {
        let (a, b) = (OperationId::from_bytes(a), OperationId::from_bytes(b));
        let (name, other) = (Step::parse(&name).unwrap(), Step::parse(&other).unwrap());
        prop_assert_eq!(a.step(&name), a.step(&name));
        prop_assert!(a.step(&name).is_derived());
        prop_assert_eq!(a.step(&name) == a.step(&other), name == other);
        prop_assert_eq!(a.step(&name) == b.step(&name), a == b);
    }
}
