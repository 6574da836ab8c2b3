//! Configures what a process has once.

use std::{
    fmt,
    sync::{Arc, Mutex, RwLock},
    time::Duration,
};

use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{ConfigError, Counterfoil, shared::Shared};
use crate::{Clock, SystemClock, answer::Wording, fingerprint::Keyring, store::Store};

/// Configures a [`Counterfoil`].
pub struct CounterfoilBuilder {
    store: Arc<dyn Store>,
    keys: Keyring,
    clock: Arc<dyn Clock>,
    wording: Wording,
    max_running: usize,
    max_waiting: usize,
    answer_within: Duration,
}

impl CounterfoilBuilder {
    /// How many operations may be claimed or running in this process at a time.
    pub const DEFAULT_MAX_RUNNING: usize = 4096;
    /// How many duplicates may wait for a run in flight at a time.
    pub const DEFAULT_MAX_WAITING: usize = 512;
    /// How long a caller waits for a store in trouble.
    pub const DEFAULT_ANSWER_WITHIN: Duration = Duration::from_secs(5);

    const SHORTEST_ANSWER_WITHIN: Duration = Duration::from_millis(100);

    pub(super) fn new(store: Arc<dyn Store>, keys: Keyring) -> Self {
        Self {
            store,
            keys,
            clock: Arc::new(SystemClock),
            wording: Wording::english(),
            max_running: Self::DEFAULT_MAX_RUNNING,
            max_waiting: Self::DEFAULT_MAX_WAITING,
            answer_within: Self::DEFAULT_ANSWER_WITHIN,
        }
    }

    /// Another clock for minting ids and setting `exp`. The store has its own.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Other texts of answers.
    #[must_use]
    pub fn with_wording(mut self, wording: Wording) -> Self {
        self.wording = wording;
        self
    }

    /// Another cap of what runs; past it a confirm is refused before its claim.
    #[must_use]
    pub const fn with_max_running(mut self, operations: usize) -> Self {
        self.max_running = operations;
        self
    }

    /// Another cap of duplicates that wait ([`with_wait`](super::GateBuilder::with_wait)); past it one is answered at
    /// once. Each asks the store two to four times a second, unless the store tells it of the end.
    #[must_use]
    pub const fn with_max_waiting(mut self, duplicates: usize) -> Self {
        self.max_waiting = duplicates;
        self
    }

    /// How long a caller waits while the store can't be asked, or can't store a result; what was begun goes on. A call
    /// that is on its way is never cut off: a claim's caller waits for its end too, which the store bounds by itself.
    #[must_use]
    pub const fn with_answer_within(mut self, limit: Duration) -> Self {
        self.answer_within = limit;
        self
    }

    /// The whole.
    ///
    /// # Errors
    ///
    /// [`ConfigError::MaxRunning`] if the cap is zero, or beyond what can be counted;
    /// [`ConfigError::AnswerWithinTooShort`].
    pub fn build(self) -> Result<Counterfoil, ConfigError> {
        let (answer_within, shortest) = (self.answer_within, Self::SHORTEST_ANSWER_WITHIN);
        if answer_within < shortest {
            return Err(ConfigError::AnswerWithinTooShort {
                answer_within,
                shortest,
            });
        }
        let (asked, most) = (self.max_running, Semaphore::MAX_PERMITS);
        if !(1..=most).contains(&asked) {
            return Err(ConfigError::MaxRunning { asked, most });
        }
        Ok(self.assemble())
    }

    pub(super) fn assemble(self) -> Counterfoil {
        // More than can be counted is as good as no cap.
        let max_waiting = self.max_waiting.min(Semaphore::MAX_PERMITS);
        Counterfoil {
            shared: Arc::new(Shared {
                store: self.store,
                keys: RwLock::new(Arc::new(self.keys)),
                clock: self.clock,
                wording: Arc::new(self.wording),
                answer_within: self.answer_within,
                tasks: TaskTracker::new(),
                draining: CancellationToken::new(),
                permits: Arc::new(Semaphore::new(self.max_running)),
                max_running: self.max_running,
                waiters: Arc::new(Semaphore::new(max_waiting)),
                max_waiting,
                facts: Mutex::default(),
            }),
        }
    }
}

impl fmt::Debug for CounterfoilBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CounterfoilBuilder")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
