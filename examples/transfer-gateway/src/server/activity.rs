//! What moves on one connection, and the bytes through which it shows.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, sleep_until},
};

/// Of one connection: whether the service is at work for it, and when it was last seen to move. Cheap to clone.
///
/// Bytes that come in are no movement: a head or a preface that comes byte by byte would keep its place for hours.
#[derive(Clone, Debug)]
pub(super) struct Activity(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    at_work: usize,
    moved: Instant,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            at_work: 0,
            moved: Instant::now(),
        })))
    }

    /// The service is at work until this is dropped.
    pub(super) fn work(&self) -> Work {
        self.lock().at_work += 1;
        Work(self.clone())
    }

    /// Waits until, for as long as this and from now on, the service had no work and nothing was written.
    pub(super) async fn quiet(&self, time: Duration) {
        let mut since = Instant::now();
        loop {
            sleep_until(since + time).await;
            let state = self.lock();
            if state.at_work > 0 {
                since = Instant::now();
            } else if state.moved > since {
                since = state.moved;
            } else {
                return;
            }
        }
    }

    fn moved(&self) {
        self.lock().moved = Instant::now();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work of the service: it, not the caller, is waited for.
#[derive(Debug)]
pub(super) struct Work(Activity);

impl Drop for Work {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.at_work -= 1;
        state.moved = Instant::now();
    }
}

/// A stream that tells what is written to it.
#[derive(Debug)]
pub(super) struct Watched<I> {
    io: I,
    activity: Activity,
}

impl<I> Watched<I> {
    pub(super) const fn new(io: I, activity: Activity) -> Self {
        Self { io, activity }
    }

    fn noted(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(bytes)) if bytes > 0) {
            self.activity.moved();
        }
        written
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Watched<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Watched<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.noted(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bytes);
        self.noted(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
