//! Strings as RFC 8785 writes them, and the order in which it sorts member names.

use std::{cmp::Ordering, fmt};

/// Appends a JSON string: quotes, and the escapes that RFC 8785, 3.2.2.2, asks for and no others.
pub(super) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain_from..at]);
        plain_from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0C => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            control => {
                let hex = b"0123456789abcdef";
                out.push_str("\\u00");
                out.push(char::from(hex[usize::from(control >> 4)]));
                out.push(char::from(hex[usize::from(control & 15)]));
            }
        }
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}

/// The order of UTF-16 code units (RFC 8785, 3.2.3), found on UTF-8.
///
/// The two orders differ in one place: characters over U+FFFF are surrogates in UTF-16, and sort before U+E000 to
/// U+FFFF. So the lead bytes of those, `EE` and `EF`, are lifted over all others.
pub(super) fn utf16_order(a: &str, b: &str) -> Ordering {
    let lifted = |byte: u8| if byte >> 1 == 0x77 { byte + 0x10 } else { byte };
    let (a, b) = (a.as_bytes(), b.as_bytes());
    match a.iter().zip(b).find(|(x, y)| x != y) {
        Some((&x, &y)) => lifted(x).cmp(&lifted(y)),
        None => a.len().cmp(&b.len()),
    }
}

/// A short ASCII text on the stack: an integer on its way into the output.
#[derive(Debug)]
pub(super) struct StackText {
    bytes: [u8; 48],
    len: usize,
}

impl StackText {
    /// # Panics
    ///
    /// Only if the text is not ASCII or over 48 bytes: every integer of 128 bits fits.
    pub(super) fn of(args: fmt::Arguments<'_>) -> Self {
        let mut text = Self {
            bytes: [0; 48],
            len: 0,
        };
        fmt::write(&mut text, args).expect("a formatted integer has at most 48 bytes");
        text
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).expect("a formatted integer is ASCII")
    }
}

impl fmt::Write for StackText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + text.len());
        room.ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}
