//! A reply that goes to its caller before its end is known, and whose end is somebody else's to give.

use std::{
    collections::VecDeque,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use tokio::{sync::mpsc, time::timeout};

use crate::BoxError;

/// Frames that wait for a caller that reads slowly. Past it the method waits too.
const WAITING: usize = 4;

/// How long a frame waits for a caller that takes nothing meanwhile. Without an end to that, whoever stops reading would
/// hold the method, its operation and its place among those that run for as long as the connection stands.
const STALLED: Duration = Duration::from_secs(60);

/// The way to a caller that reads while the method goes on. Clones lead to the same one.
#[derive(Clone)]
pub(super) struct Reader {
    frames: mpsc::Sender<Frame<Bytes>>,
    progress: Arc<Progress>,
}

#[derive(Default)]
struct Progress {
    /// How many frames were taken, those at hand too.
    taken: AtomicUsize,
    gone: AtomicBool,
}

/// The frames at hand, then what is sent, up to the trailers. Without those it breaks off: a reply that is cut must not
/// look like one that ended.
pub(super) struct Held {
    frames: VecDeque<Bytes>,
    rest: mpsc::Receiver<Frame<Bytes>>,
    progress: Arc<Progress>,
    ended: bool,
}

pub(super) fn body(frames: VecDeque<Bytes>) -> (Reader, Held) {
    let (tx, rest) = mpsc::channel(WAITING);
    let progress = Arc::<Progress>::default();
    let reader = Reader {
        frames: tx,
        progress: Arc::clone(&progress),
    };
    let held = Held {
        frames,
        rest,
        progress,
        ended: false,
    };
    (reader, held)
}

impl Reader {
    /// Waits until the caller has gone away.
    pub(super) async fn gone(&self) {
        self.frames.closed().await;
    }

    /// Sends it, unless the caller has gone away or takes nothing any more. After one frame that was lost no other is sent,
    /// trailers neither. Returns whether there still is a reader.
    pub(super) async fn send(&self, frame: Frame<Bytes>) -> bool {
        let Progress { taken, gone } = &*self.progress;
        if gone.load(Ordering::SeqCst) {
            return false;
        }
        let mut room = pin!(self.frames.reserve());
        loop {
            let before = taken.load(Ordering::SeqCst);
            match timeout(STALLED, &mut room).await {
                Ok(Ok(room)) => {
                    room.send(frame);
                    return true;
                }
                Err(_) if taken.load(Ordering::SeqCst) != before => {}
                Ok(Err(_)) | Err(_) => {
                    gone.store(true, Ordering::SeqCst);
                    return false;
                }
            }
        }
    }
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
            this.progress.taken.fetch_add(1, Ordering::SeqCst);
            return Poll::Ready(Some(Ok(Frame::data(frame))));
        }
        if this.ended {
            return Poll::Ready(None);
        }
        match std::task::ready!(this.rest.poll_recv(cx)) {
            Some(frame) => {
                this.progress.taken.fetch_add(1, Ordering::SeqCst);
                this.ended = frame.is_trailers();
                Poll::Ready(Some(Ok(frame)))
            }
            None => {
                this.ended = true;
                Poll::Ready(Some(Err("the reply broke off".into())))
            }
        }
    }
}
