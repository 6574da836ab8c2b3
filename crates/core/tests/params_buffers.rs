//! A canonicalizer that is used again allocates nothing. A binary of its own: it counts allocations.

use std::collections::BTreeMap;

use allocation_counter::measure;
use counterfoil_core::params::{Canonicalizer, ParamsPolicy};
use serde::Serialize;

#[derive(Serialize)]
struct Transfer {
    to: &'static str,
    amount: f64,
    lines: Vec<(u64, i128, char)>,
    tags: BTreeMap<u8, Option<bool>>,
    note: std::net::Ipv4Addr,
}

fn canonicalizer() -> Canonicalizer {
    let policy = ParamsPolicy::all_but(["/note", "/lines/0"]).with_decimal("/amount");
    Canonicalizer::new(&policy.compile().expect("the policy compiles"))
}

/// Escapes, members out of order, nested, dropped and ignored, every kind of number, a header.
const JSON: &[u8] = br#"{"to":"\u20ac\"x","note":{"b":[1,{"d":1,"c":2}],"a":"\n"},"lines":[{"z":1,"y":null},[1e21,0.1e-6,5e-324,-0]],
    "limit":null,"amount":"10.500","big":18446744073709551615,"k\u0065y":true,"list":[[],{},[[1.5,"a"]]]}"#;

#[test]
fn json_is_hashed_again_without_an_allocation() {
    let mut canonicalizer = canonicalizer();
    let first = canonicalizer.hash_json(JSON);
    assert!(first.is_ok());
    let counted = measure(|| {
        for _ in 0..100 {
            let hash = canonicalizer.hash_json_with(JSON, &[]);
            assert!(hash == first);
        }
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn a_value_is_hashed_again_without_an_allocation() {
    let mut canonicalizer = canonicalizer();
    let value = Transfer {
        to: "a\"b",
        amount: 10.25,
        lines: vec![(1, -2, 'x'), (u64::MAX, 3, '"')],
        tags: BTreeMap::from([(10, None), (9, Some(true))]),
        note: std::net::Ipv4Addr::LOCALHOST,
    };
    let extras: [(&str, &[&[u8]]); 1] = [("content-language", &[b"en"])];
    let first = canonicalizer.hash_value_with(&value, &extras);
    assert!(first.is_ok());
    let counted = measure(|| {
        for _ in 0..100 {
            let hash = canonicalizer.hash_value_with(&value, &extras);
            assert!(hash == first);
        }
    });
    assert_eq!(counted.count_total, 0);
}

/// So that the two above can fail.
#[test]
fn a_fresh_canonicalizer_does_allocate() {
    let policy = canonicalizer().policy().clone();
    let counted = measure(|| {
        assert!(Canonicalizer::new(&policy).hash_json(JSON).is_ok());
    });
    assert!(counted.count_total > 0);
}
