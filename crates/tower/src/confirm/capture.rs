//! Reads a handler's response up to a limit of bytes and of time.

use std::{collections::VecDeque, pin::pin, time::Duration};

use bytes::{Bytes, BytesMut};
use counterfoil_core::store::StoredResult;
use http::{HeaderMap, HeaderName, HeaderValue, response};
use http_body::{Body as HttpBody, Frame};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use tokio::time::sleep;

use crate::{Body, BoxError, headers, stored_response::StoredResponse};

/// How much of a response is waited for and kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) bytes: usize,
    pub(crate) time: Duration,
}

/// A response whose body was read as far as the limits let it.
pub(super) struct Captured {
    pub(super) parts: response::Parts,
    frames: VecDeque<Bytes>,
    end: End,
}

enum End {
    /// All of it is in the frames.
    Whole {
        trailers: Option<HeaderMap>,
        /// Whether body and trailers are within the limit.
        fits: bool,
    },
    /// More comes.
    PastLimit {
        rest: UnsyncBoxBody<Bytes, BoxError>,
        /// Whether what it says of its size and its end agrees with what it gave.
        sized: bool,
    },
    /// It broke off.
    Broken(BoxError),
}

/// Reads ahead until the body ends, or breaks off, or passes a limit. The time counts from the head.
pub(super) async fn capture<R>(response: http::Response<R>, limits: Limits) -> Captured
where
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let (parts, body) = response.into_parts();
    // Mapped first: an error type of the handler's must not live across an await, it need not be `Send`.
    let mut body = body.map_err(Into::into).boxed_unsync();
    let (size, ended) = (body.size_hint().exact(), body.is_end_stream());
    let (frames, end) = read_ahead(&mut body, limits).await;
    let end = end.unwrap_or_else(|| {
        let given = length(&frames);
        let in_all = |rest: u64| rest.saturating_add(given);
        let sized = size == body.size_hint().exact().map(in_all) && !(ended && given > 0);
        End::PastLimit { rest: body, sized }
    });
    Captured { parts, frames, end }
}

fn length(frames: &VecDeque<Bytes>) -> u64 {
    frames.iter().map(|frame| frame.len() as u64).sum()
}

async fn read_ahead(
    body: &mut UnsyncBoxBody<Bytes, BoxError>,
    limits: Limits,
) -> (VecDeque<Bytes>, Option<End>) {
    let mut over = pin!(sleep(limits.time));
    let mut frames = VecDeque::new();
    let mut len = 0;
    let mut trailers = None;
    if body.size_hint().lower() > limits.bytes as u64 {
        return (frames, None);
    }
    loop {
        // A body that is always ready must outrun neither the time nor the other tasks. Dropping `frame()` loses
        // nothing: a frame that isn't ready stays in the body.
        tokio::task::consume_budget().await;
        let frame = tokio::select! {
            biased;
            () = &mut over => return (frames, None),
            frame = body.frame() => frame,
        };
        match frame {
            None => {
                let fits = len <= limits.bytes;
                return (frames, Some(End::Whole { trailers, fits }));
            }
            Some(Err(error)) => return (frames, Some(End::Broken(error))),
            Some(Ok(frame)) => match frame.into_data() {
                // It says nothing, and would take memory without counting.
                Ok(data) if data.is_empty() => {}
                Ok(data) => {
                    len += data.len();
                    frames.push_back(data);
                    if len > limits.bytes {
                        return (frames, None);
                    }
                }
                Err(frame) => {
                    if let Ok(fields) = Frame::into_trailers(frame) {
                        let field_len =
                            |(n, v): (&HeaderName, &HeaderValue)| n.as_str().len() + v.len();
                        len += fields.iter().map(field_len).sum::<usize>();
                        trailers = Some(fields);
                    }
                }
            },
        }
    }
}

impl Captured {
    pub(super) const fn is_broken(&self) -> bool {
        matches!(self.end, End::Broken(_))
    }

    /// What a store keeps of it: past the limit the head alone. `None` where even the head can't be encoded.
    pub(super) fn stored(&self) -> Option<StoredResult> {
        let (body, trailers) = match &self.end {
            End::Whole {
                trailers,
                fits: true,
            } => (Some(self.joined()), trailers.as_ref().map(headers::kept)),
            _ => (None, None),
        };
        let response = StoredResponse {
            status: self.parts.status,
            headers: headers::kept(&self.parts.headers),
            body,
            trailers: trailers.filter(|kept| !kept.is_empty()),
        };
        response.encode()
    }

    fn joined(&self) -> Bytes {
        if let [one] = self.frames.as_slices().0
            && self.frames.len() == 1
        {
            return one.clone();
        }
        let mut all = BytesMut::with_capacity(length(&self.frames) as usize);
        for frame in &self.frames {
            all.extend_from_slice(frame);
        }
        all.freeze()
    }

    /// The handler's own response, whole: what was read ahead, then whatever comes after it.
    pub(super) fn into_response(mut self) -> http::Response<Body> {
        let body = match self.end {
            End::Whole { trailers, .. } => {
                headers::drop_untrue_length(&mut self.parts.headers, length(&self.frames));
                Body::whole(self.frames, trailers)
            }
            End::PastLimit { rest, sized: true } => Body::chained(self.frames, rest),
            End::PastLimit { rest, sized: false } => Body::chained_unsized(self.frames, rest),
            End::Broken(error) => Body::broken(self.frames, error),
        };
        http::Response::from_parts(self.parts, body)
    }
}
