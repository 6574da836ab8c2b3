//! The payload: compact JSON of one spelling, written and read in fixed buffers.
//!
//! Writing is what defines the spelling. Reading finds the members where writing puts them and is lenient about how a
//! value is spelled; the caller writes what was read once more and compares the bytes, so nothing else gets through.

use base64::Engine;

use super::{
    BASE64, Terms,
    terms::{MAX_EXP_SECS, is_uuid_v7},
};
use crate::{OperationId, ParamHash, Scope, Subject, Timestamp, words::is_unreserved};

const OPEN_N: &[u8] = b"{\"n\":\"";
const OPEN_EXP: &[u8] = b"\",\"exp\":";
const OPEN_U: &[u8] = b",\"u\":\"";
const OPEN_S: &[u8] = b"\",\"s\":\"";
const OPEN_P: &[u8] = b"\",\"p\":\"";
const CLOSE_P: &[u8] = b"\"";
const OPEN_R: &[u8] = b",\"r\":\"";
const CLOSE_R: &[u8] = b"\"";
const MEMBER_A: &[u8] = b",\"a\":true";
const CLOSE: &[u8] = b"}";

const ID_LEN: usize = 32;
const MAX_EXP_LEN: usize = MAX_EXP_SECS.ilog10() as usize + 1;
const MAX_SUBJECT_LEN: usize = 2 * Subject::MAX_ENCODED_PART_LEN + 1;
const HASH_LEN: usize = 43;

/// The longest payload, in bytes: every part at its cap, with both optional members.
pub(super) const MAX_PAYLOAD_LEN: usize = OPEN_N.len()
    + ID_LEN
    + OPEN_EXP.len()
    + MAX_EXP_LEN
    + OPEN_U.len()
    + MAX_SUBJECT_LEN
    + OPEN_S.len()
    + Scope::MAX_LEN
    + OPEN_P.len()
    + HASH_LEN
    + CLOSE_P.len()
    + OPEN_R.len()
    + ID_LEN
    + CLOSE_R.len()
    + MEMBER_A.len()
    + CLOSE.len();

/// A written payload.
pub(super) struct Payload {
    bytes: [u8; MAX_PAYLOAD_LEN],
    len: usize,
}

impl Payload {
    /// Writes the one spelling of these terms.
    pub(super) fn of(terms: &Terms) -> Self {
        let mut out = Self {
            bytes: [0; MAX_PAYLOAD_LEN],
            len: 0,
        };
        out.push(OPEN_N);
        out.push_id(&terms.id);
        out.push(OPEN_EXP);
        out.push_decimal(terms.exp.unix_secs());
        out.push(OPEN_U);
        out.push_percent_encoded(terms.subject.tenant());
        out.push(b"/");
        out.push_percent_encoded(terms.subject.principal());
        out.push(OPEN_S);
        // A scope's characters need no escape in JSON.
        out.push(terms.scope.as_str().as_bytes());
        out.push(OPEN_P);
        out.push_hash(&terms.hash);
        out.push(CLOSE_P);
        if let Some(twin) = &terms.repeat_of {
            out.push(OPEN_R);
            out.push_id(twin);
            out.push(CLOSE_R);
        }
        if terms.needs_approval {
            out.push(MEMBER_A);
        }
        out.push(CLOSE);
        out
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The buffer has room for every part at the cap that its type holds it to.
    fn push(&mut self, part: &[u8]) {
        self.bytes[self.len..][..part.len()].copy_from_slice(part);
        self.len += part.len();
    }

    fn push_id(&mut self, id: &OperationId) {
        for byte in id.as_bytes() {
            self.push(&hex(*byte, b"0123456789abcdef"));
        }
    }

    fn push_decimal(&mut self, mut number: u64) {
        let mut digits = [b'0'; MAX_EXP_LEN];
        let mut start = digits.len();
        loop {
            start -= 1;
            digits[start] += u8::try_from(number % 10).expect("a digit fits a byte");
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[start..]);
    }

    fn push_percent_encoded(&mut self, text: &str) {
        for byte in text.bytes() {
            if is_unreserved(byte) {
                self.push(&[byte]);
            } else {
                self.push(b"%");
                // RFC 3986, section 2.1: upper case.
                self.push(&hex(byte, b"0123456789ABCDEF"));
            }
        }
    }

    fn push_hash(&mut self, hash: &ParamHash) {
        let mut text = [0; HASH_LEN];
        BASE64
            .encode_slice(hash.as_bytes(), &mut text)
            .expect("32 bytes are 43 characters");
        self.push(&text);
    }
}

/// Reads a payload that a key of ours has signed; `None` if it is none that [`Payload::of`] could write, up to the
/// spelling of its values.
pub(super) fn read(bytes: &[u8]) -> Option<Terms> {
    let mut rest = Cursor(bytes);
    rest.literal(OPEN_N)?;
    let id = id(rest.take(ID_LEN)?)?;
    if !is_uuid_v7(&id) {
        return None;
    }
    rest.literal(OPEN_EXP)?;
    let exp = decimal(rest.until(b',')?)?;
    rest.literal(OPEN_U)?;
    let subject = subject(rest.until(b'"')?)?;
    rest.literal(OPEN_S)?;
    let scope = Scope::parse(std::str::from_utf8(rest.until(b'"')?).ok()?).ok()?;
    rest.literal(OPEN_P)?;
    let hash = hash(rest.take(HASH_LEN)?)?;
    rest.literal(CLOSE_P)?;
    let mut repeat_of = None;
    if rest.literal(OPEN_R).is_some() {
        repeat_of = Some(self::id(rest.take(ID_LEN)?)?);
        rest.literal(CLOSE_R)?;
    }
    let needs_approval = rest.literal(MEMBER_A).is_some();
    rest.literal(CLOSE)?;
    rest.0.is_empty().then_some(Terms {
        id,
        exp,
        subject,
        scope,
        hash,
        repeat_of,
        needs_approval,
    })
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    /// Steps over `text` if it comes next.
    fn literal(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// What comes before `end`, which stays.
    fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let len = self.0.iter().position(|&byte| byte == end)?;
        self.take(len)
    }
}

fn id(digits: &[u8]) -> Option<OperationId> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn decimal(digits: &[u8]) -> Option<Timestamp> {
    if digits.len() > MAX_EXP_LEN {
        return None;
    }
    let secs: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (secs <= MAX_EXP_SECS).then_some(Timestamp::from_unix_secs(secs))
}

fn subject(text: &[u8]) -> Option<Subject> {
    let slash = text.iter().position(|&byte| byte == b'/')?;
    let mut tenant = [0; Subject::MAX_ENCODED_PART_LEN];
    let mut principal = [0; Subject::MAX_ENCODED_PART_LEN];
    Subject::new(
        percent_decoded(&text[..slash], &mut tenant)?,
        percent_decoded(&text[slash + 1..], &mut principal)?,
    )
    .ok()
}

fn percent_decoded<'b>(
    text: &[u8],
    out: &'b mut [u8; Subject::MAX_ENCODED_PART_LEN],
) -> Option<&'b str> {
    let mut rest = Cursor(text);
    let mut len = 0;
    while let Some(&[byte]) = rest.take(1) {
        let decoded = match byte {
            b'%' => u8::from_str_radix(std::str::from_utf8(rest.take(2)?).ok()?, 16).ok()?,
            _ => byte,
        };
        *out.get_mut(len)? = decoded;
        len += 1;
    }
    std::str::from_utf8(&out[..len]).ok()
}

fn hash(text: &[u8]) -> Option<ParamHash> {
    // Of what the decoder wants to write at most, a byte more than the hash.
    let mut out = [0; 33];
    let len = BASE64.decode_slice(text, &mut out).ok()?;
    let bytes: &[u8; 32] = out[..len].try_into().ok()?;
    Some(ParamHash::from_bytes(*bytes))
}

const fn hex(byte: u8, digits: &[u8; 16]) -> [u8; 2] {
    [digits[(byte >> 4) as usize], digits[(byte & 15) as usize]]
}
