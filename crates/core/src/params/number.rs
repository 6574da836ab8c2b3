//! JSON numbers as exact decimals.
//!
//! A number never passes through a double on its way into the canonical text: two amounts that are one double stay
//! two amounts. A double is asked only whether a reader that has nothing better would execute the same value.

use super::{
    error::{ParamsError, ParamsErrorKind},
    text::StackText,
};

/// The longest number token, in bytes.
pub const MAX_NUMBER_BYTES: usize = 128;
/// The largest exponent that may be written, either way.
pub const MAX_EXPONENT: u32 = 9_999;
/// The longest decimal in plain notation, in characters.
pub const MAX_DECIMAL_CHARS: usize = 128;

/// A number: `0.d₁d₂…dₖ × 10^point`, without zeros at either end; zero has no digits.
pub(super) struct Number<'t> {
    token: &'t str,
    negative: bool,
    /// No fraction and no exponent are written.
    integer_literal: bool,
    digits: [u8; MAX_NUMBER_BYTES],
    len: usize,
    point: i32,
}

/// The end of the RFC 8259 number that `bytes` starts with.
pub(super) fn scan(bytes: &[u8]) -> Option<usize> {
    let digits_from = |from: usize| {
        let count = bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        (count > 0).then_some(from + count)
    };
    let mut end = usize::from(bytes.first() == Some(&b'-'));
    end = match bytes.get(end)? {
        b'0' => end + 1,
        _ => digits_from(end)?,
    };
    if bytes.get(end) == Some(&b'.') {
        end = digits_from(end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = digits_from(end + 1 + usize::from(signed))?;
    }
    Some(end)
}

/// A token that is its own canonical form and that every reader takes exactly: a short plain integer.
pub(super) fn is_plain_integer(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token).as_bytes();
    (1..=15).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_digit)
        && (digits[0] != b'0' || token == "0")
}

impl<'t> Number<'t> {
    /// Reads a token; nothing if it is no JSON number.
    pub(super) fn parse(token: &'t str) -> Option<Result<Self, ParamsError>> {
        (scan(token.as_bytes()) == Some(token.len())).then(|| Self::of_grammatical(token))
    }

    fn of_grammatical(token: &'t str) -> Result<Self, ParamsError> {
        if token.len() > MAX_NUMBER_BYTES {
            return Err(too_long("a number has more than 128 bytes"));
        }
        let (negative, unsigned) = match token.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, token),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, written_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut number = Self {
            token,
            negative,
            integer_literal: mantissa.len() == unsigned.len() && fraction.is_empty(),
            digits: [0; MAX_NUMBER_BYTES],
            len: 0,
            point: whole.len() as i32 + exponent,
        };
        for digit in whole.bytes().chain(fraction.bytes()) {
            if number.len == 0 && digit == b'0' {
                number.point -= 1;
            } else {
                number.digits[number.len] = digit;
                number.len += 1;
            }
        }
        while number.len > 0 && number.digits[number.len - 1] == b'0' {
            number.len -= 1;
        }
        Ok(number)
    }

    /// Whether a reader with 64-bit integers and doubles executes this very value.
    pub(super) fn is_lossless(&self) -> bool {
        let small = self.token.len() <= 18;
        let integer = |t: &str| t.parse::<i64>().is_ok() || t.parse::<u64>().is_ok();
        let is_integer = self.integer_literal && (small || integer(self.token));
        is_integer || self.is_a_double()
    }

    /// Whether this very value is the shortest decimal of the double that it is read as.
    pub(super) fn is_a_double(&self) -> bool {
        // Any decimal of 15 digits survives the way through a double of the normal range and back.
        if self.len <= 15 && (-300..300).contains(&self.point) {
            return true;
        }
        let double = self.token.parse::<f64>();
        double.is_ok_and(|double| double.is_finite() && self.is_shortest_of(double))
    }

    /// As [`Number::is_a_double`], for a single.
    pub(super) fn is_a_single(&self) -> bool {
        let single = self.token.parse::<f32>();
        single.is_ok_and(|single| single.is_finite() && self.is_shortest_of(single))
    }

    fn is_shortest_of(&self, finite: impl zmij::Float) -> bool {
        // Where two shortest decimals are equally near, ECMAScript and zmij take the even one; std takes the upper.
        let mut buffer = zmij::Buffer::new();
        match Number::parse(buffer.format_finite(finite)) {
            Some(Ok(read_back)) => {
                self.digits() == read_back.digits()
                    && (self.point == read_back.point || self.len == 0)
            }
            _ => false,
        }
    }

    /// Appends the number in the shape of ECMAScript's `Number::toString`, with all of its digits.
    pub(super) fn push_es6(&self, out: &mut String) {
        let (k, n) = (self.len as i32, self.point);
        if k == 0 || (-5..=21).contains(&n) {
            return self.push_plain(out);
        }
        if self.negative {
            out.push('-');
        }
        out.push_str(&self.digits()[..1]);
        if k > 1 {
            out.push('.');
            out.push_str(&self.digits()[1..]);
        }
        let exponent = n - 1;
        let text = StackText::of(format_args!("e{exponent:+}"));
        out.push_str(text.as_str());
    }

    /// Appends the number without an exponent, if it fits in [`MAX_DECIMAL_CHARS`].
    pub(super) fn push_decimal(&self, out: &mut String) -> Result<(), ParamsError> {
        if self.plain_chars() > MAX_DECIMAL_CHARS {
            return Err(ParamsError::new(
                ParamsErrorKind::InvalidDecimal,
                "a decimal has at most 128 characters when written without an exponent",
            ));
        }
        self.push_plain(out);
        Ok(())
    }

    fn plain_chars(&self) -> usize {
        if self.len == 0 {
            return 1;
        }
        let unsigned = match self.point {
            n if n <= 0 => 2 + n.unsigned_abs() as usize + self.len,
            n if n as usize >= self.len => n as usize,
            _ => self.len + 1,
        };
        usize::from(self.negative) + unsigned
    }

    fn push_plain(&self, out: &mut String) {
        let zeros = |out: &mut String, count: usize| out.extend(std::iter::repeat_n('0', count));
        if self.len == 0 {
            return out.push('0');
        }
        if self.negative {
            out.push('-');
        }
        let digits = self.digits();
        match self.point {
            n if n <= 0 => {
                out.push_str("0.");
                zeros(out, n.unsigned_abs() as usize);
                out.push_str(digits);
            }
            n if n as usize >= self.len => {
                out.push_str(digits);
                zeros(out, n as usize - self.len);
            }
            n => {
                let (whole, fraction) = digits.split_at(n as usize);
                out.push_str(whole);
                out.push('.');
                out.push_str(fraction);
            }
        }
    }

    fn digits(&self) -> &str {
        std::str::from_utf8(&self.digits[..self.len]).expect("digits are ASCII")
    }
}

/// Leading zeros are legal and mean nothing; the cap is on the value, not on its spelling.
fn written_exponent(text: &str) -> Result<i32, ParamsError> {
    let (sign, digits) = match text.as_bytes()[0] {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let mut value = 0_u32;
    for digit in digits.bytes() {
        value = value * 10 + u32::from(digit - b'0');
        if value > MAX_EXPONENT {
            return Err(too_long("a number has an exponent beyond 9999"));
        }
    }
    Ok(sign * value as i32)
}

fn too_long(detail: &'static str) -> ParamsError {
    ParamsError::new(ParamsErrorKind::NumberTooLong, detail)
}
