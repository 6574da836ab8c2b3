//! An amount of money: an exact decimal over zero.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Unexpected, Visitor},
};

/// An amount over zero, in plain notation without needless zeros: `120.5`. It never passes through arithmetic of
/// doubles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Amount(String);

/// The longest amount in characters; more digits than any currency has use for.
const MAX_CHARS: usize = 40;

/// From how many digits before the point on a person has to agree: 10,000.
const DIGITS_THAT_NEED_APPROVAL: usize = 5;

const EXPECTED: &str = "a decimal over 0 in plain notation, such as 120.50";

impl Amount {
    /// Whether a person has to agree to it.
    pub(crate) fn needs_approval(&self) -> bool {
        self.parts().0.len() >= DIGITS_THAT_NEED_APPROVAL
    }

    /// With two decimals at least, as people write money.
    pub(crate) fn as_money(&self) -> String {
        let (whole, fraction) = self.parts();
        format!("{whole}.{fraction:0<2}")
    }

    /// Digits, and perhaps a point and digits. Leading zeros are refused, as in JSON.
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return None,
            Some((whole, fraction)) => (whole, fraction),
            None => (text, ""),
        };
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if text.len() > MAX_CHARS
            || whole.is_empty()
            || leading_zero
            || !digits(whole)
            || !digits(fraction)
        {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        match (whole, fraction) {
            ("0", "") => None,
            (whole, "") => Some(Self(whole.to_owned())),
            (whole, fraction) => Some(Self(format!("{whole}.{fraction}"))),
        }
    }

    fn parts(&self) -> (&str, &str) {
        self.0.split_once('.').unwrap_or((&self.0, ""))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

struct AmountVisitor;

impl Visitor<'_> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Amount, E> {
        Amount::parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Amount, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Amount, E> {
        self.visit_str(&number.to_string())
    }

    /// The reader lets a number through only if the double is that very number; `Display` writes all of its digits, and
    /// never an exponent.
    fn visit_f64<E: Error>(self, number: f64) -> Result<Amount, E> {
        self.visit_str(&number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_one_spelling() {
        for (text, canonical, money) in [
            ("1", "1", "1.00"),
            ("1.00", "1", "1.00"),
            ("120.50", "120.5", "120.50"),
            ("0.001", "0.001", "0.001"),
            ("100", "100", "100.00"),
        ] {
            let amount = Amount::parse(text).expect(text);
            assert_eq!(amount.to_string(), canonical);
            assert_eq!(amount.as_money(), money);
        }
    }

    #[test]
    fn what_is_no_plain_decimal_over_zero_is_refused() {
        let long = "1".repeat(41);
        for text in [
            "", "0", "0.00", "-1", "+1", "1.", ".5", "01", "1e3", "1,000", " 1", "1 ", "NaN",
            "inf", "١", &long,
        ] {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ten_thousand_and_more_need_approval() {
        for (text, needed) in [
            ("9999.999", false),
            ("10000", true),
            ("10000.00", true),
            ("123456", true),
            ("0.12345", false),
        ] {
            assert_eq!(
                Amount::parse(text).expect(text).needs_approval(),
                needed,
                "{text}"
            );
        }
    }
}
