//! Keeps a cache in trouble out of the way. It hears of reads alone: those are what callers wait for, and a cache that
//! takes what it is told and answers no reads is no help.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use tracing::{info, warn};

/// Closed it lets calls through, and counts failures in a row. Open it lets none through for a while, and then one: its
/// trial, whose end closes it or opens it for another while.
pub(crate) struct Breaker {
    failures: u32,
    pause: Duration,
    state: Mutex<State>,
}

/// A pause of which nobody sees the end: longer ones can't be added to every clock.
const LONGEST_PAUSE: Duration = Duration::from_secs(365 * 86_400);

#[derive(Clone, Copy)]
enum State {
    Closed { failed: u32 },
    Open { until: Instant },
    Trying,
}

/// What may become of a call.
pub(crate) enum Pass {
    Go,
    Try(Trial),
    Stop,
}

/// The one call that tries whether the cache is back. Dropped without a word, as by a runtime that ends, it has failed.
pub(crate) struct Trial {
    breaker: Arc<Breaker>,
    came_back: bool,
}

impl Breaker {
    pub(crate) fn new(failures: u32, pause: Duration) -> Self {
        Self {
            failures: failures.max(1),
            pause,
            state: Mutex::new(State::Closed { failed: 0 }),
        }
    }

    pub(crate) fn pass(self: &Arc<Self>) -> Pass {
        let mut state = self.state();
        match *state {
            State::Closed { .. } => Pass::Go,
            State::Open { until } if Instant::now() >= until => {
                *state = State::Trying;
                Pass::Try(Trial {
                    breaker: Arc::clone(self),
                    came_back: false,
                })
            }
            State::Open { .. } | State::Trying => Pass::Stop,
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(*self.state(), State::Closed { .. })
    }

    /// How a call that went through ended. One that began before it opened says nothing of now; the trial does.
    pub(crate) fn hear(&self, answered: bool) {
        let mut state = self.state();
        let State::Closed { failed } = &mut *state else {
            return;
        };
        *failed = if answered { 0 } else { *failed + 1 };
        if *failed >= self.failures {
            self.open(&mut state);
            drop(state);
            warn!(failures = self.failures, pause = ?self.pause, "the cache fails and is left out; truth answers alone");
        }
    }

    fn open(&self, state: &mut State) {
        *state = State::Open {
            until: Instant::now() + self.pause.min(LONGEST_PAUSE),
        };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Trial {
    pub(crate) fn ended(mut self, came_back: bool) {
        self.came_back = came_back;
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let mut state = self.breaker.state();
        if self.came_back {
            *state = State::Closed { failed: 0 };
            drop(state);
            info!("the cache answers again and is asked again");
        } else {
            self.breaker.open(&mut state);
        }
    }
}
