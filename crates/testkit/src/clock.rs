//! Clocks that tests move.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use counterfoil_core::{Clock, Timestamp};
use tokio::time::Instant;

/// A clock that stands still until it is moved. Clones share the time.
///
/// ```
/// use std::time::Duration;
/// use counterfoil_core::{Clock, Timestamp};
/// use counterfoil_testkit::ManualClock;
///
/// let clock = ManualClock::new(Timestamp::from_unix_secs(1_700_000_000));
/// let shared = clock.clone();
/// clock.advance(Duration::from_millis(5));
/// assert_eq!(shared.now().unix_ms(), 1_700_000_000_005);
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock {
    now_ms: Arc<AtomicU64>,
}

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            now_ms: Arc::new(AtomicU64::new(now.unix_ms())),
        }
    }

    /// Moves the time on. Parts of a millisecond are dropped.
    pub fn advance(&self, by: Duration) {
        self.set(self.now() + by);
    }

    /// Moves the time back, as a wrong clock does when it is put right.
    pub fn rewind(&self, by: Duration) {
        self.set(self.now() - by);
    }

    /// Sets the time.
    pub fn set(&self, now: Timestamp) {
        self.now_ms.store(now.unix_ms(), Ordering::SeqCst);
    }
}

/// A clock that shows an instant in November 2023.
impl Default for ManualClock {
    fn default() -> Self {
        Self::new(START)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.now_ms.load(Ordering::SeqCst))
    }
}

/// A clock that moves as tokio's does, so that a store's leases and the engine's timers stay together when a test
/// pauses and advances tokio's time.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use counterfoil_core::Clock;
/// use counterfoil_testkit::TokioClock;
///
/// let clock = TokioClock::default();
/// let before = clock.now();
/// tokio::time::sleep(Duration::from_secs(60)).await;
/// assert_eq!(clock.now(), before + Duration::from_secs(60));
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    base: Timestamp,
    started: Instant,
}

impl TokioClock {
    /// A clock that shows `now`, and goes on from there. Make it inside the runtime whose time it follows.
    #[must_use]
    pub fn starting_at(now: Timestamp) -> Self {
        Self {
            base: now,
            started: Instant::now(),
        }
    }
}

/// A clock that starts at an instant in November 2023.
impl Default for TokioClock {
    fn default() -> Self {
        Self::starting_at(START)
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.base + self.started.elapsed()
    }
}

const START: Timestamp = Timestamp::from_unix_secs(1_700_000_000);
