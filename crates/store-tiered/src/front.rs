//! The cache as it is used here: within its time, while it works, and mostly behind the caller's back.

use std::{
    collections::HashSet,
    fmt,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use counterfoil_core::{
    OperationId,
    store::{Cache, Record, Sighting, Store, StoreError, Watch},
};
use tokio::{
    sync::{Notify, Semaphore},
    time::timeout,
};
use tracing::{debug, warn};

use crate::breaker::{Breaker, Pass};

const FAILURES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct Front {
    cache: Arc<dyn Cache>,
    pub(crate) limit: Duration,
    breaker: Arc<Breaker>,
    slots: Arc<Semaphore>,
    max_tasks: u32,
    putting: Arc<Putting>,
}

impl Front {
    pub(crate) fn new(cache: Arc<dyn Cache>, limit: Duration, max_tasks: u32) -> Self {
        Self {
            cache,
            limit,
            breaker: Arc::new(Breaker::new(FAILURES, PAUSE)),
            slots: Arc::new(Semaphore::new(max_tasks as usize)),
            max_tasks,
            putting: Arc::default(),
        }
    }

    pub(crate) fn with_breaker(self, failures: u32, pause: Duration) -> Self {
        Self {
            breaker: Arc::new(Breaker::new(failures, pause)),
            ..self
        }
    }

    /// At least one, else nobody could try whether a cache that was left out is back.
    pub(crate) fn with_max_tasks(self, max_tasks: u32) -> Self {
        let max_tasks = max_tasks.max(1);
        Self {
            slots: Arc::new(Semaphore::new(max_tasks as usize)),
            max_tasks,
            ..self
        }
    }

    /// The copy of a terminal record, if the cache has one and is worth asking.
    pub(crate) async fn look(&self, id: OperationId) -> Option<Box<Record>> {
        match self.breaker.pass() {
            Pass::Go => {
                let answered = self.call(self.cache.get(id)).await;
                self.breaker.hear(answered.is_some());
                answered?.filter(|copy| is_copy(id, copy))
            }
            Pass::Try(trial) => {
                let front = self.clone();
                self.spawn(async move {
                    let answered = front.call(front.cache.get(id)).await;
                    trial.ended(answered.is_some());
                });
                None
            }
            Pass::Stop => None,
        }
    }

    /// Leaves a copy of what truth answered, unless one is on its way already.
    pub(crate) fn fill(&self, record: &Record) {
        if !record.life.state.is_terminal() || !self.breaker.is_closed() {
            return;
        }
        let Some(turn) = self.putting.begin(record.id) else {
            return;
        };
        let (front, record) = (self.clone(), record.clone());
        self.spawn(async move {
            front.call(front.cache.put(&record)).await;
            drop(turn);
        });
    }

    /// Brings a copy up to date to which evidence was added in truth. It is waited for, so that whoever added it reads
    /// it; a completion that came too late is rare.
    pub(crate) async fn refresh(&self, truth: &dyn Store, id: OperationId) {
        if !self.breaker.is_closed() {
            return;
        }
        let Ok(_turn) = timeout(self.limit, self.putting.turn(id)).await else {
            return;
        };
        if let Ok(Sighting {
            record: Some(record),
            ..
        }) = truth.find(id).await
            && record.life.state.is_terminal()
        {
            self.call(self.cache.put(&record)).await;
        }
    }

    /// Tells watches that a record may have changed.
    pub(crate) fn announce(&self, id: OperationId) {
        if !self.breaker.is_closed() {
            return;
        }
        let front = self.clone();
        self.spawn(async move {
            front.call(front.cache.announce(id)).await;
        });
    }

    /// The cache's watch, while it is worth asking.
    pub(crate) fn watch(&self, id: OperationId) -> Option<Watch> {
        self.breaker.is_closed().then(|| self.cache.watch(id))
    }

    pub(crate) fn is_in_use(&self) -> bool {
        self.breaker.is_closed()
    }

    /// Waits until nothing is on its way to the cache. What comes meanwhile finds no room, and is left out.
    pub(crate) async fn settled(&self) {
        // An error would mean that it is closed, and nothing closes it.
        let _ = self.slots.acquire_many(self.max_tasks).await;
    }

    async fn call<T>(&self, call: impl Future<Output = Result<T, StoreError>>) -> Option<T> {
        match timeout(self.limit, call).await {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(error)) => debug!(%error, "a call of the cache failed"),
            Err(_) => debug!(limit = ?self.limit, "a call of the cache did not end in time"),
        }
        None
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
            tokio::spawn(async move {
                task.await;
                drop(slot);
            });
        } else {
            debug!("too much is on its way to the cache; this is left out");
        }
    }
}

impl fmt::Debug for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Front")
            .field("cache", &self.cache)
            .field("limit", &self.limit)
            .field("in_use", &self.is_in_use())
            .finish_non_exhaustive()
    }
}

/// Whether it is of this operation, and can't change any more. Nothing else may be in a cache.
fn is_copy(id: OperationId, record: &Record) -> bool {
    let state = record.life.state;
    let good = record.id == id && state.is_terminal();
    if !good {
        warn!(operation_id = %id, copy_of = %record.id, copy_state = state.as_str(), "the cache gave a record that it must not hold");
    }
    good
}

/// Which operations have a copy on its way: one at a time, so that an older one can't arrive after a newer one.
#[derive(Default)]
struct Putting {
    ids: Mutex<HashSet<OperationId>>,
    ended: Notify,
}

struct Turn {
    putting: Arc<Putting>,
    id: OperationId,
}

impl Putting {
    fn begin(self: &Arc<Self>, id: OperationId) -> Option<Turn> {
        self.ids().insert(id).then(|| Turn {
            putting: Arc::clone(self),
            id,
        })
    }

    async fn turn(self: &Arc<Self>, id: OperationId) -> Turn {
        loop {
            let ended = self.ended.notified();
            if let Some(turn) = self.begin(id) {
                return turn;
            }
            ended.await;
        }
    }

    fn ids(&self) -> MutexGuard<'_, HashSet<OperationId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.putting.ids().remove(&self.id);
        self.putting.ended.notify_waiters();
    }
}
