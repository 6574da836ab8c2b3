//! One concrete body both ways: to the handler, and to the caller.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};

/// What goes wrong while a body is read.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of the requests that a wrapped handler gets, and of the responses that its callers get.
///
/// It is `Send` and, like the bodies of the frameworks around it, not `Sync`.
///
/// ```
/// use counterfoil_tower::Body;
/// use http_body::Body as _;
///
/// assert_eq!(Body::from("four").size_hint().exact(), Some(4));
/// assert!(Body::default().is_end_stream());
/// ```
pub struct Body {
    /// What is at hand.
    frames: VecDeque<Bytes>,
    /// What comes after it.
    rest: Rest,
}

/// What comes after the frames at hand.
enum Rest {
    Nothing,
    Trailers(HeaderMap),
    Stream(UnsyncBoxBody<Bytes, BoxError>),
    /// One that was seen to say an untrue size or end. A server that wrote that size would cut it there.
    Unsized(UnsyncBoxBody<Bytes, BoxError>),
    Broken(BoxError),
    /// It broke, and the server was given the time to write what came before.
    BrokenAfterAPause(BoxError),
}

impl Body {
    /// Any body of bytes.
    pub fn new<B>(body: B) -> Self
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::chained(VecDeque::new(), body.map_err(Into::into).boxed_unsync())
    }

    /// The frames that were read ahead, then the rest of the body that they came from.
    pub(crate) const fn chained(
        frames: VecDeque<Bytes>,
        rest: UnsyncBoxBody<Bytes, BoxError>,
    ) -> Self {
        Self {
            frames,
            rest: Rest::Stream(rest),
        }
    }

    /// Those of a body whose word on its size and its end is not to be passed on.
    pub(crate) const fn chained_unsized(
        frames: VecDeque<Bytes>,
        rest: UnsyncBoxBody<Bytes, BoxError>,
    ) -> Self {
        Self {
            frames,
            rest: Rest::Unsized(rest),
        }
    }

    /// A whole body with its trailers.
    pub(crate) fn whole(frames: VecDeque<Bytes>, trailers: Option<HeaderMap>) -> Self {
        Self {
            frames,
            rest: trailers.map_or(Rest::Nothing, Rest::Trailers),
        }
    }

    /// With what follows it.
    pub(crate) fn with_trailers(self, trailers: Option<HeaderMap>) -> Self {
        match trailers {
            Some(trailers) => Self {
                rest: Rest::Trailers(trailers),
                ..self
            },
            None => self,
        }
    }

    /// A body that breaks off after the frames that were read.
    pub(crate) fn broken(frames: VecDeque<Bytes>, error: BoxError) -> Self {
        Self {
            frames,
            rest: Rest::Broken(error),
        }
    }
}

/// The empty body: layers around ours that answer by themselves ask for it.
impl Default for Body {
    fn default() -> Self {
        Self::whole(VecDeque::new(), None)
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        let frames = if bytes.is_empty() {
            VecDeque::new()
        } else {
            VecDeque::from([bytes])
        };
        Self::whole(frames, None)
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Bytes::from_static(text.as_bytes()).into()
    }
}

/// Shows how much is at hand, never the content.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = match self.rest {
            Rest::Nothing => "nothing",
            Rest::Trailers(_) => "trailers",
            Rest::Stream(_) | Rest::Unsized(_) => "a stream",
            Rest::Broken(_) | Rest::BrokenAfterAPause(_) => "an error",
        };
        f.debug_struct("Body")
            .field("bytes_at_hand", &self.bytes_at_hand())
            .field("then", &rest)
            .finish()
    }
}

impl Body {
    fn bytes_at_hand(&self) -> u64 {
        self.frames.iter().map(|frame| frame.len() as u64).sum()
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if let Some(frame) = this.frames.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(frame))));
        }
        if let Rest::Stream(body) | Rest::Unsized(body) = &mut this.rest {
            return Pin::new(body).poll_frame(cx);
        }
        Poll::Ready(match std::mem::replace(&mut this.rest, Rest::Nothing) {
            Rest::Trailers(trailers) => Some(Ok(Frame::trailers(trailers))),
            Rest::Broken(error) => {
                // A server writes while it waits, and drops what it has not written when a body breaks.
                this.rest = Rest::BrokenAfterAPause(error);
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Rest::BrokenAfterAPause(error) => Some(Err(error)),
            Rest::Nothing | Rest::Stream(_) | Rest::Unsized(_) => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty()
            && match &self.rest {
                Rest::Nothing => true,
                Rest::Stream(body) => body.is_end_stream(),
                _ => false,
            }
    }

    fn size_hint(&self) -> SizeHint {
        let at_hand = self.bytes_at_hand();
        match &self.rest {
            Rest::Nothing => SizeHint::with_exact(at_hand),
            // An exact hint makes HTTP/1 write `Content-Length`, which leaves no room for trailers.
            Rest::Trailers(_) | Rest::Unsized(_) | Rest::Broken(_) | Rest::BrokenAfterAPause(_) => {
                let mut hint = SizeHint::new();
                hint.set_lower(at_hand);
                hint
            }
            Rest::Stream(body) => {
                let rest = body.size_hint();
                let mut hint = SizeHint::new();
                hint.set_lower(rest.lower().saturating_add(at_hand));
                if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(at_hand)) {
                    hint.set_upper(upper);
                }
                hint
            }
        }
    }
}
