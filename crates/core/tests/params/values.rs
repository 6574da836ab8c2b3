//! Values by way of `Serialize`.

use std::collections::{BTreeMap, HashMap};

use counterfoil_core::params::{Numbers, ParamsErrorKind, ParamsPolicy};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::with;

fn text<T: Serialize>(value: T) -> String {
    let mut canonicalizer = with(ParamsPolicy::default());
    canonicalizer
        .canonical_value(&value)
        .expect("the value is accepted")
        .to_owned()
}

fn refused<T: Serialize>(value: T) -> (ParamsErrorKind, Option<String>) {
    let mut canonicalizer = with(ParamsPolicy::default());
    let error = canonicalizer
        .canonical_value(&value)
        .expect_err("the value is refused");
    (error.kind(), error.field().map(str::to_owned))
}

#[derive(Serialize)]
enum Shape {
    Unit,
    Newtype(Option<u8>),
    Tuple(u8, char),
    Struct { b: bool, a: () },
}

#[derive(Serialize)]
struct Marker;

#[derive(Serialize)]
struct Wrapper(f64);

#[test]
fn every_shape_has_the_form_that_serde_json_gives_it() {
    #[derive(Serialize)]
    struct All {
        shapes: Vec<Shape>,
        tuple: (i8, u16, i64, u64),
        wrapper: Wrapper,
        marker: (Marker, ()),
        some: Option<Option<&'static str>>,
        map: BTreeMap<(), ()>,
        wide: (i128, u128),
    }
    let all = All {
        shapes: vec![
            Shape::Unit,
            Shape::Newtype(Some(1)),
            Shape::Newtype(None),
            Shape::Tuple(2, '"'),
            Shape::Struct { b: true, a: () },
        ],
        tuple: (-1, 2, i64::MIN, u64::MAX),
        wrapper: Wrapper(2.50),
        marker: (Marker, ()),
        some: Some(Some("\u{1}é")),
        map: BTreeMap::new(),
        wide: (i128::from(i64::MIN), u128::from(u64::MAX)),
    };
    let expected = concat!(
        r#"{"map":{},"marker":[null,null],"shapes":["Unit",{"Newtype":1},{"Newtype":null},{"Tuple":[2,"\""]},"#,
        r#"{"Struct":{"a":null,"b":true}}],"some":"\u0001é","tuple":[-1,2,-9223372036854775808,18446744073709551615],"#,
        r#""wide":[-9223372036854775808,18446744073709551615],"wrapper":2.5}"#
    );
    assert_eq!(text(&all), expected);
    let json = serde_json::to_vec(&all).expect("it has a JSON form");
    let mut canonicalizer = with(ParamsPolicy::default());
    assert_eq!(
        canonicalizer.canonical_json(&json).expect("accepted"),
        expected
    );
}

#[test]
fn floats_are_the_shortest_decimals_that_read_back() {
    assert_eq!(
        text((0.1_f32, 16_777_216_f32, f32::MAX, f32::MIN_POSITIVE)),
        "[0.1,16777216,3.4028235e+38,1.1754944e-38]"
    );
    assert_eq!(
        text((
            0.1,
            1e21,
            1e20,
            5e-324,
            f64::MAX,
            -0.0,
            1e-7,
            123_456_789.125
        )),
        "[0.1,1e+21,100000000000000000000,5e-324,1.7976931348623157e+308,0,1e-7,123456789.125]"
    );
}

/// Both ends of the pair read back as the double, and both are as near: the even one is the shape of ECMAScript.
#[test]
fn of_two_shortest_decimals_the_even_one_is_written_and_read() {
    assert_eq!(
        text([5_247_857_194_895_197.0 / 4.0]),
        "[1311964298723799.2]"
    );
    assert_eq!(text([f32::from_bits(0x4B00_0001) / 4.0]), "[2097152.2]");
    let mut canonicalizer = with(ParamsPolicy::default());
    assert!(canonicalizer.canonical_json(b"1311964298723799.2").is_ok());
    for other in [&b"1311964298723799.25"[..], b"1311964298723799.3"] {
        let error = canonicalizer
            .canonical_json(other)
            .expect_err("not lossless");
        assert_eq!(error.kind(), ParamsErrorKind::LossyNumber);
    }
}

#[test]
fn what_is_not_finite_is_refused_and_named() {
    #[derive(Serialize)]
    struct Deep {
        list: Vec<(u8, f64)>,
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let fault = refused(Deep {
            list: vec![(1, 2.0), (3, bad)],
        });
        assert_eq!(
            fault,
            (ParamsErrorKind::NotFinite, Some("/list/1/1".to_owned()))
        );
    }
    assert_eq!(refused(f32::NAN).0, ParamsErrorKind::NotFinite);
}

#[test]
fn wide_integers_follow_the_number_policy() {
    let wide = u128::from(u64::MAX) + 2;
    assert_eq!(
        refused((wide,)),
        (ParamsErrorKind::LossyNumber, Some("/0".to_owned()))
    );
    assert_eq!(refused(1_u128 << 64).0, ParamsErrorKind::LossyNumber);
    let mut exact = with(ParamsPolicy::default().with_numbers(Numbers::Exact));
    assert_eq!(
        exact.canonical_value(&wide).expect("exact"),
        "18446744073709551617"
    );
    assert_eq!(
        exact.canonical_value(&i128::MIN).expect("exact"),
        "-1.70141183460469231731687303715884105728e+38"
    );
}

#[test]
fn a_member_that_flatten_brings_twice_is_refused() {
    #[derive(Serialize)]
    struct Outer {
        amount: u8,
        #[serde(flatten)]
        rest: HashMap<String, u8>,
    }
    let rest = HashMap::from([("amount".to_owned(), 2)]);
    let fault = refused(BTreeMap::from([("x", Outer { amount: 1, rest })]));
    assert_eq!(
        fault,
        (
            ParamsErrorKind::DuplicateMember,
            Some("/x/amount".to_owned())
        )
    );
}

struct Pairs<K>(Vec<(K, u8)>);

impl<K: Serialize> Serialize for Pairs<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[test]
fn map_keys_are_strings_or_have_one_spelling_as_one() {
    assert_eq!(text(Pairs(vec![(10_u8, 1), (9, 2)])), r#"{"10":1,"9":2}"#);
    assert_eq!(
        text(Pairs(vec![(i128::MIN, 1)])),
        r#"{"-170141183460469231731687303715884105728":1}"#
    );
    assert_eq!(
        text(Pairs(vec![(true, 1), (false, 2)])),
        r#"{"false":2,"true":1}"#
    );
    assert_eq!(text(Pairs(vec![('b', 1), ('"', 2)])), r#"{"\"":2,"b":1}"#);
    assert_eq!(text(Pairs(vec![(Some("k"), 1)])), r#"{"k":1}"#);
    assert_eq!(text(Pairs(vec![(Shape::Unit, 1)])), r#"{"Unit":1}"#);
    let twice = (ParamsErrorKind::DuplicateMember, Some("/1".to_owned()));
    assert_eq!(refused(Pairs(vec![("1", 1), ("0", 2), ("1", 3)])), twice);
}

#[test]
fn other_map_keys_are_refused() {
    for fault in [
        refused(Pairs(vec![(1.0_f64, 1)])),
        refused(Pairs(vec![(1.0_f32, 1)])),
        refused(Pairs(vec![(Wrapper(1.0), 1)])),
        refused(Pairs(vec![((), 1)])),
        refused(Pairs(vec![(None::<&str>, 1)])),
        refused(Pairs(vec![((1, 2), 1)])),
        refused(Pairs(vec![(vec!["a"], 1)])),
        refused(Pairs(vec![(Shape::Newtype(None), 1)])),
        refused(Pairs(vec![(BTreeMap::from([(1, 2)]), 1)])),
    ] {
        assert_eq!(fault.0, ParamsErrorKind::Unsupported);
    }
}

#[test]
fn bytes_are_refused() {
    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(b"x")
        }
    }
    assert_eq!(
        refused((Bytes,)),
        (ParamsErrorKind::Unsupported, Some("/0".to_owned()))
    );
}

#[test]
fn a_refusal_of_the_type_itself_is_named_and_its_words_are_dropped() {
    struct Secretive;
    impl Serialize for Secretive {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("s3cret"))
        }
    }
    let error = with(ParamsPolicy::default())
        .canonical_value(&BTreeMap::from([("a", Secretive)]))
        .expect_err("it refuses");
    assert_eq!(
        error.to_string(),
        "param /a: the value refused to be serialized"
    );
    assert!(!format!("{error:?}").contains("s3cret"));
}

/// Dropping it would make two variants one value.
#[test]
fn the_null_payload_of_a_variant_is_kept() {
    assert_eq!(text(Shape::Newtype(None)), r#"{"Newtype":null}"#);
    assert_eq!(
        text(Shape::Struct { b: false, a: () }),
        r#"{"Struct":{"a":null,"b":false}}"#
    );
    assert_eq!(text(BTreeMap::from([("a", None::<u8>)])), "{}");
}

#[test]
fn decimal_fields_take_strings_integers_and_floats() {
    let mut canonicalizer = with(ParamsPolicy::default().with_decimal("/n"));
    let mut one = |value: &dyn erased::Value| value.canonical(&mut canonicalizer);
    for spelled in [&"10.50" as &dyn erased::Value, &10.5_f64, &10.5_f32] {
        assert_eq!(one(spelled).expect("a decimal"), r#"{"n":"10.5"}"#);
    }
    assert_eq!(one(&1050_u64).expect("a decimal"), r#"{"n":"1050"}"#);
    assert_eq!(
        one(&format_args!("{}.{}", 1, 50)).expect("a decimal"),
        r#"{"n":"1.5"}"#
    );
    let wide = one(&(u128::MAX)).expect("a decimal is exact");
    assert_eq!(wide, r#"{"n":"340282366920938463463374607431768211455"}"#);
    for bad in [&true as &dyn erased::Value, &"x", &[1], &Shape::Unit] {
        let error = one(bad).expect_err("no decimal");
        assert_eq!(
            (error.kind(), error.field()),
            (ParamsErrorKind::InvalidDecimal, Some("/n"))
        );
    }
}

/// One list for values of several types.
mod erased {
    use counterfoil_core::params::{Canonicalizer, ParamsError};
    use serde::Serialize;

    pub(super) trait Value {
        fn canonical(&self, canonicalizer: &mut Canonicalizer) -> Result<String, ParamsError>;
    }

    #[derive(Serialize)]
    struct Field<'a, T> {
        n: &'a T,
    }

    impl<T: Serialize> Value for T {
        fn canonical(&self, canonicalizer: &mut Canonicalizer) -> Result<String, ParamsError> {
            canonicalizer
                .canonical_value(&Field { n: self })
                .map(str::to_owned)
        }
    }
}

#[test]
fn a_policy_holds_for_values_as_for_bytes() {
    #[derive(Serialize)]
    struct Transfer {
        note: &'static str,
        amount: f64,
        to: Option<u8>,
        lines: Vec<BTreeMap<&'static str, u8>>,
    }
    let policy = ParamsPolicy::all_but(["/note", "/lines/0/x"]).with_decimal("/amount");
    let mut canonicalizer = with(policy);
    let value = Transfer {
        note: "n",
        amount: 2.50,
        to: None,
        lines: vec![BTreeMap::from([("y", 1), ("x", 2)])],
    };
    let expected = r#"{"amount":"2.5","lines":[{"y":1}]}"#;
    assert_eq!(
        canonicalizer.canonical_value(&value).expect("accepted"),
        expected
    );
    let json = serde_json::to_vec(&value).expect("it has a JSON form");
    assert_eq!(
        canonicalizer.hash_json(&json),
        canonicalizer.hash_value(&value)
    );
}

#[test]
fn a_map_with_a_reserved_name_is_a_map() {
    let value = BTreeMap::from([("$serde_json::private::Number", "10")]);
    assert_eq!(text(value), r#"{"$serde_json::private::Number":"10"}"#);
}

/// A `Serialize` of somebody's own that doesn't keep to the rules.
struct Unruly(&'static [Step]);

#[derive(Clone, Copy)]
enum Step {
    Key,
    Value,
}

impl Serialize for Unruly {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for step in self.0 {
            match step {
                Step::Key => map.serialize_key("k")?,
                Step::Value => map.serialize_value(&1)?,
            }
        }
        map.end()
    }
}

#[test]
fn names_without_values_and_values_without_names_are_refused() {
    for steps in [
        &[Step::Key][..],
        &[Step::Value],
        &[Step::Key, Step::Key],
        &[Step::Key, Step::Value, Step::Value],
    ] {
        assert_eq!(refused([Unruly(steps)]).0, ParamsErrorKind::Serialize);
    }
    assert_eq!(text([Unruly(&[Step::Key, Step::Value])]), r#"[{"k":1}]"#);
}

#[test]
fn a_struct_of_a_reserved_name_holds_one_string() {
    use serde::ser::SerializeStruct;

    const NUMBER: &str = "$serde_json::private::Number";
    struct Reserved(&'static [&'static str]);
    impl Serialize for Reserved {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut fields = serializer.serialize_struct(NUMBER, 1)?;
            for text in self.0 {
                fields.serialize_field(NUMBER, text)?;
            }
            fields.end()
        }
    }
    assert_eq!(text([Reserved(&["1.50"])]), "[1.5]");
    for fields in [&[][..], &["1", "2"], &["x"], &["1 "], &[""]] {
        assert_eq!(refused([Reserved(fields)]).0, ParamsErrorKind::Unsupported);
    }
}
