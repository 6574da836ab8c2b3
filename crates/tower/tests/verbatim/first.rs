//! First responses, generated: any status, up to thirty fields with repeated names and binary values, a body in frames cut
//! anywhere, and trailers.

use bytes::Bytes;
use counterfoil_core::engine::{Attempt, Disposition};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{Index, select},
};

use crate::common::{Script, Step};

/// A first response, as it is generated.
#[derive(Clone, Debug)]
pub(crate) struct First {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) frames: Vec<Bytes>,
    pub(crate) trailers: Option<HeaderMap>,
}

impl First {
    /// The response of a handler that says how it ended.
    pub(crate) fn given(&self, attempt: &Attempt) -> Response<Script> {
        attempt.declare(if self.status.as_u16() < 400 {
            Disposition::Done
        } else {
            Disposition::Failed
        });
        let frames = self.frames.iter().cloned().map(Step::Data);
        let steps = frames.chain(self.trailers.clone().map(Step::Trailers));
        let mut response = Response::new(Script::new(steps));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers.clone();
        response
    }
}

/// Fields that are of the first call alone, in the head and in the trailers.
pub(crate) const NOT_REPLAYED: [&str; 9] = [
    "date",
    "set-cookie",
    "server-timing",
    "traceparent",
    "keep-alive",
    "www-authenticate",
    "access-control-allow-origin",
    "counterfoil-status",
    "idempotent-replayed",
];

/// Fields that mean something, and are replayed.
const KNOWN: [&str; 7] = [
    "location",
    "etag",
    "content-type",
    "cache-control",
    "vary",
    "trailer",
    HOP,
];

/// Hop-by-hop, by the word of a `Connection` that may stand beside it.
pub(crate) const HOP: &str = "x-hop";

fn fields(most: usize) -> impl Strategy<Value = HeaderMap> {
    let name = prop_oneof![
        6 => "x-[a-d]{1,2}",
        3 => select(&KNOWN[..]).prop_map(str::to_owned),
        2 => select(&NOT_REPLAYED[..]).prop_map(str::to_owned),
    ];
    let byte = any::<u8>().prop_filter("a field's byte", |b| *b == 9 || (*b >= 32 && *b != 127));
    vec((name, vec(byte, 0..24)), 0..=most).prop_map(|pairs| {
        let mut fields = HeaderMap::new();
        for (name, value) in pairs {
            let name = HeaderName::try_from(name).unwrap();
            fields.append(name, HeaderValue::from_bytes(&value).unwrap());
        }
        fields
    })
}

/// Any bytes of a length, cut anywhere, also twice at one place.
fn frames(length: impl Strategy<Value = usize>) -> impl Strategy<Value = Vec<Bytes>> {
    (length, any::<u64>(), vec(any::<Index>(), 0..12)).prop_map(|(length, seed, cuts)| {
        let mut state = seed | 1;
        let next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        let all: Bytes = std::iter::repeat_with(next).take(length).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(length + 1)).collect();
        // At one place a frame is empty.
        cuts.extend(cuts.first().copied().filter(|_| seed.is_multiple_of(2)));
        cuts.push(length);
        cuts.sort_unstable();
        let mut from = 0;
        let cut = |to| all.slice(std::mem::replace(&mut from, to)..to);
        cuts.into_iter().map(cut).collect()
    })
}

pub(crate) fn first(length: impl Strategy<Value = usize>) -> impl Strategy<Value = First> {
    let parts = (
        200_u16..600,
        fields(30),
        any::<bool>(),
        frames(length),
        option::of(fields(6)),
    );
    parts.prop_map(|(status, mut headers, hop, frames, trailers)| {
        if hop {
            headers.insert("connection", HeaderValue::from_static("close, X-Hop"));
        }
        let status = StatusCode::from_u16(status).unwrap();
        First {
            status,
            headers,
            frames,
            trailers,
        }
    })
}
