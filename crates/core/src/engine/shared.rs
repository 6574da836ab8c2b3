//! What all parts of a process share, and the places among what runs.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};
use tracing::Instrument;

use super::{ConfigError, LeaseTime, run::lock, security};
use crate::{
    Clock, Scope, Subject,
    answer::{Answer, Status, Wording},
    fingerprint::{FingerprintError, Keyring, Opened},
    store::Store,
};

/// What all parts of a process share.
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) keys: RwLock<Arc<Keyring>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) wording: Arc<Wording>,
    pub(super) answer_within: Duration,
    pub(super) tasks: TaskTracker,
    pub(super) draining: CancellationToken,
    pub(super) permits: Arc<Semaphore>,
    pub(super) max_running: usize,
    pub(super) waiters: Arc<Semaphore>,
    pub(super) max_waiting: usize,
    pub(super) facts: Mutex<HashMap<Scope, Facts>>,
}

/// What is known of a scope's gate where only the scope is at hand.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    /// `None` where no gate of this process says how long a missing record would have been kept.
    pub(super) retention: Option<Duration>,
    pub(super) poll_after: Option<Duration>,
    pub(super) max_run: Duration,
}

impl Shared {
    pub(super) fn keys(&self) -> Arc<Keyring> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Of a scope without a gate in this process (an older version's, another service's), what is safe to assume.
    pub(super) fn facts(&self, scope: &Scope) -> Facts {
        lock(&self.facts).get(scope).copied().unwrap_or(Facts {
            retention: None,
            poll_after: None,
            max_run: LeaseTime::default().max_run(),
        })
    }

    pub(super) fn register(&self, scope: &Scope, facts: Facts) -> Result<(), ConfigError> {
        let mut all = lock(&self.facts);
        if all.contains_key(scope) {
            return Err(ConfigError::ScopeTaken(scope.clone()));
        }
        all.insert(scope.clone(), facts);
        Ok(())
    }

    /// A place among what runs, or the answer that there is none.
    pub(super) fn admit(&self) -> Result<Admission, Answer> {
        // Counted first: whoever is not yet seen by a drain sees that it has begun.
        let token = self.tasks.token();
        if self.draining.is_cancelled() {
            return Err(Answer::new(Status::Unavailable));
        }
        match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => Ok(Admission {
                _permit: permit,
                _token: token,
            }),
            Err(_) => Err(Answer::new(Status::OverCapacity)),
        }
    }

    /// A task that [`Counterfoil::drain`](super::Counterfoil::drain) waits for, in the current span.
    pub(super) fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.tasks.spawn(task.in_current_span());
    }

    /// Shape, key, tag, payload; then subject and, where it is known, scope.
    pub(super) fn open(
        &self,
        subject: &Subject,
        scope: Option<&Scope>,
        fingerprint: &[u8],
    ) -> Result<Opened, Answer> {
        let opened = match self.keys().open(fingerprint) {
            Ok(opened) => opened,
            Err(FingerprintError::Mistyped) => {
                return Err(Answer::new(Status::FingerprintMistyped));
            }
            Err(FingerprintError::Invalid(cause)) => {
                security::invalid_fingerprint(cause, subject, scope);
                return Err(Answer::new(Status::FingerprintInvalid));
            }
        };
        let terms = opened.terms();
        if terms
            .check_caller(subject, scope.unwrap_or_else(|| terms.scope()))
            .is_err()
        {
            security::foreign_fingerprint(&opened, subject, scope);
            return Err(Answer::new(Status::FingerprintInvalid));
        }
        Ok(opened)
    }
}

/// A place among what runs, held for as long as it runs. Draining waits for it.
pub struct Admission {
    _permit: OwnedSemaphorePermit,
    _token: TaskTrackerToken,
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Admission")
    }
}
