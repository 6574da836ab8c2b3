//! Size, depth and number length, and input that is made to be slow.

use std::time::{Duration, Instant};

use counterfoil_core::params::{Numbers, ParamsError, ParamsErrorKind, ParamsPolicy};

use crate::{accepted, refused, text, with};

fn all() -> ParamsPolicy {
    ParamsPolicy::default()
}

#[test]
fn a_text_over_the_limit_is_refused_before_it_is_read() {
    let policy = || all().with_max_bytes(16);
    assert_eq!(accepted(policy(), "[1,2,3,4,5,6,7] ").len(), 15);
    assert_eq!(
        refused(policy(), "[1,2,3,4,5,6,7]  "),
        (ParamsErrorKind::TooLarge, None)
    );
    assert_eq!(
        refused(policy(), &"[".repeat(17)).0,
        ParamsErrorKind::TooLarge
    );
}

#[test]
fn a_canonical_text_over_the_limit_is_refused() {
    let policy = || all().with_max_bytes(64);
    assert_eq!(
        refused(policy(), "[1e20,1e20,1e20]").0,
        ParamsErrorKind::TooLarge
    );
    let mut canonicalizer = with(policy());
    let error = canonicalizer
        .canonical_value(&vec!["x"; 100])
        .expect_err("too long");
    assert_eq!(error.kind(), ParamsErrorKind::TooLarge);
    let error = canonicalizer
        .canonical_value(&"x".repeat(64))
        .expect_err("too long");
    assert_eq!(error.kind(), ParamsErrorKind::TooLarge);
    assert!(canonicalizer.canonical_value(&"x".repeat(62)).is_ok());
}

#[test]
fn depth_is_capped_and_a_million_brackets_do_no_harm() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(accepted(all(), &nested(64)), nested(64));
    assert_eq!(refused(all(), &nested(65)).0, ParamsErrorKind::TooDeep);
    assert_eq!(
        refused(all(), &"[".repeat(1 << 20)).0,
        ParamsErrorKind::TooDeep
    );
    assert_eq!(
        refused(all(), &"{\"a\":".repeat(200_000)).0,
        ParamsErrorKind::TooDeep
    );
    let mut value = serde_json::Value::Null;
    for _ in 0..65 {
        value = serde_json::Value::Array(vec![value]);
    }
    let error = with(all()).canonical_value(&value).expect_err("65 deep");
    assert_eq!(error.kind(), ParamsErrorKind::TooDeep);
    assert!(with(all()).canonical_value(&value[0]).is_ok());
}

#[test]
fn many_members_in_hostile_orders_are_sorted_in_time() {
    let count = 100_000;
    let orders: [Box<dyn Fn(usize) -> usize>; 4] = [
        Box::new(|i| i),
        Box::new(move |i| count - i),
        Box::new(move |i| if i % 2 == 0 { i } else { count * 2 - i }),
        Box::new(move |i| (i * 48_271) % 131_071),
    ];
    for order in orders {
        let members: Vec<_> = (0..count)
            .map(|i| format!("\"k{:06}\":1", order(i)))
            .collect();
        let json = format!("{{{}}}", members.join(","));
        let started = Instant::now();
        let text = accepted(all().with_max_bytes(4 << 20), &json);
        // Quadratic work would be some minutes; the bound leaves room for a busy machine.
        assert!(started.elapsed() < Duration::from_secs(20));
        assert_eq!(text.len(), json.len());
    }
}

#[test]
fn a_member_given_twice_is_found_among_many() {
    let mut members: Vec<_> = (0..50_000)
        .rev()
        .map(|i| format!("\"k{i:06}\":1"))
        .collect();
    members.push("\"k\\u003025000\":2".to_owned());
    let json = format!("{{{}}}", members.join(","));
    let twice = (
        ParamsErrorKind::DuplicateMember,
        Some("/k025000".to_owned()),
    );
    assert_eq!(refused(all(), &json), twice);
}

#[test]
fn long_numbers_are_refused_by_name() {
    let long = "1".repeat(129);
    let exact = || all().with_numbers(Numbers::Exact);
    let fault = (ParamsErrorKind::NumberTooLong, Some("/a/0".to_owned()));
    assert_eq!(refused(exact(), &format!("{{\"a\":[{long}]}}")), fault);
    assert_eq!(refused(exact(), r#"{"a":[1e10000]}"#), fault);
    assert_eq!(
        refused(exact(), r#"{"a":[1e-99999999999999999999999]}"#),
        fault
    );
    assert_eq!(accepted(exact(), "1e-9999"), "1e-9999");
    assert_eq!(accepted(exact(), "123e9999"), "1.23e+10001");
    assert_eq!(
        refused(exact(), &"1".repeat(1 << 20)).0,
        ParamsErrorKind::NumberTooLong
    );
}

#[test]
fn a_long_field_name_is_cut_in_the_error() {
    let name = "é".repeat(500_000);
    let (kind, field) = refused(all(), &format!("{{\"{name}\":1e999}}"));
    let field = field.expect("the field is named");
    assert_eq!(kind, ParamsErrorKind::LossyNumber);
    assert!(field.len() <= ParamsError::MAX_FIELD && field.ends_with('…'));
}

#[test]
fn an_error_is_one_sentence_without_values() {
    let say = |json: &str| {
        text(all().with_decimal("/n"), json)
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(
        say(r#"{"a":s3cret}"#),
        "param /a: expected a JSON value (at byte 5)"
    );
    assert_eq!(
        say("{\"a\":\"s3cret\u{1}\"}"),
        "param /a: a control character in a string must be escaped (at byte 12)"
    );
    assert_eq!(
        say(r#"{"n":"s3cret"}"#),
        "param /n: expected a decimal, as a JSON number or as a string such as \"10.50\""
    );
    assert_eq!(
        say(r#"{"x":{"a":1,"a":2}}"#),
        "param /x/a: a member stands twice in one object; send it once"
    );
    assert_eq!(say(""), "params: expected a JSON value (at byte 0)");
    assert_eq!(
        say("{} s3cret"),
        "params: something follows the JSON value (at byte 3)"
    );
    assert_eq!(
        say("{\"\\u001b[1m\":1e999}").split(": ").next(),
        Some("param /\\u{1b}[1m")
    );
    let error = with(all())
        .canonical_json(b"{\"a\":\"\xff\"}")
        .expect_err("no UTF-8")
        .to_string();
    assert_eq!(error, "params: the text is not UTF-8 (at byte 6)");
}

#[test]
fn every_control_character_must_be_escaped_and_no_other() {
    for byte in 0..0x20_u8 {
        let json = [&b"[\""[..], &[byte], b"\"]"].concat();
        let error = with(all())
            .canonical_json(&json)
            .map(|_| ())
            .expect_err("a raw control character");
        assert_eq!(
            (error.kind(), error.offset()),
            (ParamsErrorKind::Syntax, Some(2)),
            "{byte}"
        );
    }
    assert_eq!(
        accepted(all(), "\"\u{7f}\u{80}\u{2028}\""),
        "\"\u{7f}\u{80}\u{2028}\""
    );
}

#[test]
fn two_low_halves_are_no_pair() {
    assert_eq!(
        refused(all(), r#""\udc00\udc00""#).0,
        ParamsErrorKind::Syntax
    );
    assert_eq!(
        refused(all(), r#""\udfff\ud800\udc00""#).0,
        ParamsErrorKind::Syntax
    );
    assert_eq!(
        accepted(all(), r#""\udbff\uDFFF\ud7ff\ue000""#),
        "\"\u{10ffff}\u{d7ff}\u{e000}\""
    );
}

#[test]
fn buffers_carry_nothing_from_one_text_to_the_next() {
    let mut canonicalizer = with(all());
    let first = canonicalizer
        .canonical_json(br#"{"b":[{"y":1,"x":"\n"}],"a":2}"#)
        .map(str::to_owned);
    for broken in [
        &br#"{"b":[{"y":1,"x":"\n"#[..],
        br#"{"a":{"b":1,"a":2,"b":3"#,
        br#"[[[[{"q":1e999"#,
        b"\"\\ud800\"",
    ] {
        assert!(canonicalizer.canonical_json(broken).is_err());
        assert!(canonicalizer.read(broken).is_err());
        let again = canonicalizer
            .canonical_json(br#"{"a":2,"b":[{"x":"\n","y":1}]}"#)
            .map(str::to_owned);
        assert_eq!(again, first);
    }
}
