//! What all parts of one run share.

use std::{
    any::Any,
    future::Future,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
};

use tokio::{runtime::Handle, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{Disposition, LeaseTime, later, shared::Shared};
use crate::{
    Scope, Subject, Timestamp,
    store::{Fence, Lease},
};

/// One attempt, from its claim on: what it began with, and how far it is.
pub(super) struct Run {
    pub(super) shared: Arc<Shared>,
    pub(super) lease: Lease,
    pub(super) time: LeaseTime,
    /// When the claim was sent: the lease began no earlier.
    pub(super) began: Instant,
    pub(super) subject: Subject,
    pub(super) scope: Scope,
    pub(super) exp: Option<Timestamp>,
    pub(super) number: u32,
    pub(super) fences: Vec<Fence>,
    pub(super) params: Arc<dyn Any + Send + Sync>,
    pub(super) progress: Progress,
}

/// How far a run is.
pub(super) struct Progress {
    /// Until when the lease surely runs, by this process's own counting.
    pub(super) valid_until: Mutex<Instant>,
    pub(super) lease_lost: CancellationToken,
    pub(super) dirty: AtomicBool,
    pub(super) word: Mutex<Word>,
    pub(super) result_ref: Mutex<Option<String>>,
    /// The runtime that the claim was won in: its tasks outlive whoever holds the run, wherever that is dropped.
    runtime: Option<Handle>,
}

/// The handler's word.
#[derive(Default)]
pub(super) struct Word {
    pub(super) declared: Option<Disposition>,
    pub(super) closed: bool,
}

impl Progress {
    /// Of a run whose claim was sent at `began`.
    pub(super) fn since(began: Instant, time: LeaseTime) -> Self {
        Self {
            valid_until: Mutex::new(later(began, time.lease())),
            lease_lost: CancellationToken::new(),
            dirty: AtomicBool::new(false),
            word: Mutex::default(),
            result_ref: Mutex::default(),
            runtime: Handle::try_current().ok(),
        }
    }
}

impl Run {
    /// A task that draining waits for, in the current span. Without a runtime there is none: the lease lapses then.
    pub(super) fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if let Some(runtime) = &self.progress.runtime {
            self.shared.tasks.spawn_on(task.in_current_span(), runtime);
        }
    }

    pub(super) fn holds_lease(&self) -> bool {
        let until = *lock(&self.progress.valid_until);
        !self.progress.lease_lost.is_cancelled() && Instant::now() < until
    }

    /// Takes the word; from now on none is taken.
    pub(super) fn close_word(&self) -> Option<Disposition> {
        let mut word = lock(&self.progress.word);
        word.closed = true;
        word.declared
    }

    /// Whether the run's end is being written down: then a renewal that is refused is no surprise.
    pub(super) fn is_closing(&self) -> bool {
        lock(&self.progress.word).closed
    }

    pub(super) fn result_ref(&self) -> Option<String> {
        lock(&self.progress.result_ref).clone()
    }
}

/// A lock whose data is whole even if a holder panicked: each section is one assignment.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
