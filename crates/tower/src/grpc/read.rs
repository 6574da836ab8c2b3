//! Reads a call up to its one message.

use bytes::Bytes;
use counterfoil_core::{
    Subject,
    answer::{Answer, Status},
};
use http::{HeaderMap, HeaderName, Method, header, request::Parts};
use http_body::Body as HttpBody;
use tonic::Code;

use super::frame::{BadFrame, one_message};
use crate::{BoxError, headers, request::Reading};

/// The encoding of a call's messages.
pub(super) const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");
/// The encodings that a caller, or a server, takes.
pub(super) const ACCEPT_ENCODING: HeaderName = HeaderName::from_static("grpc-accept-encoding");

/// A call that is refused, and how, where that is not the table's way.
pub(super) struct Refusal {
    pub(super) answer: Box<Answer>,
    pub(super) how: How,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    Table,
    /// A compressed message: `UNIMPLEMENTED`, with what is taken instead, as the protocol asks.
    Compressed,
    /// No gRPC at all: HTTP 415, for whatever sent it.
    NotGrpc,
}

impl Refusal {
    fn new(answer: Answer, how: How) -> Self {
        Self {
            answer: Box::new(answer),
            how,
        }
    }

    pub(super) const fn code(&self) -> Option<Code> {
        match self.how {
            How::Compressed => Some(Code::Unimplemented),
            How::Table | How::NotGrpc => None,
        }
    }
}

impl From<Answer> for Refusal {
    fn from(answer: Answer) -> Self {
        Self::new(answer, How::Table)
    }
}

impl From<BadFrame> for Refusal {
    fn from(bad: BadFrame) -> Self {
        let how = match bad {
            BadFrame::Compressed => How::Compressed,
            _ => How::Table,
        };
        Self::new(bad.into(), how)
    }
}

/// Who calls, and the message of a call that has exactly one, as it is.
pub(super) async fn call<B>(
    reading: &Reading,
    parts: &Parts,
    body: B,
) -> Result<(Subject, Bytes), Refusal>
where
    B: HttpBody<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    let subject = reading.subject(parts)?;
    if parts.method != Method::POST || !says_grpc(&parts.headers) {
        let answer = Answer::new(Status::ParamsInvalid)
            .with_reason("unsupported_media")
            .with_field(header::CONTENT_TYPE.as_str());
        return Err(Refusal::new(answer, How::NotGrpc));
    }
    let body = reading.bytes(body).await?;
    Ok((subject, one_message(&body)?))
}

/// One media type, and a message in protobuf: another serialization is another reading of the same bytes.
fn says_grpc(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(one), None) = (types.next(), types.next()) else {
        return false;
    };
    let essence = one.to_str().unwrap_or_default().split(';').next();
    essence.is_some_and(|essence| {
        let essence = essence.trim();
        essence.eq_ignore_ascii_case("application/grpc")
            || essence.eq_ignore_ascii_case("application/grpc+proto")
    })
}

/// The metadata that the method sees: as it came, but for encodings. The message is not compressed by now, and neither may
/// the reply be.
pub(super) fn settle_metadata(metadata: &mut HeaderMap) {
    for name in [
        header::ACCEPT_ENCODING,
        header::CONTENT_LENGTH,
        ACCEPT_ENCODING,
        ENCODING,
    ] {
        metadata.remove(name);
    }
    headers::hide_credentials(metadata);
}
