//! The members of a query, decoded strictly.

use std::borrow::Cow;

use counterfoil_core::answer::Answer;

use super::{malformed, pointer};

/// The members in their order. What two readers could decode differently is refused: a `%` that begins no two hex
/// digits, and bytes that are not UTF-8.
pub(super) fn members(query: &str) -> Result<Vec<(String, String)>, Answer> {
    let mut members = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let name = pair.split('=').next().unwrap_or(pair);
        if !is_strict(pair) {
            // The name as sent: it may be the name that can't be decoded. A pointer, as for every param.
            return Err(malformed(pointer(name)));
        }
        // One pair at a time: the parser then can't join or drop any.
        members.extend(
            form_urlencoded::parse(pair.as_bytes())
                .map(|(name, value)| (name.into_owned(), value.into_owned())),
        );
    }
    Ok(members)
}

fn is_strict(pair: &str) -> bool {
    let bytes = pair.as_bytes();
    let whole = bytes.iter().enumerate().all(|(at, byte)| {
        *byte != b'%'
            || matches!(bytes.get(at + 1..at + 3), Some(hex) if hex.iter().all(u8::is_ascii_hexdigit))
    });
    let decoded: Cow<'_, [u8]> = percent_encoding::percent_decode(bytes).into();
    whole && std::str::from_utf8(&decoded).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> Result<Vec<(String, String)>, Option<String>> {
        members(query).map_err(|answer| answer.field)
    }

    fn pairs(expected: &[(&str, &str)]) -> Result<Vec<(String, String)>, Option<String>> {
        Ok(expected
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect())
    }

    #[test]
    fn members_are_decoded_in_their_order_repeats_too() {
        assert_eq!(
            of("b=2&a=1+%2B%C3%A9&b=3"),
            pairs(&[("b", "2"), ("a", "1 +é"), ("b", "3")])
        );
        assert_eq!(of("&&a&b="), pairs(&[("a", ""), ("b", "")]));
        assert_eq!(of("a=b=c"), pairs(&[("a", "b=c")]));
        assert_eq!(of("a=%EF%BF%BD"), pairs(&[("a", "\u{fffd}")]));
        assert_eq!(of(""), pairs(&[]));
    }

    #[test]
    fn what_readers_may_decode_differently_is_refused_by_name() {
        for query in ["a=%", "a=%2", "a=%zz", "a=%FF", "a=%C3&b=1"] {
            assert_eq!(of(query), Err(Some("/a".to_owned())), "{query}");
        }
    }
}
