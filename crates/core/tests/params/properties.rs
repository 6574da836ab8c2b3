//! Against other implementations, on generated values and mutated texts.

use counterfoil_core::params::{
    Canonicalizer, Nulls, Numbers, ParamsErrorKind, ParamsPolicy, decode,
};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::with;

fn keeping_nulls(numbers: Numbers) -> Canonicalizer {
    with(
        ParamsPolicy::default()
            .with_nulls(Nulls::Keep)
            .with_numbers(numbers),
    )
}

/// Characters of all planes, often ones that JSON or the order of names treats in a way of its own.
fn character() -> impl Strategy<Value = char> {
    prop_oneof![
        any::<char>(),
        prop::char::range('\0', '\u{7f}'),
        prop::char::range('\u{e000}', '\u{ffff}'),
        prop::char::range('\u{10000}', '\u{10ffff}'),
        prop::sample::select(vec![
            '"', '\\', '/', '\u{8}', '\n', '\u{2028}', '\u{7f}', '\u{d7ff}'
        ]),
    ]
}

fn string() -> impl Strategy<Value = String> {
    prop::collection::vec(character(), 0..6).prop_map(String::from_iter)
}

/// Numbers that a double holds exactly, which is where RFC 8785 loses nothing.
fn number() -> impl Strategy<Value = Value> {
    let safe = (1_i64 << 53) - 1;
    prop_oneof![
        (-safe..=safe).prop_map(Value::from),
        any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter_map("finite", |f| { f.is_finite().then(|| Value::from(f)) }),
        // Here two shortest decimals are often equally near.
        (1_u64 << 52..1 << 53, 1_i32..6)
            .prop_map(|(m, e)| Value::from(m as f64 / f64::from(1 << e))),
        (-30_i32..30).prop_map(|e| Value::from(10_f64.powi(e))),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        string().prop_map(Value::from),
    ];
    scalar.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((string(), inner), 0..8)
                .prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

/// JSON texts, then a few bytes of them changed, dropped, doubled or put in from the alphabet of JSON.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let alphabet = b"{}[]:,\"\\ \t\n0123456789.eE+-truefalsn\x00\x1f\x7f\xc3\xa9\xf0\x9f\xed\xa0\xef\xbb\xbfu/".to_vec();
    let edit = (
        any::<prop::sample::Index>(),
        0..4_u8,
        prop::sample::select(alphabet),
    );
    (value(), any::<bool>(), prop::collection::vec(edit, 0..4)).prop_map(
        |(value, pretty, edits)| {
            let write = if pretty {
                serde_json::to_vec_pretty
            } else {
                serde_json::to_vec
            };
            let mut text = write(&value).expect("a value has a text");
            for (at, edit, byte) in edits {
                if text.is_empty() {
                    break;
                }
                let at = at.index(text.len());
                match edit {
                    0 => text[at] = byte,
                    1 => drop(text.remove(at)),
                    2 => text.insert(at, text[at]),
                    _ => text.insert(at, byte),
                }
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn where_rfc_8785_loses_nothing_the_texts_are_equal(value in value()) {
        let theirs = serde_jcs::to_string(&value).expect("a value has a text");
        let mut canonicalizer = keeping_nulls(Numbers::Lossless);
        prop_assert_eq!(canonicalizer.canonical_value(&value).expect("accepted"), &theirs);
        let json = serde_json::to_vec_pretty(&value).expect("a value has a text");
        prop_assert_eq!(canonicalizer.canonical_json(&json).expect("accepted"), &theirs);
    }

    #[test]
    fn a_canonical_text_is_its_own(value in value(), nulls in prop::sample::select(vec![Nulls::Keep, Nulls::DropTopLevel, Nulls::DropEverywhere])) {
        let mut canonicalizer = with(ParamsPolicy::default().with_nulls(nulls));
        let once = canonicalizer.canonical_value(&value).expect("accepted").to_owned();
        prop_assert_eq!(canonicalizer.canonical_json(once.as_bytes()).expect("accepted"), &once);
    }

    #[test]
    fn exact_numbers_are_their_own_too(token in "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?") {
        let mut canonicalizer = keeping_nulls(Numbers::Exact);
        let once = canonicalizer.canonical_json(token.as_bytes()).expect("accepted").to_owned();
        prop_assert_eq!(canonicalizer.canonical_json(once.as_bytes()).expect("accepted"), &once);
    }

    #[test]
    fn a_lossless_number_reads_back_as_the_same_double(token in "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?") {
        let mut canonicalizer = keeping_nulls(Numbers::Lossless);
        if let Ok(text) = canonicalizer.canonical_json(token.as_bytes()) {
            prop_assert_eq!(text.parse::<f64>(), token.parse::<f64>());
            // Integers beyond the doubles are kept by readers with 64-bit integers.
            if text.parse::<i64>().is_err() && text.parse::<u64>().is_err() {
                let double: f64 = token.parse().expect("a number");
                prop_assert_eq!(serde_jcs::to_string(&double).expect("finite"), text);
            }
        }
    }

    #[test]
    fn names_stand_in_utf16_order(names in prop::collection::btree_set(string(), 0..12)) {
        let json = Value::from(Map::from_iter(names.iter().map(|n| (n.clone(), Value::from(1)))));
        let text = keeping_nulls(Numbers::Lossless).canonical_value(&json).expect("accepted").to_owned();
        let mut sorted: Vec<_> = names.into_iter().collect();
        sorted.sort_by_key(|name| name.encode_utf16().collect::<Vec<_>>());
        let members: Vec<_> = sorted.iter().map(|n| serde_json::to_string(n).expect("a string") + ":1").collect();
        prop_assert_eq!(text, format!("{{{}}}", members.join(",")));
    }

    #[test]
    fn the_reader_accepts_what_serde_json_accepts_but_for_our_refusals(text in mutated()) {
        let ours = keeping_nulls(Numbers::Exact).canonical_json(&text).map(str::to_owned);
        let theirs = serde_json::from_slice::<Value>(&text);
        match (&ours, &theirs) {
            (Ok(ours), Ok(_)) => prop_assert!(serde_json::from_str::<Value>(ours).is_ok()),
            (Err(error), Err(_)) => prop_assert!(error.kind() != ParamsErrorKind::LossyNumber),
            (Err(error), Ok(_)) => prop_assert!(
                matches!(error.kind(), ParamsErrorKind::DuplicateMember | ParamsErrorKind::NumberTooLong),
                "{:?} {}", error, String::from_utf8_lossy(&text)
            ),
            (Ok(_), Err(error)) => prop_assert!(
                error.to_string().starts_with("number out of range"),
                "{} {}", error, String::from_utf8_lossy(&text)
            ),
        }
        // The decoder has the same lexer; it doesn't look for duplicates, and its numbers are lossless.
        if let Ok(text) = std::str::from_utf8(&text) {
            let decoded = decode::<Value>(text);
            match (&ours, &decoded) {
                (Ok(_), Err(error)) => prop_assert_eq!(error.kind(), ParamsErrorKind::LossyNumber),
                (Err(error), Ok(_)) => prop_assert!(
                    matches!(error.kind(), ParamsErrorKind::DuplicateMember | ParamsErrorKind::NumberTooLong)
                ),
                _ => {}
            }
        }
    }

    #[test]
    fn what_is_read_whole_decodes_to_the_same_value(value in value()) {
        let text = keeping_nulls(Numbers::Lossless).canonical_value(&value).expect("accepted").to_owned();
        let decoded: Value = decode(&text).expect("decodes");
        let again = keeping_nulls(Numbers::Lossless).canonical_value(&decoded).expect("accepted").to_owned();
        prop_assert_eq!(text, again);
    }
}
