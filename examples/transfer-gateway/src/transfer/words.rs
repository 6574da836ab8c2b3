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

/// A line for people to read, such as a ticket's title: 1 to 512 bytes, none of them invisible.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Title(String);

/// The text has another shape. The reader names the field; the text itself isn't repeated.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the text has another shape")]
pub(crate) struct OtherShape;

const MAX_NAME: usize = 128;
const MAX_TITLE: usize = 512;

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
        shown_whole(text, MAX_NAME).map(Self)
    }
}

impl TryFrom<String> for Title {
    type Error = OtherShape;

    fn try_from(text: String) -> Result<Self, OtherShape> {
        shown_whole(text, MAX_TITLE).map(Self)
    }
}

fn shown_whole(text: String, longest: usize) -> Result<String, OtherShape> {
    let good = (1..=longest).contains(&text.len()) && !text.chars().any(is_invisible);
    if good && text.trim() == text {
        Ok(text)
    } else {
        Err(OtherShape)
    }
}

/// A name goes into the summary that a person agrees to: nothing in it may hide or reorder what stands there. Refused
/// are Unicode's controls, formats, private characters, fillers, selectors, and all spaces but the common one.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{1680}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}')
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Title {
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
            "a\u{3164}",
            "a\u{115f}b",
            "a\u{2800}b",
            "a\u{a0}b",
            "a\u{34f}b",
            "a\u{1d173}b",
            "a\u{e0041}b",
            "a\u{f8ff}b",
            &"x".repeat(129),
        ] {
            assert!(Name::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
    }
}
