//! A body read whole: what is taken, what is joined, what is left.

use counterfoil_core::params::{Members, Nulls, ParamsErrorKind, ParamsPolicy, Reading};

use crate::with;

fn read(policy: ParamsPolicy, json: &str) -> Members {
    match with(policy).read(json.as_bytes()) {
        Ok(Reading::Object(members)) => members,
        other => panic!("an object is read, not {other:?}"),
    }
}

#[test]
fn a_body_read_whole_keeps_ignored_fields_and_nulls_in_order() {
    let policy = ParamsPolicy::all_but(["/note"])
        .with_decimal("/n")
        .with_nulls(Nulls::DropEverywhere);
    let json = r#"{"z":null,"note":{"b":1,"a":null},"n":10.0, "e\u006d":[1.0] }"#;
    let expected = r#"{"em":[1],"n":"10","note":{"a":null,"b":1},"z":null}"#;
    assert_eq!(read(policy, json).to_text(), expected);
}

#[test]
fn a_body_with_only_some_fields_bound_is_read_whole_too() {
    let policy = ParamsPolicy::only(["/a/b"]).with_decimal("/a/b");
    let json = r#"{"c":{"d":[{"e":1}]},"a":{"x":{"y":2},"b":"1.0"}}"#;
    let expected = r#"{"a":{"b":"1","x":{"y":2}},"c":{"d":[{"e":1}]}}"#;
    assert_eq!(read(policy, json).to_text(), expected);
}

#[test]
fn what_is_taken_is_gone() {
    let mut members = read(
        ParamsPolicy::default(),
        r#"{"b":"x\n\u0001","a":[1, 2],"n":null}"#,
    );
    assert_eq!(members.take("a").as_deref(), Some("[1,2]"));
    assert_eq!(members.take("a"), None);
    assert_eq!(members.take_string("b"), Some(Ok("x\n\u{1}".to_owned())));
    assert_eq!(members.take_string("b"), None);
    let error = members
        .take_string("n")
        .expect("it is there")
        .expect_err("null is no string");
    assert_eq!(
        (error.kind(), error.field()),
        (ParamsErrorKind::WrongType, Some("/n"))
    );
    assert_eq!(members.to_text(), "{}");
}

#[test]
fn what_is_joined_stands_in_order_and_never_twice() {
    let mut members = read(ParamsPolicy::default(), r#"{"b":1,"d":null}"#);
    members.join("c", "10\"\u{0}").expect("c is free");
    members.join("a", "").expect("a is free");
    members.join("\u{fb33}", "x").expect("free");
    members.join("\u{1f602}", "y").expect("free");
    for taken in ["a", "b", "c", "d"] {
        assert_eq!(
            members.join(taken, "2").expect_err("it is taken").name(),
            taken
        );
    }
    let expected = "{\"a\":\"\",\"b\":1,\"c\":\"10\\\"\\u0000\",\"d\":null,\"\u{1f602}\":\"y\",\"\u{fb33}\":\"x\"}";
    assert_eq!(members.to_text(), expected);
    assert!(members.contains("d") && !members.contains("e"));
}

#[test]
fn a_body_that_is_no_object_is_its_canonical_text() {
    for (json, expected) in [
        (" [1.0, {\"b\":1,\"a\":2}] ", "[1,{\"a\":2,\"b\":1}]"),
        ("null", "null"),
        ("\"{\"", "\"{\""),
    ] {
        match with(ParamsPolicy::default()).read(json.as_bytes()) {
            Ok(Reading::Other(text)) => assert_eq!(text, expected),
            other => panic!("no object was sent: {other:?}"),
        }
    }
}

#[test]
fn reading_whole_is_as_strict_as_hashing() {
    let mut canonicalizer = with(ParamsPolicy::all_but(["/note"]).with_decimal("/n"));
    for json in [
        r#"{"note":1,"b":2,"note":3}"#,
        r#"{"n":true}"#,
        r#"{"a":1e999}"#,
        r#"{"a":1}}"#,
    ] {
        assert!(canonicalizer.read(json.as_bytes()).is_err(), "{json}");
    }
    assert!(
        canonicalizer
            .read(b"{}")
            .is_ok_and(|r| matches!(r, Reading::Object(m) if m.to_text() == "{}"))
    );
}

#[test]
fn what_was_read_whole_hashes_as_the_body_did() {
    let mut canonicalizer = with(ParamsPolicy::all_but(["/note"]).with_decimal("/n"));
    let json = br#"{"z":null,"note":{"b":1},"n":10.0,"a":{"y":1e2,"x":null}}"#;
    let hash = canonicalizer.hash_json(json).expect("accepted");
    let Ok(Reading::Object(members)) = canonicalizer.read(json) else {
        panic!("an object was sent")
    };
    assert_eq!(
        canonicalizer.hash_json(members.to_text().as_bytes()),
        Ok(hash)
    );
}

#[test]
fn debug_shows_names_and_no_value() {
    let members = read(ParamsPolicy::default(), r#"{"token":"s3cret"}"#);
    assert_eq!(format!("{members:?}"), r#"{"token"}"#);
    assert_eq!(
        format!("{:?}", Reading::Other("\"s3cret\"".to_owned())),
        "Other(…)"
    );
}

/// Whoever may preview may send a large body and a long query, and must not hold a thread with them.
#[test]
fn many_parts_are_joined_to_many_members_in_no_time() {
    let members: Vec<String> = (0..70_000).map(|n| format!("\"b{n}\":1")).collect();
    let body = format!("{{{}}}", members.join(","));
    let mut members = read(ParamsPolicy::default(), &body);
    let began = std::time::Instant::now();
    for n in 0..13_000 {
        members.join(&format!("a{n}"), "").expect("a new name");
    }
    assert!(members.join("a7", "").is_err());
    // A tenth of a second. To look through all members for each part would take several times this bound.
    let took = began.elapsed();
    assert!(took.as_secs() < 5, "{took:?}");
    assert_eq!(members.names().count(), 83_000);
}
