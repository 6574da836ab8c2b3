//! A reply as a store keeps it: the format `grpc/1`.
//!
//! ```text
//! message Reply {
//!   repeated Pair headers = 1;    // initial metadata, repeated and binary ones too
//!   optional bytes body = 2;      // all frames, as they were sent; absent where they were past the limit
//!   repeated Pair trailers = 3;   // with grpc-status, unless that stood in the headers
//!   bool whole = 4;               // true, and last: a cut reply is no reply
//! }
//! message Pair { string name = 1; bytes value = 2; }
//! ```

use bytes::Bytes;
use counterfoil_core::store::StoredResult;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use prost::Message;
use tonic::{Code, Response, Status, metadata::MetadataMap};

use super::frame::{framed, one_message};
use crate::headers;

/// The format's name in a record.
pub(super) const FORMAT: &str = "grpc/1";

pub(super) const CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/grpc");

const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const MESSAGE_TYPE: HeaderName = HeaderName::from_static("grpc-message-type");

/// A reply without what belongs to its first call.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Reply {
    pub(super) headers: HeaderMap,
    /// The frames, joined; `None` where they were past the limit.
    pub(super) body: Option<Bytes>,
    pub(super) trailers: HeaderMap,
}

#[derive(Clone, PartialEq, Message)]
struct Written {
    #[prost(message, repeated, tag = "1")]
    headers: Vec<Pair>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    body: Option<Bytes>,
    #[prost(message, repeated, tag = "3")]
    trailers: Vec<Pair>,
    #[prost(bool, tag = "4")]
    whole: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Pair {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(bytes = "bytes", tag = "2")]
    value: Bytes,
}

/// The final status of a reply, wherever it stands.
pub(super) fn code(headers: &HeaderMap, trailers: &HeaderMap) -> Option<Code> {
    status(headers, trailers).map(|status| status.code())
}

/// `None` where there are two: one reader takes the first of them, another the last.
fn status(headers: &HeaderMap, trailers: &HeaderMap) -> Option<Status> {
    let said = |map: &HeaderMap| map.get_all(STATUS).iter().count();
    if said(headers) + said(trailers) > 1 {
        return None;
    }
    Status::from_header_map(trailers).or_else(|| Status::from_header_map(headers))
}

impl Reply {
    /// What a method returned, as the wire would have it. `None` if it can't be sent at all.
    pub(super) fn of<R: Message>(returned: &Result<Response<R>, Status>) -> Option<Self> {
        let mut trailers = HeaderMap::new();
        let (mut headers, body) = match returned {
            Ok(response) => {
                trailers.insert(STATUS, HeaderValue::from_static("0"));
                let mut headers = response.metadata().clone().into_headers();
                // tonic sends none of these for a method, and a replay with them would end otherwise.
                for reserved in [STATUS, MESSAGE, MESSAGE_TYPE] {
                    headers.remove(reserved);
                }
                (headers, framed(response.get_ref())?)
            }
            Err(status) => {
                status.add_header(&mut trailers).ok()?;
                (HeaderMap::new(), Bytes::new())
            }
        };
        headers.insert(header::CONTENT_TYPE, CONTENT_TYPE);
        Some(Self {
            headers: headers::kept(&headers),
            body: Some(body),
            trailers: headers::kept(&trailers),
        })
    }

    /// What the method returned. `None` where its message is not kept, or not one of this type.
    pub(super) fn returned<R: Message + Default>(&self) -> Option<Result<Response<R>, Status>> {
        let status = status(&self.headers, &self.trailers)?;
        if status.code() != Code::Ok {
            return Some(Err(status));
        }
        let message = one_message(self.body.as_ref()?).ok()?;
        let mut response = Response::new(R::decode(message).ok()?);
        let mut metadata = self.headers.clone();
        metadata.remove(header::CONTENT_TYPE);
        *response.metadata_mut() = MetadataMap::from_headers(metadata);
        Some(Ok(response))
    }

    pub(super) fn len(&self) -> usize {
        let pairs = |map: &HeaderMap| -> usize {
            map.iter()
                .map(|(name, value)| name.as_str().len() + value.len())
                .sum()
        };
        self.body.as_ref().map_or(0, Bytes::len) + pairs(&self.headers) + pairs(&self.trailers)
    }

    /// The same, without its body if it is over the limit; `None` if even that is too much.
    pub(super) fn within(mut self, bytes: usize) -> Option<Self> {
        if self.len() > bytes {
            self.body = None;
        }
        (self.len() <= bytes.max(SMALLEST_LIMIT)).then_some(self)
    }

    pub(super) fn encode(&self) -> StoredResult {
        let written = Written {
            headers: pairs(&self.headers),
            body: self.body.clone(),
            trailers: pairs(&self.trailers),
            whole: true,
        };
        StoredResult {
            format: FORMAT.into(),
            bytes: written.encode_to_vec().into(),
        }
    }

    /// Reads what [`encode`](Self::encode) wrote; `None` for anything else.
    pub(super) fn decode(stored: &StoredResult) -> Option<Self> {
        if stored.format != FORMAT {
            return None;
        }
        let written = Written::decode(stored.bytes.clone()).ok()?;
        let reply = Self {
            headers: map(written.headers)?,
            body: written.body,
            trailers: map(written.trailers)?,
        };
        let ended = code(&reply.headers, &reply.trailers).is_some();
        (written.whole && ended).then_some(reply)
    }
}

/// A reply without its body is kept whatever the limit: its head and its status are small, and say how it ended.
const SMALLEST_LIMIT: usize = 64 << 10;

fn pairs(map: &HeaderMap) -> Vec<Pair> {
    map.iter()
        .map(|(name, value)| Pair {
            name: name.as_str().to_owned(),
            value: Bytes::copy_from_slice(value.as_bytes()),
        })
        .collect()
}

fn map(pairs: Vec<Pair>) -> Option<HeaderMap> {
    let mut map = HeaderMap::new();
    for Pair { name, value } in pairs {
        let name = HeaderName::from_lowercase(name.as_bytes()).ok()?;
        map.try_append(name, HeaderValue::from_maybe_shared(value).ok()?)
            .ok()?;
    }
    Some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply() -> Reply {
        let mut response = Response::new("a receipt".to_owned());
        response
            .metadata_mut()
            .insert("location", "/1".parse().unwrap());
        response.metadata_mut().append_bin(
            "x-bin",
            tonic::metadata::MetadataValue::from_bytes(&[0, 255]),
        );
        Reply::of(&Ok(response)).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        for reply in [
            reply(),
            Reply::of::<String>(&Err(Status::aborted("no"))).unwrap(),
        ] {
            assert_eq!(Reply::decode(&reply.encode()), Some(reply));
        }
    }

    #[test]
    fn a_reply_that_is_cut_anywhere_or_of_another_format_is_refused() {
        let stored = reply().encode();
        for end in 0..stored.bytes.len() {
            let cut = StoredResult {
                bytes: stored.bytes.slice(..end),
                ..stored.clone()
            };
            assert_eq!(Reply::decode(&cut), None, "{end}");
        }
        let other = StoredResult {
            format: "http/1".into(),
            ..stored
        };
        assert_eq!(Reply::decode(&other), None);
    }

    #[test]
    fn a_method_gets_back_what_it_returned() {
        let ok = reply().returned::<String>().unwrap().unwrap();
        assert_eq!(ok.get_ref(), "a receipt");
        assert_eq!(ok.metadata().get("location").unwrap(), "/1");
        let status = Status::with_details(Code::Aborted, "ça", Bytes::from_static(b"\x08\x0a"));
        let failed = Reply::of::<String>(&Err(status)).unwrap();
        let failed = failed.returned::<String>().unwrap().unwrap_err();
        assert_eq!((failed.code(), failed.message()), (Code::Aborted, "ça"));
        assert_eq!(failed.details(), b"\x08\x0a");
    }

    #[test]
    fn past_the_limit_the_status_is_kept_and_no_part_of_the_body() {
        let kept = reply().within(3).unwrap();
        assert_eq!(kept.body, None);
        assert_eq!(code(&kept.headers, &kept.trailers), Some(Code::Ok));
        assert!(kept.returned::<String>().is_none());
    }
}
