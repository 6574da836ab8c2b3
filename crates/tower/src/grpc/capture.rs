//! Reads a method's reply up to a limit of bytes and of time, and past it hands it on as it comes.

use std::{collections::VecDeque, pin::pin};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response, response::Parts};
use http_body::Body as HttpBody;
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use tokio::{sync::oneshot, time::sleep};
use tonic::Code;

use super::{
    deliver,
    held::{self, Reader},
    reply::{self, Reply},
};
use crate::{Body, BoxError, confirm::Limits, headers};

/// A reply that was read to its end.
pub(super) struct Captured {
    pub(super) parts: Parts,
    /// `None` where they were handed on already.
    frames: Option<VecDeque<Bytes>>,
    /// `None` where it broke off.
    trailers: Option<HeaderMap>,
}

/// A reply that goes to its caller before its end is known.
pub(super) struct Early {
    pub(super) response: Response<Body>,
    /// For the trailers, once they may be told.
    pub(super) reader: Reader,
}

/// Reads a reply to its end; past the limits, where nobody reads it any more, to the end of the lease at the latest.
pub(super) async fn capture<R>(
    response: Response<R>,
    limits: Limits,
    early: oneshot::Sender<Early>,
    lease_lost: impl Future<Output = ()>,
) -> Captured
where
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let (parts, body) = response.into_parts();
    // Mapped first: an error type of the method's must not live across an await, it need not be `Send`.
    let mut body = body.map_err(Into::into).boxed_unsync();
    let mut frames = VecDeque::new();
    let ended = tokio::select! {
        biased;
        () = pin!(sleep(limits.time)) => None,
        ended = read_ahead(&mut body, &mut frames, limits.bytes) => ended,
    };
    if let Some(trailers) = ended {
        return Captured {
            parts,
            frames: Some(frames),
            trailers,
        };
    }
    let trailers = hand_on(&parts, frames, body, early, lease_lost).await;
    Captured {
        parts,
        frames: None,
        trailers,
    }
}

/// Reads to the end: its trailers, or nothing where it breaks off. `None` past the limit. A dropped future loses nothing:
/// what was read is in `frames`.
async fn read_ahead(
    body: &mut UnsyncBoxBody<Bytes, BoxError>,
    frames: &mut VecDeque<Bytes>,
    limit: usize,
) -> Option<Option<HeaderMap>> {
    let mut len = 0_usize;
    loop {
        // A body that is always ready must outrun neither the time nor the other tasks.
        tokio::task::consume_budget().await;
        match body.frame().await {
            None => return Some(Some(HeaderMap::new())),
            Some(Err(_)) => return Some(None),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) if data.is_empty() => {}
                Ok(data) => {
                    len = len.saturating_add(data.len());
                    frames.push_back(data);
                    if len > limit {
                        return None;
                    }
                }
                // They are the last of a body.
                Err(frame) => return Some(Some(frame.into_trailers().unwrap_or_default())),
            },
        }
    }
}

/// Hands on what was read and what comes, and holds back the trailers. Reads on also for a caller that is gone, as long as
/// there is a lease: the method may well come to its end. A method without an end must not be read for ever.
async fn hand_on(
    parts: &Parts,
    frames: VecDeque<Bytes>,
    mut body: UnsyncBoxBody<Bytes, BoxError>,
    early: oneshot::Sender<Early>,
    lease_lost: impl Future<Output = ()>,
) -> Option<HeaderMap> {
    let (reader, held) = held::body(frames);
    let mut response = Response::new(Body::new(held));
    *response.status_mut() = parts.status;
    *response.headers_mut() = parts.headers.clone();
    // What stands is told in the trailers, and is not a method's to forge.
    deliver::forget(response.headers_mut());
    let (told, mut is_read) = (reader.clone(), true);
    // Nobody may be waiting any more.
    drop(early.send(Early {
        response,
        reader: told,
    }));
    let mut lease_lost = pin!(lease_lost);
    loop {
        tokio::task::consume_budget().await;
        let frame = tokio::select! {
            biased;
            () = &mut lease_lost, if !is_read => return None,
            // Heard at once, and not with the next frame, which may never come.
            () = reader.gone(), if is_read => {
                is_read = false;
                continue;
            }
            frame = body.frame() => frame,
        };
        match frame {
            None => return Some(HeaderMap::new()),
            Some(Err(_)) => return None,
            Some(Ok(frame)) => match frame.into_trailers() {
                Ok(trailers) => return Some(trailers),
                Err(data) => is_read = reader.send(data).await,
            },
        }
    }
}

impl Captured {
    /// The final status; `None` where the reply broke off or came without one.
    pub(super) fn code(&self) -> Option<Code> {
        let trailers = self.trailers.as_ref()?;
        if self.parts.status != http::StatusCode::OK {
            return None;
        }
        reply::code(&self.parts.headers, trailers)
    }

    /// What is kept of it.
    pub(super) fn kept(&self) -> Option<Reply> {
        Some(Reply {
            headers: headers::kept(&self.parts.headers),
            body: self.frames.as_ref().map(joined),
            trailers: headers::kept(self.trailers.as_ref()?),
        })
    }

    /// The reply as it was, where it was not handed on already.
    pub(super) fn into_response(self) -> Option<Response<Body>> {
        let trailers = self.trailers.filter(|trailers| !trailers.is_empty());
        let body = Body::whole(self.frames?, trailers);
        Some(Response::from_parts(self.parts, body))
    }

    pub(super) fn into_trailers(self) -> HeaderMap {
        self.trailers.unwrap_or_default()
    }
}

fn joined(frames: &VecDeque<Bytes>) -> Bytes {
    let mut all = BytesMut::with_capacity(frames.iter().map(Bytes::len).sum());
    for frame in frames {
        all.extend_from_slice(frame);
    }
    all.freeze()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body::Frame;
    use tokio::time::{pause, timeout};

    use super::*;

    /// One message, and then neither more nor an end.
    struct Stalls(bool);

    impl HttpBody for Stalls {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<Frame<Bytes>, BoxError>>> {
            if std::mem::replace(&mut self.0, true) {
                return std::task::Poll::Pending;
            }
            std::task::Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"a message")))))
        }
    }

    #[tokio::test]
    async fn a_reply_that_stalls_and_that_nobody_reads_is_left_when_the_lease_is_lost() {
        pause();
        let limits = Limits {
            bytes: 1024,
            time: Duration::from_secs(1),
        };
        let (early, told) = oneshot::channel();
        let lease_lost = sleep(Duration::from_secs(30));
        let reading = capture(Response::new(Stalls(false)), limits, early, lease_lost);
        let caller = async {
            let reply = told.await.expect("it goes out before its end");
            sleep(Duration::from_secs(1)).await;
            drop(reply.response);
            // The part that waits to send the trailers outlives the caller.
            reply.reader
        };
        let both = async { tokio::join!(reading, caller) };
        let (captured, _reader) = timeout(Duration::from_secs(60), both)
            .await
            .expect("it does not hold its place for ever");
        assert!(captured.code().is_none(), "it broke off");
    }
}
