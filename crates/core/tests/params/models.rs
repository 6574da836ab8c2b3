//! Policies on generated values, against a plain model: filter the tree, then write RFC 8785.

use counterfoil_core::params::{Nulls, ParamsPolicy};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::with;

#[derive(Clone, Debug)]
enum Fields {
    AllBut(Vec<Vec<&'static str>>),
    Only(Vec<Vec<&'static str>>),
}

fn pointer(tokens: &[&str]) -> String {
    tokens.iter().map(|token| format!("/{token}")).collect()
}

fn pointers() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    let token = prop::sample::select(vec!["a", "b", "c", "0", "1"]);
    prop::collection::vec(prop::collection::vec(token, 1..4), 1..5)
}

fn fields() -> impl Strategy<Value = Fields> {
    prop_oneof![
        pointers().prop_map(Fields::AllBut),
        pointers().prop_map(Fields::Only)
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        (0..3_u8).prop_map(Value::from),
        Just(Value::from("x"))
    ];
    scalar.prop_recursive(4, 40, 4, |inner| {
        let name = prop::sample::select(vec!["a", "b", "c", "0", "1", "d"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..5).prop_map(|members| {
                Value::from(Map::from_iter(
                    members.into_iter().map(|(n, v)| (n.to_owned(), v)),
                ))
            }),
        ]
    })
}

/// A text whose members stand in an order that the seed gives.
fn write(value: &Value, seed: u64) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| write(item, seed / 3)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members
                .iter()
                .map(|(name, value)| format!("\"{name}\" :{}", write(value, seed / 5)))
                .collect();
            if !members.is_empty() {
                let turn = seed as usize % members.len();
                members.rotate_left(turn);
            }
            if seed.is_multiple_of(2) {
                members.reverse();
            }
            format!("{{{}}}", members.join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// What the policy leaves of the value at a path, or nothing.
fn model(value: &Value, path: &[String], fields: &Fields, nulls: Nulls) -> Option<Value> {
    let is = |field: &[&str]| field == path;
    let kept = match fields {
        Fields::AllBut(ignored) => !ignored.iter().any(|field| is(field)),
        Fields::Only(bound) => {
            let inside =
                |field: &[&str]| path.len() >= field.len() && path[..field.len()] == *field;
            let on_the_way =
                |field: &[&str]| field.len() > path.len() && field[..path.len()] == *path;
            bound.iter().any(|field| inside(field) || on_the_way(field))
        }
    };
    if !kept {
        return None;
    }
    let deeper = |token: String| [path, &[token]].concat();
    Some(match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .filter_map(|(i, item)| model(item, &deeper(i.to_string()), fields, nulls))
            .collect(),
        Value::Object(members) => {
            let dropped =
                nulls == Nulls::DropEverywhere || (nulls == Nulls::DropTopLevel && path.is_empty());
            let kept = members
                .iter()
                .filter(|(_, value)| !(dropped && value.is_null()));
            let left = kept.filter_map(|(name, value)| {
                Some((
                    name.clone(),
                    model(value, &deeper(name.clone()), fields, nulls)?,
                ))
            });
            Value::Object(left.collect())
        }
        scalar => scalar.clone(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_policy_leaves_what_the_model_leaves(
        value in value(),
        fields in fields(),
        nulls in prop::sample::select(vec![Nulls::DropTopLevel, Nulls::DropEverywhere, Nulls::Keep]),
        seed in any::<u64>(),
    ) {
        let policy = match &fields {
            Fields::AllBut(list) => ParamsPolicy::all_but(list.iter().map(|p| pointer(p))),
            Fields::Only(list) => ParamsPolicy::only(list.iter().map(|p| pointer(p))),
        };
        let policy = policy.with_nulls(nulls);
        // A list that contradicts itself has no model.
        prop_assume!(policy.compile().is_ok());
        let expected = model(&value, &[], &fields, nulls).expect("the document is kept");
        let expected = serde_jcs::to_string(&expected).expect("a value has a text");
        let mut canonicalizer = with(policy);
        prop_assert_eq!(canonicalizer.canonical_json(write(&value, seed).as_bytes()).expect("accepted"), &expected);
        prop_assert_eq!(canonicalizer.canonical_value(&value).expect("accepted"), &expected);
    }
}
