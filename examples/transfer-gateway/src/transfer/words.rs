//! Texts of a transfer that have a shape.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Three capitals.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Currency(String);

/// The name of an account, a payee or an order: 1 to 128 bytes, none of them invisible.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Name(String);

/// The text has another shape. The reader names the field; the text itself isn't repeated.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the text has another shape")]
pub(crate) struct OtherShape;

const MAX_NAME: usize = 128;

impl TryFrom<String> for Currency {
    type Error = OtherShape;

    fn try_from(text: String) -> Result<Self, OtherShape> {
        if text.len() == 3 && text.bytes().all(|b| b.is_ascii_uppercase()) {
            Ok(Self(text))
        } else {
            Err(OtherShape)
        }
    }
}

impl TryFrom<String> for Name {
    type Error = OtherShape;

    fn try_from(text: String) -> Result<Self, OtherShape> {
        let good = (1..=MAX_NAME).contains(&text.len()) && !text.chars().any(is_invisible);
        if good && text.trim() == text {
            Ok(Self(text))
        } else {
            Err(OtherShape)
        }
    }
}

/// A name goes into the summary that a person agrees to: nothing in it may hide or reorder what stands there.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_is_three_capitals() {
        assert!(Currency::try_from("EUR".to_owned()).is_ok());
        for bad in ["", "EU", "EURO", "eur", "E R", "ÄÖÜ", "1UR"] {
            assert!(Currency::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_is_short_and_hides_nothing() {
        for good in ["payee-7", "采购 42", &"x".repeat(128)] {
            assert!(Name::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in [
            "",
            " ",
            " a",
            "a\n",
            "a\u{202e}b",
            "a\u{200b}",
            &"x".repeat(129),
        ] {
            assert!(Name::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
    }
}
