//! Bound, ignored and decimal fields, nulls, and policies that contradict themselves.

use counterfoil_core::params::{Nulls, ParamsErrorKind, ParamsPolicy, PolicyError};

use crate::{accepted, refused};

#[test]
fn an_ignored_field_leaves_no_trace_wherever_it_stands() {
    let policy = || ParamsPolicy::all_but(["/note", "/ui", "/items/0/memo", "/a~1b/c~0d"]);
    let json = r#"{"z":1,"note":"x","ui":{"deep":[1,{"a":2}]},"items":[{"memo":1,"n":2},{"memo":3}],"a/b":{"c~d":1,"e":2}}"#;
    let expected = r#"{"a/b":{"e":2},"items":[{"n":2},{"memo":3}],"z":1}"#;
    assert_eq!(accepted(policy(), json), expected);
    assert_eq!(accepted(policy(), r#"{"note":1}"#), "{}");
    assert_eq!(
        accepted(policy(), r#"{"note":1,"ui":2,"a":3}"#),
        r#"{"a":3}"#
    );
    assert_eq!(
        accepted(policy(), r#"{"a":3,"note":1,"ui":2}"#),
        r#"{"a":3}"#
    );
}

#[test]
fn ignoring_a_field_that_never_exists_is_fine() {
    let policy = ParamsPolicy::all_but(["/nowhere/at/all"]);
    assert_eq!(
        accepted(policy, r#"{"nowhere":{"at":1}}"#),
        r#"{"nowhere":{"at":1}}"#
    );
}

#[test]
fn an_ignored_name_is_ignored_at_its_own_place_only() {
    let policy = ParamsPolicy::all_but(["/note"]);
    let json = r#"{"inner":{"note":1},"list":[{"note":2}]}"#;
    assert_eq!(accepted(policy, json), json);
}

#[test]
fn ignored_fields_are_read_as_strictly_as_bound_ones() {
    let policy = || ParamsPolicy::all_but(["/ui"]);
    let twice = (ParamsErrorKind::DuplicateMember, Some("/ui/b/x".to_owned()));
    assert_eq!(
        refused(policy(), r#"{"a":1,"ui":{"b":{"x":1,"y":2,"x":3}}}"#),
        twice
    );
    let twice = (ParamsErrorKind::DuplicateMember, Some("/ui".to_owned()));
    assert_eq!(refused(policy(), r#"{"ui":1,"a":1,"ui":2}"#), twice);
    assert_eq!(refused(policy(), r#"{"ui":1,"ui":2}"#), twice);
    let lossy = (ParamsErrorKind::LossyNumber, Some("/ui/1".to_owned()));
    assert_eq!(refused(policy(), r#"{"ui":[1,1e999]}"#), lossy);
}

#[test]
fn only_the_bound_fields_are_left_and_the_containers_on_the_way() {
    let policy = || ParamsPolicy::only(["/amount", "/to/iban", "/lines/1"]);
    let json =
        r#"{"x":1,"to":{"iban":{"k":[1]},"name":"n"},"lines":[0,{"q":1,"r":null},2],"amount":5}"#;
    let expected = r#"{"amount":5,"lines":[{"q":1,"r":null}],"to":{"iban":{"k":[1]}}}"#;
    assert_eq!(accepted(policy(), json), expected);
    assert_eq!(accepted(policy(), r#"{"to":{"name":1}}"#), r#"{"to":{}}"#);
    // No container where one is on the way: finer rather than coarser.
    assert_eq!(accepted(policy(), r#"{"to":"all"}"#), r#"{"to":"all"}"#);
    assert_eq!(accepted(policy(), "[1,2]"), "[]");
    assert_eq!(accepted(policy(), "7"), "7");
}

#[test]
fn an_index_has_one_spelling_in_an_array_and_any_in_an_object() {
    let policy = || ParamsPolicy::all_but(["/l/01", "/l/-"]);
    assert_eq!(accepted(policy(), r#"{"l":[1,2]}"#), r#"{"l":[1,2]}"#);
    assert_eq!(
        accepted(policy(), r#"{"l":{"01":1,"-":2,"1":3}}"#),
        r#"{"l":{"1":3}}"#
    );
}

#[test]
fn nulls_are_dropped_where_the_policy_says() {
    let json = r#"{"b":null,"a":{"c":null,"d":[null,{"e":null}]},"f":null}"#;
    let with = |nulls| accepted(ParamsPolicy::default().with_nulls(nulls), json);
    assert_eq!(
        with(Nulls::DropTopLevel),
        r#"{"a":{"c":null,"d":[null,{"e":null}]}}"#
    );
    assert_eq!(with(Nulls::DropEverywhere), r#"{"a":{"d":[null,{}]}}"#);
    assert_eq!(
        with(Nulls::Keep),
        r#"{"a":{"c":null,"d":[null,{"e":null}]},"b":null,"f":null}"#
    );
}

#[test]
fn a_dropped_null_is_still_a_member_given_twice() {
    for json in [
        r#"{"a":null,"a":1}"#,
        r#"{"a":1,"b":2,"a":null}"#,
        r#"{"a":null,"a":null}"#,
    ] {
        let twice = (ParamsErrorKind::DuplicateMember, Some("/a".to_owned()));
        assert_eq!(refused(ParamsPolicy::default(), json), twice);
    }
}

#[test]
fn a_decimal_is_one_value_in_all_of_its_spellings() {
    let policy = || ParamsPolicy::default().with_decimal("/n");
    for (expected, spellings) in [
        (
            "10",
            &[
                "10",
                "10.0",
                "1e1",
                "\"10.00\"",
                "\"10\"",
                "\"1E+1\"",
                "100e-1",
                "\"\\u0031\\u0030\"",
            ][..],
        ),
        (
            "0",
            &[
                "0",
                "-0",
                "\"-0\"",
                "0.00",
                "\"-0.000\"",
                "0e5",
                "\"0e-9999\"",
            ][..],
        ),
        (
            "-1.05",
            &["-1.05", "\"-1.050\"", "-105e-2", "\"-0.0105e2\""][..],
        ),
        ("0.001", &["0.001", "1e-3", "\"0.0010\""][..]),
        (
            "9007199254740993.00000000001",
            &[
                "9007199254740993.00000000001",
                "\"9007199254740993.000000000010\"",
            ][..],
        ),
    ] {
        for spelling in spellings {
            let text = accepted(policy(), &format!("{{\"n\":{spelling}}}"));
            assert_eq!(text, format!("{{\"n\":\"{expected}\"}}"), "{spelling}");
        }
    }
}

#[test]
fn a_decimal_field_holds_nothing_else() {
    let policy = || ParamsPolicy::default().with_decimal("/x/n");
    for value in [
        "true",
        "[1]",
        "[]",
        "{}",
        "{\"a\":1}",
        "\"\"",
        "\" 10\"",
        "\"10 \"",
        "\"+1\"",
        "\"1e2x\"",
        "\"NaN\"",
        "\"1,5\"",
        "\"0x1\"",
        "\"01\"",
        "\".5\"",
        "\"5.\"",
        "\"-\"",
        "\"Infinity\"",
        "\"１\"",
        "1e200",
        "\"1e-127\"",
    ] {
        let (kind, field) = refused(policy(), &format!("{{\"x\":{{\"n\":{value}}}}}"));
        assert_eq!(kind, ParamsErrorKind::InvalidDecimal, "{value}");
        assert_eq!(field.as_deref(), Some("/x/n"));
    }
    let (kind, _) = refused(policy(), r#"{"x":{"n":"1e10000"}}"#);
    assert_eq!(kind, ParamsErrorKind::NumberTooLong);
}

#[test]
fn a_decimal_has_at_most_128_characters_without_an_exponent() {
    let policy = || ParamsPolicy::default().with_decimal("/n");
    let longest = "1".to_owned() + &"0".repeat(127);
    assert_eq!(
        accepted(policy(), r#"{"n":1e127}"#),
        format!("{{\"n\":\"{longest}\"}}")
    );
    assert_eq!(
        refused(policy(), r#"{"n":1e128}"#).0,
        ParamsErrorKind::InvalidDecimal
    );
    assert_eq!(
        refused(policy(), r#"{"n":-1e127}"#).0,
        ParamsErrorKind::InvalidDecimal
    );
    let smallest = format!("0.{}1", "0".repeat(125));
    assert_eq!(
        accepted(policy(), r#"{"n":1e-126}"#),
        format!("{{\"n\":\"{smallest}\"}}")
    );
}

#[test]
fn a_null_decimal_follows_the_nulls() {
    let policy = || {
        ParamsPolicy::default()
            .with_decimal("/n")
            .with_decimal("/x/n")
    };
    assert_eq!(
        accepted(policy(), r#"{"n":null,"x":{"n":null}}"#),
        r#"{"x":{"n":null}}"#
    );
    assert_eq!(accepted(policy(), "{}"), "{}");
}

#[test]
fn decimals_stand_in_array_elements_and_bound_containers_too() {
    let policy = ParamsPolicy::only(["/l"])
        .with_decimal("/l/0")
        .with_decimal("/l/1/n");
    assert_eq!(
        accepted(policy, r#"{"l":[1.0,{"n":2.50},1.0],"m":3}"#),
        r#"{"l":["1",{"n":"2.5"},1]}"#
    );
}

#[test]
fn a_policy_that_contradicts_itself_does_not_compile() {
    let fault = |policy: ParamsPolicy| policy.compile().expect_err("a contradiction").to_string();
    let all = ParamsPolicy::all_but::<[&str; 0]>;
    for bad in ["", "note", "/a~2", "/a~"] {
        let error = ParamsPolicy::all_but([bad])
            .compile()
            .expect_err("malformed");
        assert_eq!(error, PolicyError::Malformed(bad.to_owned()));
        assert!(all([]).with_decimal(bad).compile().is_err());
        assert!(ParamsPolicy::only([bad]).compile().is_err());
    }
    assert_eq!(
        fault(ParamsPolicy::all_but(["/a", "/b", "/a"])),
        "the field \"/a\" is named twice in one list"
    );
    assert_eq!(
        fault(ParamsPolicy::only(["/a", "/a"])),
        "the field \"/a\" is named twice in one list"
    );
    assert_eq!(
        fault(all([]).with_decimal("/a").with_decimal("/a")),
        "the field \"/a\" is named twice in one list"
    );
    assert_eq!(
        fault(ParamsPolicy::only(["/a/b", "/a"])),
        "the bound field \"/a/b\" lies inside the bound field \"/a\"; name one of them"
    );
    assert_eq!(
        fault(ParamsPolicy::all_but(["/a"]).with_decimal("/a/b")),
        "the decimal field \"/a/b\" is not bound; take \"/a\" out of the ignored fields"
    );
    assert_eq!(
        fault(ParamsPolicy::all_but(["/a"]).with_decimal("/a")),
        "the decimal field \"/a\" is not bound; take \"/a\" out of the ignored fields"
    );
    assert_eq!(
        fault(ParamsPolicy::only(["/a"]).with_decimal("/b")),
        "the decimal field \"/b\" is not among the bound fields"
    );
    let inside = "\"/a/b\" lies inside \"/a\", which is a decimal and has no fields";
    assert_eq!(
        fault(ParamsPolicy::only(["/a/b"]).with_decimal("/a")),
        inside
    );
    assert_eq!(
        fault(ParamsPolicy::all_but(["/a/b"]).with_decimal("/a")),
        inside
    );
    assert_eq!(
        fault(all([]).with_decimal("/a/b").with_decimal("/a")),
        inside
    );
    assert_eq!(
        fault(ParamsPolicy::only::<[&str; 0]>([])),
        "no field is bound; name at least one, or bind all but the ignored ones"
    );
}

#[test]
fn names_that_only_begin_alike_do_not_contradict() {
    assert!(ParamsPolicy::only(["/a", "/ab", "/a~1b"]).compile().is_ok());
    assert!(
        ParamsPolicy::all_but(["/amount_note"])
            .with_decimal("/amount")
            .compile()
            .is_ok()
    );
    assert!(ParamsPolicy::all_but(["/ui", "/ui/x"]).compile().is_ok());
}
