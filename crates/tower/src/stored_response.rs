//! A response as a store keeps it: the format `http/1`.
//!
//! ```text
//! response = version flags status count *(name value) [body]
//! version  = 1 byte, 1
//! flags    = 1 byte: bit 0, whether the body was kept; other bits are 0
//! status   = 2 bytes, big-endian, 100 to 999
//! count    = number                     ; of headers, a repeated name counted each time
//! name     = number bytes               ; lower case
//! value    = number bytes               ; any bytes that a header may hold
//! body     = number bytes               ; only if it was kept, and then to the very end
//! number   = LEB128, unsigned, at most 4 bytes, no padding
//! ```
//!
//! Reading is strict: what is cut, padded, followed by more or not a valid header is refused as a whole. A replay of
//! half a response would be worse than none.

use bytes::{BufMut, Bytes, BytesMut};
use counterfoil_core::store::StoredResult;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

const VERSION: u8 = 1;
const BODY_KEPT: u8 = 1;

/// The largest number that four groups of seven bits hold.
const MAX_NUMBER: usize = (1 << 28) - 1;

/// A response without what belongs to its first call: status, kept headers, body.
///
/// Exhaustive on purpose: a receipt or a resolution may be given one that the service makes itself.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers, repeated and binary ones too; without `Content-Length`.
    pub headers: HeaderMap,
    /// The body; `None` where it was past the limit and is not kept.
    pub body: Option<Bytes>,
}

/// The bytes are not a response in the format `http/1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Unreadable;

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the stored bytes are not a response in the format http/1")
    }
}

impl std::error::Error for Unreadable {}

impl StoredResponse {
    /// The format's name in a record.
    pub const FORMAT: &'static str = "http/1";

    /// The bytes that a store keeps; `None` if a part is over 256 MiB.
    #[must_use]
    pub fn encode(&self) -> Option<StoredResult> {
        let headers_len: usize = self
            .headers
            .iter()
            .map(|(n, v)| n.as_str().len() + v.len() + 8)
            .sum();
        let body_len = self.body.as_ref().map_or(0, Bytes::len);
        let mut out = BytesMut::with_capacity(16 + headers_len + body_len);
        out.put_u8(VERSION);
        out.put_u8(if self.body.is_some() { BODY_KEPT } else { 0 });
        out.put_u16(self.status.as_u16());
        put_number(&mut out, self.headers.len())?;
        for (name, value) in &self.headers {
            put_bytes(&mut out, name.as_str().as_bytes())?;
            put_bytes(&mut out, value.as_bytes())?;
        }
        if let Some(body) = &self.body {
            put_bytes(&mut out, body)?;
        }
        Some(StoredResult {
            format: Self::FORMAT.into(),
            bytes: out.freeze(),
        })
    }

    /// Reads what [`encode`](Self::encode) wrote. The body shares the memory of `stored`.
    ///
    /// # Errors
    ///
    /// [`Unreadable`], for another format too.
    pub fn decode(stored: &StoredResult) -> Result<Self, Unreadable> {
        if stored.format != Self::FORMAT {
            return Err(Unreadable);
        }
        let mut reader = Reader {
            all: &stored.bytes,
            at: 0,
        };
        let [version, flags, hi, lo] = reader.array()?;
        if version != VERSION || flags & !BODY_KEPT != 0 {
            return Err(Unreadable);
        }
        let status = StatusCode::from_u16(u16::from_be_bytes([hi, lo])).map_err(|_| Unreadable)?;
        let count = reader.number()?;
        let mut headers = HeaderMap::new();
        for _ in 0..count {
            let name = reader.bytes()?;
            // From lower case: a name has one spelling here.
            let name = HeaderName::from_lowercase(&name).map_err(|_| Unreadable)?;
            let value = HeaderValue::from_maybe_shared(reader.bytes()?).map_err(|_| Unreadable)?;
            headers.try_append(name, value).map_err(|_| Unreadable)?;
        }
        let body = if flags & BODY_KEPT == 0 {
            None
        } else {
            Some(reader.bytes()?)
        };
        if reader.at != reader.all.len() {
            return Err(Unreadable);
        }
        Ok(Self {
            status,
            headers,
            body,
        })
    }
}

fn put_number(out: &mut BytesMut, number: usize) -> Option<()> {
    if number > MAX_NUMBER {
        return None;
    }
    let mut left = number;
    while left >= 0x80 {
        out.put_u8((left & 0x7f) as u8 | 0x80);
        left >>= 7;
    }
    out.put_u8(left as u8);
    Some(())
}

fn put_bytes(out: &mut BytesMut, bytes: &[u8]) -> Option<()> {
    put_number(out, bytes.len())?;
    out.put_slice(bytes);
    Some(())
}

struct Reader<'a> {
    all: &'a Bytes,
    at: usize,
}

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let bytes = self.all.get(self.at..self.at + N).ok_or(Unreadable)?;
        self.at += N;
        bytes.try_into().map_err(|_| Unreadable)
    }

    fn number(&mut self) -> Result<usize, Unreadable> {
        let mut number = 0;
        for group in 0..4 {
            let [byte] = self.array()?;
            number |= usize::from(byte & 0x7f) << (7 * group);
            if byte & 0x80 == 0 {
                // A last group of zeros is padding: one number, one spelling.
                return if byte == 0 && group > 0 {
                    Err(Unreadable)
                } else {
                    Ok(number)
                };
            }
        }
        Err(Unreadable)
    }

    fn bytes(&mut self) -> Result<Bytes, Unreadable> {
        let len = self.number()?;
        let end = self.at + len;
        if end > self.all.len() {
            return Err(Unreadable);
        }
        let bytes = self.all.slice(self.at..end);
        self.at = end;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn response() -> impl Strategy<Value = StoredResponse> {
        let value = vec(
            any::<u8>().prop_filter("a header's byte", |b| {
                *b == b'\t' || (*b >= 32 && *b != 127)
            }),
            0..40,
        );
        let header = ("[a-z][a-z0-9-]{0,12}", value);
        (
            100_u16..1000,
            vec(header, 0..30),
            proptest::option::of(vec(any::<u8>(), 0..2000)),
        )
            .prop_map(|(status, pairs, body)| {
                let mut headers = HeaderMap::new();
                for (name, value) in pairs {
                    let name = HeaderName::try_from(name).unwrap();
                    headers.append(name, HeaderValue::from_bytes(&value).unwrap());
                }
                StoredResponse {
                    status: StatusCode::from_u16(status).unwrap(),
                    headers,
                    body: body.map(Bytes::from),
                }
            })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(response in response()) {
            let stored = response.encode().unwrap();
            prop_assert_eq!(stored.format.as_ref(), StoredResponse::FORMAT);
            prop_assert_eq!(StoredResponse::decode(&stored).unwrap(), response);
        }

        #[test]
        fn every_cut_and_every_tail_is_refused(response in response(), cut in any::<prop::sample::Index>()) {
            let stored = response.encode().unwrap();
            let cut = StoredResult { bytes: stored.bytes.slice(..cut.index(stored.bytes.len())), ..stored.clone() };
            prop_assert_eq!(StoredResponse::decode(&cut), Err(Unreadable));
            let longer = StoredResult { bytes: [&stored.bytes[..], b"\0"].concat().into(), ..stored };
            prop_assert_eq!(StoredResponse::decode(&longer), Err(Unreadable));
        }

        #[test]
        fn any_bytes_are_read_or_refused_and_what_is_read_is_written_the_same(bytes in vec(any::<u8>(), 0..64)) {
            let stored = StoredResult { format: StoredResponse::FORMAT.into(), bytes: bytes.into() };
            if let Ok(response) = StoredResponse::decode(&stored) {
                prop_assert!(response.encode().is_some());
            }
        }
    }

    #[test]
    fn another_format_version_or_flag_and_a_padded_number_are_refused() {
        let read = |format: &'static str, bytes: &'static [u8]| {
            StoredResponse::decode(&StoredResult {
                format: format.into(),
                bytes: Bytes::from_static(bytes),
            })
        };
        assert!(read("http/1", b"\x01\x01\x00\xc8\x00\x02ok").is_ok());
        assert!(read("http/1", b"\x01\x00\x00\xc8\x00").is_ok_and(|r| r.body.is_none()));
        assert!(read("json", b"\x01\x01\x00\xc8\x00\x02ok").is_err());
        assert!(read("http/1", b"\x02\x01\x00\xc8\x00\x02ok").is_err());
        assert!(read("http/1", b"\x01\x03\x00\xc8\x00\x02ok").is_err());
        assert!(read("http/1", b"\x01\x01\x00\xc8\x80\x00\x02ok").is_err());
        assert!(read("http/1", b"\x01\x01\x00\xc8\x01\x01X\x01y\x00").is_err());
    }

    #[test]
    fn a_known_response_has_known_bytes() {
        let mut headers = HeaderMap::new();
        headers.append("location", HeaderValue::from_static("/1"));
        let response = StoredResponse {
            status: StatusCode::CREATED,
            headers,
            body: Some(Bytes::from_static(b"{}")),
        };
        assert_eq!(
            &response.encode().unwrap().bytes[..],
            b"\x01\x01\x00\xc9\x01\x08location\x02/1\x02{}"
        );
    }
}
