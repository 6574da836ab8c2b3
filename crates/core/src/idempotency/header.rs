//! The header field: a structured-field string, or a bare key.

use std::borrow::Cow;

use sfv::{
    BareItemFromInput, KeyRef, Parser, StringRef,
    visitor::{Ignored, ItemVisitor, ParameterVisitor},
};

use super::InvalidKey;

/// The key's text. The characters have been looked at: printable ASCII, and at least one.
///
/// The bare rule is a rule of its own and comes by the first character: a bare UUID that begins with a digit is no item of structured
/// fields, and one that happens to look like a number, a date or a byte sequence must not be read as one.
pub(super) fn read(value: &[u8]) -> Result<Cow<'_, str>, InvalidKey> {
    if value.trim_ascii().starts_with(b"\"") {
        quoted(value)
    } else {
        bare(value)
    }
}

fn quoted(value: &[u8]) -> Result<Cow<'_, str>, InvalidKey> {
    let item = Parser::new(value).parse_item_with_visitor(Item);
    match item {
        Ok(Read {
            text: Some(text),
            parameters: false,
        }) => Ok(match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_str()),
            Cow::Owned(text) => Cow::Owned(text.into()),
        }),
        Ok(Read {
            parameters: true, ..
        }) => Err(InvalidKey::Parameters),
        Ok(Read { text: None, .. }) => Err(InvalidKey::Syntax),
        // One item would have been read as one: this is a list of several.
        Err(_) if Parser::new(value).parse_list_with_visitor(Ignored).is_ok() => {
            Err(InvalidKey::List)
        }
        Err(_) => Err(InvalidKey::Syntax),
    }
}

fn bare(value: &[u8]) -> Result<Cow<'_, str>, InvalidKey> {
    if value.contains(&b',') {
        return Err(InvalidKey::List);
    }
    if value.contains(&b';') {
        return Err(InvalidKey::Parameters);
    }
    if value.starts_with(b":") || !value.iter().all(|byte| is_bare(*byte)) {
        return Err(InvalidKey::Syntax);
    }
    str::from_utf8(value)
        .map(Cow::Borrowed)
        .map_err(|_| InvalidKey::NotAscii)
}

/// The characters of a token (RFC 9651, section 3.3.4), and `=` for the padding of base64.
const fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
                | b'/'
                | b':'
                | b'='
        )
}

struct Item;

/// An item, and whether it has parameters. `text` is there if it is a string.
struct Read<'de> {
    text: Option<Cow<'de, StringRef>>,
    parameters: bool,
}

impl<'de> ItemVisitor<'de> for Item {
    type Out = Read<'de>;
    type Error = std::convert::Infallible;

    fn bare_item(
        self,
        item: BareItemFromInput<'de>,
    ) -> Result<impl ParameterVisitor<'de, Out = Self::Out>, Self::Error> {
        let text = match item {
            BareItemFromInput::String(text) => Some(text),
            _ => None,
        };
        Ok(Read {
            text,
            parameters: false,
        })
    }
}

impl<'de> ParameterVisitor<'de> for Read<'de> {
    type Out = Self;
    type Error = std::convert::Infallible;

    fn parameter(&mut self, _: &'de KeyRef, _: BareItemFromInput<'de>) -> Result<(), Self::Error> {
        self.parameters = true;
        Ok(())
    }

    fn finish(self) -> Result<Self, Self::Error> {
        Ok(self)
    }
}
