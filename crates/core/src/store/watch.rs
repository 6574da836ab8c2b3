//! Waiting for a record to change.

use std::{
    fmt,
    future::{Future, pending},
    pin::Pin,
    task::{Context, Poll},
};

/// Ends when a record may have changed since the call that gave this.
///
/// It is a hint, never an answer: it may end without a change, and a change may be missed. Whoever waits reads the
/// record afterwards, and also reads it now and then while the watch is silent.
///
/// Cancellation: it may be dropped at any time.
pub struct Watch(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Watch {
    /// A watch that ends with `change`.
    #[must_use]
    pub fn new(change: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Box::pin(change))
    }

    /// The watch of a store that learns of no change by itself: it never ends.
    #[must_use]
    pub fn silent() -> Self {
        Self::new(pending())
    }
}

impl Future for Watch {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
