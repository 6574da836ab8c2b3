//! The layout of the hash: domain, policy, body, extras.

use counterfoil_core::{
    ParamHash,
    params::{Extra, Nulls, Numbers, ParamsPolicy},
};
use sha2::{Digest, Sha256};

use crate::with;

fn hash(policy: ParamsPolicy, json: &str, extras: &[Extra<'_>]) -> ParamHash {
    with(policy)
        .hash_json_with(json.as_bytes(), extras)
        .expect("accepted")
}

fn plain(extras: &[Extra<'_>]) -> ParamHash {
    hash(ParamsPolicy::default(), "{\"a\":1}", extras)
}

#[test]
fn every_part_of_the_policy_is_in_the_hash() {
    let policies = [
        ParamsPolicy::default(),
        ParamsPolicy::all_but(["/x"]),
        ParamsPolicy::all_but(["/x", "/y"]),
        ParamsPolicy::all_but(["/x/y"]),
        ParamsPolicy::only(["/a"]),
        ParamsPolicy::only(["/a", "/x"]),
        ParamsPolicy::default().with_decimal("/x"),
        ParamsPolicy::only(["/a", "/x"]).with_decimal("/x"),
        ParamsPolicy::default().with_numbers(Numbers::Exact),
        ParamsPolicy::default().with_nulls(Nulls::DropEverywhere),
        ParamsPolicy::default().with_nulls(Nulls::Keep),
    ];
    let hashes = policies.map(|policy| hash(policy, "{\"a\":1}", &[]));
    for (i, hash) in hashes.iter().enumerate() {
        assert!(
            !hashes[..i].contains(hash),
            "policy {i} has the hash of another"
        );
    }
}

#[test]
fn the_order_of_names_and_the_limits_are_not_in_the_hash() {
    let one = ParamsPolicy::all_but(["/y", "/x"])
        .with_decimal("/b")
        .with_decimal("/a");
    let two = ParamsPolicy::all_but(["/x", "/y"])
        .with_decimal("/a")
        .with_decimal("/b");
    assert_eq!(
        hash(one, "{\"a\":1}", &[]),
        hash(two.with_max_bytes(100), "{\"a\":1}", &[])
    );
}

#[test]
fn nothing_can_be_shifted_between_extras() {
    let all = [
        plain(&[]),
        plain(&[("a", &[])]),
        plain(&[("a", &[b""])]),
        plain(&[("a", &[b"", b""])]),
        plain(&[("", &[b"a"])]),
        plain(&[("a", &[b"bc"])]),
        plain(&[("ab", &[b"c"])]),
        plain(&[("a", &[b"b", b"c"])]),
        plain(&[("a", &[b"b"]), ("c", &[])]),
        plain(&[("a", &[]), ("b", &[b"c"])]),
        plain(&[("c", &[]), ("a", &[b"b"])]),
    ];
    for (i, hash) in all.iter().enumerate() {
        assert!(
            !all[..i].contains(hash),
            "extras {i} have the hash of others"
        );
    }
}

#[test]
fn no_extras_are_an_empty_list_of_extras() {
    let mut canonicalizer = with(ParamsPolicy::default());
    assert_eq!(canonicalizer.hash_json(b"{\"a\":1}"), Ok(plain(&[])));
    let value = std::collections::BTreeMap::from([("a", 1)]);
    assert_eq!(canonicalizer.hash_value_with(&value, &[]), Ok(plain(&[])));
}

#[test]
fn a_body_of_bytes_never_has_the_hash_of_json() {
    let canonicalizer = with(ParamsPolicy::default());
    assert_ne!(canonicalizer.hash_bytes_with(b"{\"a\":1}", &[]), plain(&[]));
    let one = canonicalizer.hash_bytes_with(b"a", &[("b", &[b"c"])]);
    assert_ne!(one, canonicalizer.hash_bytes_with(b"a", &[("bc", &[b""])]));
    assert_eq!(one, canonicalizer.hash_bytes_with(b"a", &[("b", &[b"c"])]));
}

/// Built here from the words of `docs/spec/params.md`, not from the code.
#[test]
fn the_layout_is_the_published_one() {
    let part = |text: &str| [&(text.len() as u64).to_be_bytes()[..], text.as_bytes()].concat();
    let count = |n: u64| n.to_be_bytes().to_vec();
    let policy = r#"{"decimals":["/amount"],"fields":{"all_but":["/note"]},"nulls":"drop_top_level","numbers":"lossless"}"#;
    let parts = [
        part("counterfoil/params/v1"),
        part(policy),
        part("json"),
        part(r#"{"amount":"10"}"#),
        count(1),
        part("content-language"),
        count(2),
        part("en"),
        part("zh"),
    ];
    let expected: [u8; 32] = Sha256::digest(parts.concat()).into();
    let policy = ParamsPolicy::all_but(["/note"]).with_decimal("/amount");
    let extras: [Extra<'_>; 1] = [("content-language", &[b"en", b"zh"])];
    let hash = hash(policy, r#"{"note":1,"amount":10.0}"#, &extras);
    assert_eq!(hash.as_bytes(), &expected);
}
