//! A cache in a map, which can be told to do what caches do: lose, roll back, hang, fail, be slow, and lie.

#![allow(dead_code, reason = "each test crate uses a part of it")]

mod wild;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use counterfoil_core::{
    Clock, OperationId,
    store::{Cache, Record, Store, StoreError, StoreErrorKind, Watch},
};
use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{Flaky, Gate, ManualClock};
use tokio::sync::Notify;

/// Clones are the same cache.
#[derive(Clone, Debug)]
pub(crate) struct MapCache {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    clock: ManualClock,
    truth: Flaky,
    copies: Mutex<HashMap<OperationId, Record>>,
    mood: Mutex<Mood>,
    lie: Mutex<Option<Record>>,
    changes: Mutex<HashMap<OperationId, Arc<Notify>>>,
    announced: Mutex<Vec<OperationId>>,
    /// What it was told that truth did not have.
    early: Mutex<Vec<Record>>,
    /// Where a wild one rolls back to, and what it does next.
    saved: Mutex<HashMap<OperationId, Record>>,
    dice: Mutex<u64>,
    gets: AtomicUsize,
    puts: AtomicUsize,
}

/// What becomes of its calls.
#[derive(Clone, Debug)]
pub(crate) enum Mood {
    Well,
    Fails,
    FailsReads,
    Hangs,
    Slow(Duration),
    /// Puts wait here, reads do not.
    HoldsPuts(Gate),
    /// Each read may find it flushed, rolled back, failing, frozen, or mixed up.
    Wild,
}

impl MapCache {
    /// A cache that checks that truth was first: whatever it is given, `truth` must have on record.
    pub(crate) fn new(clock: ManualClock, truth: Flaky) -> Self {
        Self {
            inner: Arc::new(Inner {
                clock,
                truth,
                copies: Mutex::default(),
                mood: Mutex::new(Mood::Well),
                lie: Mutex::default(),
                changes: Mutex::default(),
                announced: Mutex::default(),
                early: Mutex::default(),
                saved: Mutex::default(),
                dice: Mutex::new(7),
                gets: AtomicUsize::new(0),
                puts: AtomicUsize::new(0),
            }),
        }
    }

    pub(crate) fn be(&self, mood: Mood) {
        *self.inner.mood.lock().unwrap() = mood;
    }

    /// Every read gets this, whatever it asks for.
    pub(crate) fn lie(&self, record: Option<Record>) {
        *self.inner.lie.lock().unwrap() = record;
    }

    pub(crate) fn flush(&self) {
        self.copies().clear();
    }

    pub(crate) fn copies(&self) -> MutexGuard<'_, HashMap<OperationId, Record>> {
        self.inner.copies.lock().unwrap()
    }

    pub(crate) fn gets(&self) -> usize {
        self.inner.gets.load(Ordering::SeqCst)
    }

    pub(crate) fn puts(&self) -> usize {
        self.inner.puts.load(Ordering::SeqCst)
    }

    /// What was announced so far; the list starts anew.
    pub(crate) fn announced(&self) -> Vec<OperationId> {
        std::mem::take(&mut self.inner.announced.lock().unwrap())
    }

    /// Holds that truth was told before the cache each time, and of what has ended only.
    pub(crate) fn assert_told_after_truth(&self) {
        let early = self.inner.early.lock().unwrap();
        assert!(early.is_empty(), "told before truth: {early:?}");
    }

    async fn check(&self, record: &Record) {
        let stands = self.inner.truth.inner().find(record.id).await;
        let mut stands = stands.ok().and_then(|sighting| sighting.record);
        if let Some(stands) = &mut stands {
            stands.evidence.clone_from(&record.evidence);
        }
        if stands.as_ref() != Some(record) || !record.life.state.is_terminal() {
            self.inner.early.lock().unwrap().push(record.clone());
        }
    }

    async fn live(&self, reads: bool) -> Result<(), StoreError> {
        let mood = self.inner.mood.lock().unwrap().clone();
        match mood {
            Mood::Well | Mood::HoldsPuts(_) | Mood::Wild => Ok(()),
            Mood::FailsReads if !reads => Ok(()),
            Mood::Fails | Mood::FailsReads => Err(StoreError::new(
                StoreErrorKind::Indeterminate,
                "the cache was told to fail",
            )),
            Mood::Hangs => std::future::pending().await,
            Mood::Slow(by) => {
                tokio::time::sleep(by).await;
                Ok(())
            }
        }
    }

    fn change(&self, id: OperationId) -> Arc<Notify> {
        let mut changes = self.inner.changes.lock().unwrap();
        Arc::clone(changes.entry(id).or_default())
    }
}

#[async_trait]
impl Cache for MapCache {
    async fn get(&self, id: OperationId) -> Result<Option<Box<Record>>, StoreError> {
        self.inner.gets.fetch_add(1, Ordering::SeqCst);
        self.live(true).await?;
        if let Some(lie) = self.inner.lie.lock().unwrap().clone() {
            return Ok(Some(Box::new(lie)));
        }
        if matches!(*self.inner.mood.lock().unwrap(), Mood::Wild) {
            return self.wild(id).await;
        }
        let now = self.inner.clock.now();
        let copy = self.copies().get(&id).cloned();
        let kept = copy.filter(|copy| copy.purge_at().is_some_and(|end| now < end));
        Ok(kept.map(Box::new))
    }

    async fn put(&self, record: &Record) -> Result<(), StoreError> {
        self.inner.puts.fetch_add(1, Ordering::SeqCst);
        self.check(record).await;
        let mood = self.inner.mood.lock().unwrap().clone();
        if let Mood::HoldsPuts(gate) = mood {
            gate.pass().await;
        }
        self.live(false).await?;
        self.copies().insert(record.id, record.clone());
        self.change(record.id).notify_waiters();
        Ok(())
    }

    async fn announce(&self, id: OperationId) -> Result<(), StoreError> {
        self.live(false).await?;
        self.inner.announced.lock().unwrap().push(id);
        self.change(id).notify_waiters();
        Ok(())
    }

    fn watch(&self, id: OperationId) -> Watch {
        let changed = self.change(id).notified_owned();
        Watch::new(changed)
    }
}

/// Truth that can misbehave, and its cache.
pub(crate) fn tiers() -> (ManualClock, Flaky, MapCache) {
    let clock = ManualClock::default();
    let truth = Flaky::new(MemoryStore::with_clock(clock.clone()));
    let cache = MapCache::new(clock.clone(), truth.clone());
    (clock, truth, cache)
}
