//! A response as a store keeps it: the format `http/1`.
//!
//! ```text
//! response = version flags status fields [body [trailers]]
//! version  = 1 byte, 1
//! flags    = 1 byte: bit 0, whether the body was kept; bit 1, whether trailers followed it, and then bit 0 is set too;
//!            other bits are 0
//! status   = 2 bytes, big-endian, 100 to 999
//! fields   = count *(name value)
//! count    = number                     ; of fields, a repeated name counted each time
//! name     = number bytes               ; lower case
//! value    = number bytes               ; any bytes that a header may hold
//! body     = number bytes               ; only if it was kept
//! trailers = fields                     ; only if there were any, and then to the very end
//! number   = LEB128, unsigned, at most 4 bytes, no padding
//! ```
//!
//! Trailers came later, behind a bit that was 0: a response without them is written as it was before, and what was
//! written before is read. A reader from before refuses one with trailers, and tells a retry that it was done.
//!
//! Reading is strict: what is cut, padded, followed by more or not a valid header is refused as a whole. A replay of
//! half a response would be worse than none.

use bytes::{BufMut, Bytes, BytesMut};
use counterfoil_core::store::StoredResult;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

const VERSION: u8 = 1;
const BODY_KEPT: u8 = 1;
/// A body, and what followed it.
const WITH_TRAILERS: u8 = 3;

/// The largest number that four groups of seven bits hold.
const MAX_NUMBER: usize = (1 << 28) - 1;

/// A response without what belongs to its first call: status, kept headers, body, kept trailers.
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
    /// What followed the body; not kept where the body is not.
    pub trailers: Option<HeaderMap>,
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
        let body_len = self.body.as_ref().map_or(0, Bytes::len);
        let fields_len = [Some(&self.headers), self.trailers.as_ref()]
            .into_iter()
            .flatten()
            .flatten()
            .map(|(name, value)| name.as_str().len() + value.len() + 8)
            .sum::<usize>();
        let mut out = BytesMut::with_capacity(16 + fields_len + body_len);
        out.put_u8(VERSION);
        out.put_u8(match (&self.body, &self.trailers) {
            (None, _) => 0,
            (Some(_), None) => BODY_KEPT,
            (Some(_), Some(_)) => WITH_TRAILERS,
        });
        out.put_u16(self.status.as_u16());
        put_fields(&mut out, &self.headers)?;
        if let Some(body) = &self.body {
            put_bytes(&mut out, body)?;
            if let Some(trailers) = &self.trailers {
                put_fields(&mut out, trailers)?;
            }
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
        if version != VERSION {
            return Err(Unreadable);
        }
        let (has_body, has_trailers) = match flags {
            0 => (false, false),
            BODY_KEPT => (true, false),
            WITH_TRAILERS => (true, true),
            _ => return Err(Unreadable),
        };
        let status = StatusCode::from_u16(u16::from_be_bytes([hi, lo])).map_err(|_| Unreadable)?;
        let headers = reader.fields()?;
        let body = has_body.then(|| reader.bytes()).transpose()?;
        let trailers = has_trailers.then(|| reader.fields()).transpose()?;
        if reader.at != reader.all.len() {
            return Err(Unreadable);
        }
        Ok(Self {
            status,
            headers,
            body,
            trailers,
        })
    }
}

fn put_fields(out: &mut BytesMut, fields: &HeaderMap) -> Option<()> {
    put_number(out, fields.len())?;
    for (name, value) in fields {
        put_bytes(out, name.as_str().as_bytes())?;
        put_bytes(out, value.as_bytes())?;
    }
    Some(())
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

    fn fields(&mut self) -> Result<HeaderMap, Unreadable> {
        let count = self.number()?;
        let mut fields = HeaderMap::new();
        for _ in 0..count {
            // From lower case: a name has one spelling here.
            let name = HeaderName::from_lowercase(&self.bytes()?).map_err(|_| Unreadable)?;
            let value = HeaderValue::from_maybe_shared(self.bytes()?).map_err(|_| Unreadable)?;
            fields.try_append(name, value).map_err(|_| Unreadable)?;
        }
        Ok(fields)
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
    use proptest::{collection::vec, option, prelude::*};

    use super::*;

    fn fields(most: usize) -> impl Strategy<Value = HeaderMap> {
        let value = vec(
            any::<u8>().prop_filter("a header's byte", |b| {
                *b == b'\t' || (*b >= 32 && *b != 127)
            }),
            0..40,
        );
        vec(("[a-z][a-z0-9-]{0,12}", value), 0..most).prop_map(|pairs| {
            let mut fields = HeaderMap::new();
            for (name, value) in pairs {
                let name = HeaderName::try_from(name).unwrap();
                fields.append(name, HeaderValue::from_bytes(&value).unwrap());
            }
            fields
        })
    }

    fn response() -> impl Strategy<Value = StoredResponse> {
        let body = vec(any::<u8>(), 0..2000);
        let body = option::of((body, option::of(fields(5))));
        (100_u16..1000, fields(30), body).prop_map(|(status, headers, body)| {
            let (body, trailers) = body.unzip();
            StoredResponse {
                status: StatusCode::from_u16(status).unwrap(),
                headers,
                body: body.map(Bytes::from),
                trailers: trailers.flatten(),
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
        // A flag of a later version; trailers without a body; trailers that are announced and missing.
        assert!(read("http/1", b"\x01\x05\x00\xc8\x00\x02ok").is_err());
        assert!(read("http/1", b"\x01\x02\x00\xc8\x00\x00").is_err());
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
            trailers: None,
        };
        // As it was written before trailers were kept.
        assert_eq!(
            &response.encode().unwrap().bytes[..],
            b"\x01\x01\x00\xc9\x01\x08location\x02/1\x02{}"
        );
        let mut trailers = HeaderMap::new();
        trailers.append("x-sum", HeaderValue::from_static("7"));
        let with_trailers = StoredResponse {
            trailers: Some(trailers),
            ..response
        };
        assert_eq!(
            &with_trailers.encode().unwrap().bytes[..],
            b"\x01\x03\x00\xc9\x01\x08location\x02/1\x02{}\x01\x05x-sum\x017"
        );
    }
}
