//! From a text that was read to the handler's type.

use std::collections::BTreeMap;

use counterfoil_core::params::{ParamsErrorKind as Kind, decode};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Transfer {
    payee_id: String,
    amount: u32,
    #[serde(default)]
    lines: Vec<Line>,
    order: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    price: f64,
    #[serde(default)]
    kind: Kinds,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kinds {
    #[default]
    Plain,
    Rated(u8),
    Pair(u8, bool),
    Full {
        a: char,
        b: Option<i64>,
    },
}

fn fault<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> (Kind, String) {
    let error = decode::<T>(text).expect_err("the text is refused");
    assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
    (error.kind(), error.field().unwrap_or("none").to_owned())
}

fn at(kind: Kind, field: &str) -> (Kind, String) {
    (kind, field.to_owned())
}

#[test]
fn a_text_becomes_the_type_and_serde_json_agrees() {
    let text = r#"{"amount":7,"lines":[{"kind":"plain","price":1},{"kind":{"rated":3},"price":2.5},{"kind":{"pair":[1,true]},"price":0.1},{"kind":{"full":{"a":"é","b":-9223372036854775808}},"price":1e+300}],"order":null,"payee_id":"p\n1"}"#;
    let ours: Transfer = decode(text).expect("it is a transfer");
    let theirs: Transfer = serde_json::from_str(text).expect("it is a transfer");
    assert_eq!(ours, theirs);
    assert_eq!(
        ours.lines[3].kind,
        Kinds::Full {
            a: 'é',
            b: Some(i64::MIN)
        }
    );
}

#[test]
fn an_unknown_member_is_refused_and_named_at_any_depth() {
    let text = r#"{"amount":1,"note":"s3cret","payee_id":"p"}"#;
    assert_eq!(fault::<Transfer>(text), at(Kind::UnknownMember, "/note"));
    let text =
        r#"{"amount":1,"lines":[{"price":1},{"price":2,"x/y":{"s3cret":1}}],"payee_id":"p"}"#;
    assert_eq!(
        fault::<Transfer>(text),
        at(Kind::UnknownMember, "/lines/1/x~1y")
    );
    let text = r#"{"amount":1,"lines":[{"kind":{"full":{"a":"a","b":1,"c":2}},"price":1}],"payee_id":"p"}"#;
    assert_eq!(
        fault::<Transfer>(text),
        at(Kind::UnknownMember, "/lines/0/kind/full/c")
    );
}

#[test]
fn deny_unknown_fields_names_the_member_too() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        #[serde(rename = "inner")]
        _inner: Option<Box<Strict>>,
    }
    assert_eq!(
        fault::<Strict>(r#"{"inner":{"s":"s3cret"}}"#),
        at(Kind::UnknownMember, "/inner/s")
    );
}

#[test]
fn a_missing_member_is_named() {
    assert_eq!(
        fault::<Transfer>(r#"{"amount":1}"#),
        at(Kind::MissingMember, "/payee_id")
    );
    let text = r#"{"amount":1,"lines":[{"kind":"plain"}],"payee_id":"p"}"#;
    assert_eq!(
        fault::<Transfer>(text),
        at(Kind::MissingMember, "/lines/0/price")
    );
}

#[test]
fn a_wrong_type_is_named_without_its_value() {
    for (value, found) in [
        ("\"s3cret\"", "a string"),
        ("1.5", "a number"),
        ("true", "a boolean"),
        ("null", "null"),
        ("[1]", "an array"),
        ("{\"a\":1}", "an object"),
    ] {
        let text = format!("{{\"amount\":{value},\"payee_id\":\"p\"}}");
        assert_eq!(
            fault::<Transfer>(&text),
            at(Kind::WrongType, "/amount"),
            "{value}"
        );
        let error = decode::<Transfer>(&text).expect_err("refused").to_string();
        assert_eq!(error, format!("param /amount: expected u32, found {found}"));
    }
    assert_eq!(
        fault::<Transfer>(r#"{"amount":4294967296,"payee_id":"p"}"#),
        at(Kind::InvalidValue, "/amount")
    );
    let text = r#"{"amount":1,"lines":[{"kind":"s3cret","price":1}],"payee_id":"p"}"#;
    assert_eq!(
        fault::<Transfer>(text),
        at(Kind::InvalidValue, "/lines/0/kind")
    );
    assert_eq!(fault::<Transfer>("[\"s3cret\",1]"), at(Kind::WrongType, ""));
    assert_eq!(fault::<Kinds>("{}"), at(Kind::InvalidValue, ""));
    assert_eq!(
        fault::<Kinds>(r#"{"rated":1,"pair":2}"#),
        at(Kind::WrongType, "")
    );
    assert_eq!(fault::<(u8, u8)>("[1,2,3]"), at(Kind::WrongType, ""));
}

#[test]
fn a_types_own_words_are_dropped() {
    #[derive(Debug, Deserialize)]
    #[serde(try_from = "String")]
    struct Picky;
    impl TryFrom<String> for Picky {
        type Error = String;
        fn try_from(text: String) -> Result<Self, String> {
            Err(format!("{text} is bad"))
        }
    }
    assert_eq!(
        fault::<Vec<Picky>>("[\"s3cret\"]"),
        at(Kind::InvalidValue, "/0")
    );
}

#[test]
fn buffered_types_are_read_too() {
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "type")]
    enum Tagged {
        Card { number: u64 },
    }
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(f64),
        Text(String),
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Flat {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, i64>,
    }
    let card: Tagged = decode(r#"{"number":5,"type":"Card"}"#).expect("a card");
    assert_eq!(card, Tagged::Card { number: 5 });
    let either: Vec<Either> = decode(r#"[0.1,"x",7]"#).expect("numbers and a text");
    assert_eq!(
        either,
        [
            Either::Number(0.1),
            Either::Text("x".into()),
            Either::Number(7.0)
        ]
    );
    let flat: Flat = decode(r#"{"a":1,"b":-2}"#).expect("flat");
    assert_eq!(
        flat,
        Flat {
            a: 1,
            rest: BTreeMap::from([("b".into(), -2)])
        }
    );
}

#[test]
fn a_key_that_stands_for_a_number_has_one_spelling() {
    type Numbered = BTreeMap<u16, bool>;
    assert_eq!(
        decode(r#"{"0":true,"10":false}"#),
        Ok(Numbered::from([(0, true), (10, false)]))
    );
    for key in ["01", "+1", "-0", " 1", "1.0", "1e1", "70000"] {
        let text = format!("{{\"{key}\":true}}");
        assert_eq!(fault::<Numbered>(&text).0, Kind::WrongType, "{key}");
    }
    assert_eq!(decode(r#"{"true":1}"#), Ok(BTreeMap::from([(true, 1_u8)])));
}

#[test]
fn numbers_are_read_to_the_nearest_or_refused() {
    // One place off in readers that trade exactness for speed.
    assert_eq!(
        decode::<f64>("2.638344616030823e-256"),
        Ok(2.638344616030823e-256)
    );
    assert_eq!(
        decode::<u128>("340282366920938463463374607431768211455"),
        Ok(u128::MAX)
    );
    assert_eq!(
        decode::<i128>("-170141183460469231731687303715884105728"),
        Ok(i128::MIN)
    );
    assert_eq!(
        fault::<u64>("18446744073709551617"),
        at(Kind::LossyNumber, "")
    );
    assert_eq!(fault::<u128>("1e+40").0, Kind::WrongType);
}

/// The hash is that of the value that was decoded, so two numbers that become one double would have one hash.
#[test]
fn two_numbers_never_become_one_float() {
    for lossy in [
        "9007199254740993",
        "-9007199254740993",
        "9223372036854775807",
        "18446744073709551615",
    ] {
        assert_eq!(fault::<f64>(lossy), at(Kind::LossyNumber, ""), "{lossy}");
    }
    for lossy in ["16777217", "0.123456789", "1e39", "1e-60"] {
        assert_eq!(fault::<f32>(lossy), at(Kind::LossyNumber, ""), "{lossy}");
    }
    assert_eq!(
        fault::<Line>(r#"{"price":9007199254740993}"#),
        at(Kind::LossyNumber, "/price")
    );
    assert_eq!(
        fault::<Vec<Option<f64>>>("[null,9007199254740993]"),
        at(Kind::LossyNumber, "/1")
    );
    assert_eq!(decode("9007199254740992"), Ok(9_007_199_254_740_992_f64));
    assert_eq!(
        decode("9223372036854776000"),
        Ok(9_223_372_036_854_775_808_f64)
    );
    assert_eq!(decode("-0"), Ok(0.0_f64));
    assert_eq!(decode("16777216"), Ok(16_777_216_f32));
    assert_eq!(decode("[0.1,1,2.5e-3]"), Ok([0.1_f32, 1.0, 0.0025]));
    assert_eq!(decode("3.4028235e38"), Ok(f32::MAX));
    assert_eq!(fault::<f64>("\"1\""), at(Kind::WrongType, ""));
}

#[test]
fn reserved_names_are_refused_wherever_they_stand() {
    for name in [
        "$serde_json::private::Number",
        "$serde_json::private::RawValue",
        "\\u0024serde_json::private::Number",
    ] {
        let text = format!("{{\"a\":[{{\"{name}\":\"10\"}}]}}");
        let (kind, field) = fault::<serde_json::Value>(&text);
        assert_eq!(kind, Kind::UnknownMember);
        assert!(field.starts_with("/a/0/$serde_json::private::"));
    }
    assert!(decode::<serde_json::Value>(r#"{"a":"$serde_json::private::Number"}"#).is_ok());
}

#[test]
fn a_text_that_is_no_json_is_refused() {
    for text in [
        "",
        "{",
        "{\"amount\":1",
        "{\"amount\":1,}",
        "{\"amount\" 1}",
        "{\"amount\":1}x",
        "{,}",
        "tru",
        "{\"amount\":01}",
    ] {
        assert!(decode::<BTreeMap<String, u8>>(text).is_err(), "{text}");
        assert!(decode::<serde_json::Value>(text).is_err(), "{text}");
    }
    assert_eq!(
        fault::<serde_json::Value>(&"[".repeat(100_000)).0,
        Kind::TooDeep
    );
}
