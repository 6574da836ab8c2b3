//! The tokens of RFC 8259, and nothing beyond them.
//!
//! One lexer serves the reader and the typed decoder, so that no second set of rules ever sees a body.

use super::{error::ParamsError, number};

/// A cursor over a text that is UTF-8 already.
#[derive(Clone)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// A string token: as it stands, or unescaped in the caller's buffer.
pub(super) enum Token<'t, 'b> {
    /// Without escapes. Between its quotes it is its own canonical form.
    Plain(&'t str),
    Unescaped(&'b str),
}

impl<'t> Token<'t, '_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Unescaped(text) => text,
        }
    }
}

/// Checks that the bytes are UTF-8 (a byte order mark is refused later, as any stray character).
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, ParamsError> {
    std::str::from_utf8(bytes)
        .map_err(|error| ParamsError::syntax(error.valid_up_to(), "the text is not UTF-8"))
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The next byte that is not white space, which stays where it is.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let blank = |b: &&u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r');
        self.at += rest.iter().take_while(blank).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over the byte if it comes next after white space.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Steps over a literal: `true`, `false` or `null`. What follows is for the next token to judge.
    pub(super) fn literal(&mut self, word: &str) -> Result<(), ParamsError> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.error("expected a JSON value"))
        }
    }

    /// The number token that starts here.
    pub(super) fn number(&mut self) -> Result<&'t str, ParamsError> {
        let rest = &self.text[self.at..];
        match number::scan(rest.as_bytes()) {
            Some(end) => {
                self.at += end;
                Ok(&rest[..end])
            }
            None => Err(self.error("a number is not written as JSON numbers are")),
        }
    }

    /// The string token that starts here with its quote.
    pub(super) fn string<'b>(
        &mut self,
        buffer: &'b mut String,
    ) -> Result<Token<'t, 'b>, ParamsError> {
        self.at += 1;
        let plain = self.run()?;
        if self.next() == b'"' {
            return Ok(Token::Plain(plain));
        }
        buffer.clear();
        buffer.push_str(plain);
        loop {
            buffer.push(self.escape()?);
            buffer.push_str(self.run()?);
            if self.next() == b'"' {
                return Ok(Token::Unescaped(buffer));
            }
        }
    }

    /// Where the cursor stands.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The text from an earlier offset up to here.
    pub(super) fn since(&self, from: usize) -> &'t str {
        &self.text[from..self.at]
    }

    /// Nothing but white space may be left.
    pub(super) fn end(&mut self) -> Result<(), ParamsError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error("something follows the JSON value")),
        }
    }

    pub(super) fn error(&self, detail: &'static str) -> ParamsError {
        ParamsError::syntax(self.at, detail)
    }

    /// The characters up to a quote or a backslash, one of which then stands at the cursor.
    fn run(&mut self) -> Result<&'t str, ParamsError> {
        let rest = &self.text.as_bytes()[self.at..];
        let special = |&b: &u8| b < 0x20 || b == b'"' || b == b'\\';
        let from = self.at;
        match rest.iter().position(special) {
            None => {
                self.at = self.text.len();
                Err(self.error("a string has no end"))
            }
            Some(len) => {
                self.at += len;
                if rest[len] < 0x20 {
                    return Err(self.error("a control character in a string must be escaped"));
                }
                Ok(&self.text[from..self.at])
            }
        }
    }

    /// Steps over the quote or backslash that a run ended with.
    fn next(&mut self) -> u8 {
        let byte = self.text.as_bytes()[self.at];
        self.at += 1;
        byte
    }

    /// The character that the escape after a backslash stands for.
    fn escape(&mut self) -> Result<char, ParamsError> {
        let byte = self.text.as_bytes().get(self.at).copied();
        let plain = match byte {
            Some(b @ (b'"' | b'\\' | b'/')) => char::from(b),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.error("unknown escape in a string")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode_escape(&mut self) -> Result<char, ParamsError> {
        const LONE: &str = "half of a surrogate pair is no character";
        let first = self.hex4()?;
        if !(0xD800..0xE000).contains(&first) {
            return char::from_u32(first).ok_or_else(|| self.error(LONE));
        }
        let paired = first < 0xDC00 && self.text[self.at..].starts_with("\\u");
        if !paired {
            return Err(self.error(LONE));
        }
        self.at += 1;
        let second = self.hex4()?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(self.error(LONE));
        }
        let scalar = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        char::from_u32(scalar).ok_or_else(|| self.error(LONE))
    }

    /// Steps over `u` and four hex digits.
    fn hex4(&mut self) -> Result<u32, ParamsError> {
        let digits = self.text.as_bytes().get(self.at + 1..self.at + 5);
        let digit = |value: Option<u32>, b: &u8| Some(value? * 16 + char::from(*b).to_digit(16)?);
        match digits.and_then(|digits| digits.iter().fold(Some(0), digit)) {
            Some(value) => {
                self.at += 5;
                Ok(value)
            }
            None => Err(self.error("an escape needs four hex digits")),
        }
    }
}
