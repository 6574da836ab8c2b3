//! Bounded waiting.

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// How long a thing that is sure to come may take on a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

const PAUSE: Duration = Duration::from_millis(20);

/// Asks again until `look` finds something.
///
/// # Panics
///
/// If nothing is found within 20 seconds; the message says `what` was waited for.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(
            Instant::now() < end,
            "{what} did not come within {PATIENCE:?}"
        );
        tokio::time::sleep(PAUSE).await;
    }
}

/// As [`until`], on a thread that may block.
pub(crate) fn until_blocking<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    within_blocking(PATIENCE, look)
}

/// As [`until_blocking`], with a bound of one's own.
pub(crate) fn within_blocking<T>(
    bound: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> Option<T> {
    let end = Instant::now() + bound;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(PAUSE);
    }
}
