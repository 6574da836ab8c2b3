//! One HTTP call over a connection of its own, in the version of HTTP that the run is in, or its own.

use std::{
    collections::VecDeque,
    convert::Infallible,
    fmt,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::{body::Incoming, client::conn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};

use crate::{version, wait::PATIENCE};

/// A request, not sent yet.
#[derive(Clone, Debug)]
pub struct Call {
    method: Method,
    target: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Payload,
    version: Version,
}

/// A connection that ended before the answer did.
#[derive(Debug)]
pub struct Cut(String);

/// An answer, read whole.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body's bytes.
    pub body: Bytes,
}

impl Call {
    /// A request without a body.
    #[must_use]
    pub fn new(method: Method, target: impl Into<String>) -> Self {
        Self {
            method,
            target: target.into(),
            headers: Vec::new(),
            body: Payload {
                frames: VecDeque::new(),
                announced: true,
            },
            version: version::of_this_run(),
        }
    }

    /// A GET.
    #[must_use]
    pub fn get(target: impl Into<String>) -> Self {
        Self::new(Method::GET, target)
    }

    /// A POST of JSON.
    #[must_use]
    pub fn post(target: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self::new(Method::POST, target)
            .header("content-type", "application/json")
            .body(body)
    }

    /// Adds a header; one that is there already stays, too.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers
            .push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// A body in one piece, its length announced.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Payload {
            frames: VecDeque::from([body.into()]),
            announced: true,
        };
        self
    }

    /// A body in pieces, its length not announced.
    #[must_use]
    pub fn chunks(mut self, chunks: impl IntoIterator<Item = Bytes>) -> Self {
        self.body = Payload {
            frames: chunks.into_iter().collect(),
            announced: false,
        };
        self
    }

    /// This version of HTTP, whichever the run is in.
    #[must_use]
    pub const fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Sends it, and reads the answer whole.
    ///
    /// # Errors
    ///
    /// [`Cut`] if the connection ends first.
    ///
    /// # Panics
    ///
    /// If that takes more than 20 seconds.
    pub async fn send(self, to: SocketAddr) -> Result<Reply, Cut> {
        let (method, target) = (self.method.clone(), self.target.clone());
        timeout(PATIENCE, self.exchange(to))
            .await
            .unwrap_or_else(|_| panic!("no answer to {method} {target} within {PATIENCE:?}"))
            .map_err(|error| Cut(error.to_string()))
    }

    async fn exchange(self, to: SocketAddr) -> Result<Reply, Box<dyn std::error::Error>> {
        let io = TokioIo::new(TcpStream::connect(to).await?);
        let mut request = Request::builder().method(self.method).uri(version::target(
            self.version,
            to,
            &self.target,
        ));
        for (name, value) in version::host(self.version, to)
            .into_iter()
            .chain(self.headers)
        {
            request = request.header(name, value);
        }
        let request = request.version(self.version).body(self.body)?;
        let response = if self.version == Version::HTTP_2 {
            over_http_2(io, request).await?
        } else {
            over_http_1(io, request).await?
        };
        let (parts, body) = response.into_parts();
        Ok(Reply {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.collect().await?.to_bytes(),
        })
    }
}

/// The connection ends with the last reader of the answer. Its errors come out there too.
async fn over_http_1(
    io: TokioIo<TcpStream>,
    request: Request<Payload>,
) -> hyper::Result<Response<Incoming>> {
    let (mut sender, connection) = conn::http1::handshake(io).await?;
    tokio::spawn(connection);
    sender.send_request(request).await
}

/// Likewise, by prior knowledge of the version.
async fn over_http_2(
    io: TokioIo<TcpStream>,
    request: Request<Payload>,
) -> hyper::Result<Response<Incoming>> {
    let (mut sender, connection) = conn::http2::handshake(TokioExecutor::new(), io).await?;
    tokio::spawn(connection);
    sender.send_request(request).await
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the connection was cut: {}", self.0)
    }
}

impl std::error::Error for Cut {}

impl Reply {
    /// A header's text; the empty one where it is missing.
    ///
    /// # Panics
    ///
    /// If it stands there twice, or is no text.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let mut values = self.headers.get_all(name).iter();
        let first = values
            .next()
            .map(|value| value.to_str().expect("a header of text"));
        assert!(
            values.next().is_none(),
            "{name} stands there twice: {self:?}"
        );
        first.unwrap_or_default()
    }

    /// What the answer calls itself.
    #[must_use]
    pub fn word(&self) -> &str {
        self.header("counterfoil-status")
    }

    /// The body as JSON.
    ///
    /// # Panics
    ///
    /// If it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// A text member of the body; the empty one where it is missing.
    #[must_use]
    pub fn text(&self, member: &str) -> String {
        self.json()[member].as_str().unwrap_or_default().to_owned()
    }

    /// Holds the answer to its HTTP status and its word. Where the body is an answer of ours, it says the same word.
    ///
    /// # Panics
    ///
    /// If it is another.
    #[track_caller]
    pub fn assert_told(&self, status: u16, word: &str) -> &Self {
        assert_eq!((self.status, self.word()), (status, word), "{self:#?}");
        self
    }

    /// As [`assert_told`](Self::assert_told), for an answer of ours, which says in its body too what became of the
    /// operation.
    ///
    /// # Panics
    ///
    /// If it is another.
    #[track_caller]
    pub fn assert_answer(&self, status: u16, word: &str, executed: &str) -> &Self {
        self.assert_told(status, word);
        assert_eq!(self.header("content-type"), "application/json", "{self:#?}");
        // It is one caller's, at one moment.
        assert_eq!(self.header("cache-control"), "no-store", "{self:#?}");
        if matches!(word, "in_progress" | "outcome_unknown") {
            let seconds: u64 = self.header("retry-after").parse().expect("seconds to wait");
            assert!(seconds > 0, "{self:#?}");
        }
        assert_eq!(self.text("status"), word, "{self:#?}");
        assert_eq!(self.text("executed"), executed, "{self:#?}");
        for text in ["meaning", "instruction"] {
            assert!(!self.text(text).is_empty(), "{text} is missing: {self:#?}");
        }
        self
    }

    /// Holds a refusal of the params to the field that it names, as a JSON pointer.
    ///
    /// # Panics
    ///
    /// If it is another answer.
    #[track_caller]
    pub fn assert_invalid(&self, field: &str) -> &Self {
        self.assert_answer(422, "params_invalid", "unknown");
        assert_eq!(self.text("field"), field, "{self:#?}");
        self
    }
}

/// A body in frames as they were given.
#[derive(Clone, Debug)]
struct Payload {
    frames: VecDeque<Bytes>,
    announced: bool,
}

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.frames.pop_front().map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        if self.announced {
            SizeHint::with_exact(self.frames.iter().map(|frame| frame.len() as u64).sum())
        } else {
            SizeHint::default()
        }
    }
}
