//! The task that keeps a client connected.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fred::{
    clients::Client,
    error::Error,
    interfaces::{ClientLike, EventInterface},
};
use tokio::{sync::Notify, task::JoinHandle, time::sleep};

use super::lock;

/// What the link and its task tell each other.
pub(super) struct State {
    broken: Notify,
    /// How many connections were to be dropped.
    dropped: AtomicU64,
    /// The same as it was when the client last began to connect; `NONE` while it does not.
    standing: AtomicU64,
    last_error: Mutex<Option<Error>>,
}

const NONE: u64 = u64::MAX;

impl State {
    pub(super) fn new() -> Self {
        Self {
            broken: Notify::new(),
            dropped: AtomicU64::new(0),
            standing: AtomicU64::new(NONE),
            last_error: Mutex::default(),
        }
    }

    /// Which connection a call that begins now goes over.
    pub(super) fn connection(&self) -> u64 {
        self.dropped.load(Ordering::SeqCst)
    }

    /// Whether none is about to be dropped.
    pub(super) fn stands(&self) -> bool {
        self.standing.load(Ordering::SeqCst) == self.connection()
    }

    /// Has a connection dropped, with all that is on its way, and another made; once, however many calls ask for it.
    pub(super) fn drop_connection(&self, which: u64) {
        let one_more =
            self.dropped
                .compare_exchange(which, which + 1, Ordering::SeqCst, Ordering::SeqCst);
        if one_more.is_ok() {
            self.broken.notify_one();
        }
    }

    pub(super) fn last_error(&self) -> Option<Error> {
        lock(&self.last_error).clone()
    }
}

/// Runs the client's own task, and starts it again where it ends, as it does on errors that it takes for final.
pub(super) async fn keep_connected(client: Client, state: Arc<State>) {
    let mut errors = client.error_rx();
    loop {
        let dropped = state.dropped.load(Ordering::SeqCst);
        let mut running = AbortOnDrop(client.connect());
        state.standing.store(dropped, Ordering::SeqCst);
        let pause = loop {
            tokio::select! {
                ended = &mut running.0 => {
                    if let Ok(Err(error)) = ended {
                        *lock(&state.last_error) = Some(error);
                    }
                    break Duration::from_secs(1);
                }
                () = state.broken.notified() => break Duration::ZERO,
                Ok((error, _)) = errors.recv() => *lock(&state.last_error) = Some(error),
            }
        };
        state.standing.store(NONE, Ordering::SeqCst);
        running.end().await;
        sleep(pause).await;
    }
}

/// A task that ends with its handle.
pub(crate) struct AbortOnDrop<T = ()>(pub(crate) JoinHandle<T>);

impl<T> AbortOnDrop<T> {
    async fn end(mut self) {
        self.0.abort();
        if !self.0.is_finished() {
            let _ = (&mut self.0).await;
        }
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
