//! The body is JSON, and the handler gets it under that media type and no other.

use counterfoil_core::answer::Answer;
use http::{HeaderMap, HeaderValue, header};

use super::unsupported_media;

/// Refuses a body that claims to be anything but JSON in UTF-8, and names the media type of one that claims nothing.
///
/// A handler that read the same bytes by other rules (as a form, inflated, in another charset) could see other params
/// than those that were hashed.
pub(super) fn settle(headers: &mut HeaderMap, empty: bool) -> Result<(), Answer> {
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    match (types.next(), types.next()) {
        (None, _) if empty => {}
        (None, _) => {
            let json = HeaderValue::from_static("application/json");
            headers.insert(header::CONTENT_TYPE, json);
        }
        (Some(one), None) if is_json(one) => {}
        _ => return Err(unsupported_media(&header::CONTENT_TYPE)),
    }
    let plain = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    if plain {
        Ok(())
    } else {
        Err(unsupported_media(&header::CONTENT_ENCODING))
    }
}

/// Refuses two media types: which of them the handler would take is anybody's guess.
pub(super) fn check_one(headers: &HeaderMap) -> Result<(), Answer> {
    match headers.get_all(header::CONTENT_TYPE).iter().count() {
        0 | 1 => Ok(()),
        _ => Err(unsupported_media(&header::CONTENT_TYPE)),
    }
}

/// The media type without its parameters, in lower case.
pub(crate) fn essence(headers: &HeaderMap) -> String {
    let text = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// `application/json` or any `+json` (RFC 6839), with no charset but UTF-8.
fn is_json(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else {
        return false;
    };
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let json = essence == "application/json"
        || essence
            .split_once('/')
            .is_some_and(|(_, subtype)| subtype.len() > 5 && subtype.ends_with("+json"));
    json && parts.all(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        !name.trim().eq_ignore_ascii_case("charset")
            || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
    })
}

/// Whether a body claims to be plain JSON.
pub(crate) fn says_json(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(is_json)
        && !headers.contains_key(header::CONTENT_ENCODING)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(pairs: &[(&'static str, &'static str)], empty: bool) -> Result<HeaderMap, Answer> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        settle(&mut headers, empty).map(|()| headers)
    }

    #[test]
    fn json_in_utf_8_is_taken_as_it_is() {
        for good in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json;charset=\"utf-8\"",
            "application/vnd.acme.transfer+json",
        ] {
            assert!(settled(&[("content-type", good)], false).is_ok(), "{good}");
        }
    }

    #[test]
    fn another_media_type_charset_or_coding_is_refused_by_name() {
        for bad in [
            "application/x-www-form-urlencoded",
            "text/plain",
            "application/+json",
            "json",
            "application/json; charset=utf-16",
            "application/json, text/plain",
        ] {
            let refused = settled(&[("content-type", bad)], false).unwrap_err();
            assert_eq!(refused.field.as_deref(), Some("content-type"), "{bad}");
        }
        let twice = [
            ("content-type", "application/json"),
            ("content-type", "text/plain"),
        ];
        assert!(settled(&twice, false).is_err());
        let coded = [
            ("content-type", "application/json"),
            ("content-encoding", "gzip"),
        ];
        let refused = settled(&coded, false).unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("content-encoding"));
    }

    #[test]
    fn a_body_without_a_media_type_is_handed_on_as_json_and_an_empty_one_as_nothing() {
        let named = settled(&[], false).unwrap();
        assert_eq!(named[header::CONTENT_TYPE], "application/json");
        assert!(settled(&[], true).unwrap().is_empty());
    }
}
