//! The end of a connection whose caller may still be sending.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// How long a caller that is still sending is listened to after the last byte for it: nginx's `lingering_timeout`.
pub(super) const LINGER: Duration = Duration::from_secs(5);
/// Read and thrown away at a time.
const PIECE: usize = 16 << 10;

/// A stream that is read to its end once nothing more will be written to it, for [`LINGER`] at most.
///
/// A body that is refused for its length is answered before it has come. To close then would be to reset the connection,
/// and a caller that is still sending would learn of that, and not of the answer that says why.
#[derive(Debug)]
pub(super) struct Lingering<I> {
    io: I,
    /// Set once the end was sent.
    until: Option<Pin<Box<Sleep>>>,
}

impl<I> Lingering<I> {
    pub(super) const fn new(io: I) -> Self {
        Self { io, until: None }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Lingering<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.until.is_none() {
            ready!(Pin::new(&mut this.io).poll_shutdown(cx))?;
        }
        let until = this.until.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        loop {
            if until.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut piece = [0; PIECE];
            let mut piece = ReadBuf::new(&mut piece);
            // The answer is out: how the caller ends is nothing to complain of.
            let read = ready!(Pin::new(&mut this.io).poll_read(cx, &mut piece));
            if read.is_err() || piece.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
