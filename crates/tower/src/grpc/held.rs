//! A body whose end is somebody else's to give.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use tokio::sync::mpsc;

use crate::BoxError;

/// Frames that wait for a caller that reads slowly. Past it the method waits too.
const WAITING: usize = 4;

/// The frames at hand, then what is sent, until every sender is gone.
pub(super) struct Held {
    frames: VecDeque<Bytes>,
    rest: mpsc::Receiver<Frame<Bytes>>,
    ended: bool,
}

pub(super) fn body(frames: VecDeque<Bytes>) -> (mpsc::Sender<Frame<Bytes>>, Held) {
    let (tx, rest) = mpsc::channel(WAITING);
    let held = Held {
        frames,
        rest,
        ended: false,
    };
    (tx, held)
}

impl HttpBody for Held {
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
        if this.ended {
            return Poll::Ready(None);
        }
        let next = this.rest.poll_recv(cx);
        if let Poll::Ready(Some(frame)) = &next {
            this.ended = frame.is_trailers();
        }
        next.map(|frame| frame.map(Ok))
    }
}
