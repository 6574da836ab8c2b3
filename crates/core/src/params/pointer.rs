//! JSON pointers (RFC 6901), as a policy names fields and as errors do.

/// The unescaped tokens of a pointer, or nothing if it is malformed.
///
/// The empty pointer, the whole document, is refused here: it names no field.
pub(super) fn tokens(pointer: &str) -> Option<Vec<String>> {
    let rest = pointer.strip_prefix('/')?;
    rest.split('/').map(unescape).collect()
}

/// Appends `/` and the token, escaped.
pub(super) fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for c in token.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

fn unescape(token: &str) -> Option<String> {
    let mut plain = String::with_capacity(token.len());
    let mut chars = token.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '~' => match chars.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(plain)
}
