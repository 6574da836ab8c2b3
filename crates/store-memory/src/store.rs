//! The shards, the clock, the bound, and the trait.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use counterfoil_core::{
    Clock, OperationId, SystemClock, Timestamp,
    store::{
        Acquire, Acquired, Annotated, Annotation, Cancellation, Cancelled, Capabilities, Completed,
        Completion, Decided, Decision, FenceRequest, Fenced, Lease, Listing, Page, Proposal,
        Proposed, Receipt, Received, Record, Released, Renewed, Resolution, Resolved, Sighting,
        Store, StoreError, StoreErrorKind, Watch,
    },
};

use crate::{
    claim, finish, settle,
    shard::{IdHash, SHARDS, Shard, lock, shard_of},
    watchers,
};

/// Keeps records in memory: forgets on restart, and serves one process.
///
/// It is shared by reference, or in an `Arc`. The crate's docs say what it can't do.
pub struct MemoryStore {
    shards: Arc<[Mutex<Shard>]>,
    clock: Arc<dyn Clock>,
    birth: Timestamp,
    /// Records in all shards, never more than `capacity`.
    records: AtomicUsize,
    capacity: usize,
}

/// A listing walks all records; a page keeps it from copying all of them.
const MAX_PAGE: usize = 1_000;

/// Each new record drops up to so many whose time is over: more than one, so that a process that purges nothing else
/// does not grow.
const PURGED_PER_INSERT: usize = 2;

impl MemoryStore {
    /// How many records it holds unless told otherwise.
    pub const DEFAULT_CAPACITY: usize = 1_000_000;

    /// A store on the machine's clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(SystemClock)
    }

    /// A store on another clock, such as one that a test moves. Its birth is the clock's now.
    #[must_use]
    pub fn with_clock(clock: impl Clock) -> Self {
        let hash = IdHash::new();
        Self {
            birth: clock.now(),
            clock: Arc::new(clock),
            shards: (0..SHARDS)
                .map(|_| Mutex::new(Shard::new(hash.clone())))
                .collect(),
            records: AtomicUsize::new(0),
            capacity: Self::DEFAULT_CAPACITY,
        }
    }

    /// At most so many records; a new operation beyond them is `NotApplied`.
    #[must_use]
    pub fn with_capacity(mut self, max_records: usize) -> Self {
        self.capacity = max_records;
        self
    }

    /// How many records it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.load(Ordering::Relaxed)
    }

    /// Whether it holds no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cfg(test)]
    pub(crate) fn shards(&self) -> &[Mutex<Shard>] {
        &self.shards
    }

    fn shard(&self, id: OperationId) -> MutexGuard<'_, Shard> {
        shard_of(&self.shards, id)
    }

    /// Whether a record of this id may have been lost by a restart.
    fn check_birth(&self, id: OperationId) -> Result<(), StoreError> {
        match id.minted_at() {
            Some(minted) if minted < self.birth => Err(StoreError::new(
                StoreErrorKind::Forgotten,
                "the operation is older than the in-memory store, which forgets on restart",
            )),
            _ => Ok(()),
        }
    }

    /// Changes the record of `id`, or inserts what `make` gives if there is none.
    fn upsert<R>(
        &self,
        id: OperationId,
        change: impl Fn(&mut Record, Timestamp) -> R,
        make: impl Fn(Timestamp) -> Result<Record, R>,
        made: impl Fn(&Record, Timestamp) -> R,
    ) -> Result<R, StoreError> {
        let mut may_make_room = true;
        loop {
            let mut shard = self.shard(id);
            let now = self.clock.now();
            if let Some(answer) = shard.change(id, |record| change(record, now)) {
                return Ok(answer);
            }
            self.check_birth(id)?;
            let record = match make(now) {
                Ok(record) => record,
                Err(answer) => return Ok(answer),
            };
            self.drop_from(&mut shard, now, PURGED_PER_INSERT);
            if self.reserve() {
                let answer = made(&record, now);
                shard.insert(record);
                return Ok(answer);
            }
            drop(shard);
            if !may_make_room || self.purge_all(SHARDS) == 0 {
                return Err(StoreError::new(
                    StoreErrorKind::NotApplied,
                    "the in-memory store is full",
                ));
            }
            may_make_room = false;
        }
    }

    /// Changes the record of `id`, if there is one.
    fn update<R>(
        &self,
        id: OperationId,
        change: impl FnOnce(&mut Record, Timestamp) -> R,
    ) -> Option<R> {
        let mut shard = self.shard(id);
        let now = self.clock.now();
        shard.change(id, |record| change(record, now))
    }

    fn reserve(&self) -> bool {
        let more = |records| (records < self.capacity).then_some(records + 1);
        self.records
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    fn drop_from(&self, shard: &mut Shard, now: Timestamp, limit: usize) -> usize {
        let dropped = shard.purge(now, limit);
        self.records.fetch_sub(dropped, Ordering::Relaxed);
        dropped
    }

    fn purge_all(&self, limit: usize) -> usize {
        let mut dropped = 0;
        for shard in &*self.shards {
            let mut shard = lock(shard);
            dropped += self.drop_from(&mut shard, self.clock.now(), limit - dropped);
        }
        dropped
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

/// Counts only: records are the business of their subjects.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("records", &self.len())
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::basic(Duration::ZERO)
    }

    async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        if !request.guards.is_empty() {
            return Err(misuse("the in-memory store holds no guards"));
        }
        self.upsert(
            request.id,
            |record, now| claim::again(record, request, now),
            |now| claim::first(request, now),
            |record, _| Acquired::Claimed(claim::claimed(record, request)),
        )
    }

    async fn renew(&self, held: &Lease, lease: Duration) -> Result<Renewed, StoreError> {
        let answer = self.update(held.id, |record, now| {
            claim::renew(record, held, lease, now)
        });
        Ok(answer.unwrap_or(Renewed::NotOwner))
    }

    async fn complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        let answer = self.update(held.id, |record, now| {
            finish::complete(record, held, completion, now)
        });
        Ok(answer.unwrap_or(Completed::NotOwner))
    }

    async fn release(&self, held: &Lease) -> Result<Released, StoreError> {
        let answer = self.update(held.id, |record, now| claim::release(record, held, now));
        Ok(answer.unwrap_or(Released::NotOwner))
    }

    async fn annotate(&self, held: &Lease, note: &Annotation) -> Result<Annotated, StoreError> {
        let answer = self.update(held.id, |record, now| {
            claim::annotate(record, held, note, now)
        });
        Ok(answer.unwrap_or(Annotated::NotOwner))
    }

    async fn receive(&self, receipt: &Receipt) -> Result<Received, StoreError> {
        let answer = self.update(receipt.id, |record, now| {
            finish::receive(record, receipt, now)
        });
        Ok(answer.unwrap_or(Received::Absent))
    }

    async fn fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
        let answer = self.update(request.id, |record, now| {
            settle::fence(record, request, now)
        });
        Ok(answer.unwrap_or(Fenced::Refused(None)))
    }

    async fn resolve(&self, resolution: &Resolution) -> Result<Resolved, StoreError> {
        let answer = self.update(resolution.id, |record, now| {
            settle::resolve(record, resolution, now)
        });
        Ok(answer.unwrap_or(Resolved::Refused(None)))
    }

    async fn propose(&self, _: &Proposal) -> Result<Proposed, StoreError> {
        Err(misuse("the in-memory store keeps no approvals"))
    }

    async fn decide(&self, _: &Decision) -> Result<Decided, StoreError> {
        Err(misuse("the in-memory store keeps no approvals"))
    }

    async fn cancel(&self, cancellation: &Cancellation) -> Result<Cancelled, StoreError> {
        self.upsert(
            cancellation.id,
            |record, now| settle::cancel(record, cancellation, now),
            |now| settle::tombstone(cancellation, now),
            |record, now| Cancelled::Cancelled(claim::read(record, now)),
        )
    }

    async fn find(&self, id: OperationId) -> Result<Sighting, StoreError> {
        let shard = self.shard(id);
        let now = self.clock.now();
        let record = shard.get(id).map(|record| *claim::read(record, now));
        if record.is_none() {
            self.check_birth(id)?;
        }
        Ok(Sighting { record, now })
    }

    /// Walks every record; no state is indexed.
    async fn list(&self, listing: &Listing) -> Result<Page, StoreError> {
        let limit = listing.limit.min(MAX_PAGE);
        let mut first: BTreeMap<OperationId, Record> = BTreeMap::new();
        let mut more = false;
        for shard in &*self.shards {
            let shard = lock(shard);
            let now = self.clock.now();
            for record in shard.records() {
                if !is_listed(record, listing, now) {
                    continue;
                }
                if first.len() == limit {
                    more = true;
                    match first.last_key_value() {
                        Some((&last, _)) if record.id < last => first.pop_last(),
                        _ => continue,
                    };
                }
                first.insert(record.id, *claim::read(record, now));
            }
        }
        Ok(Page {
            records: first.into_values().collect(),
            more,
        })
    }

    async fn purge(&self, limit: usize) -> Result<usize, StoreError> {
        Ok(self.purge_all(limit))
    }

    fn watch(&self, id: OperationId) -> Watch {
        watchers::watch(&self.shards, id)
    }
}

fn is_listed(record: &Record, listing: &Listing, now: Timestamp) -> bool {
    let of_tenant = listing
        .tenant
        .as_ref()
        .is_none_or(|tenant| record.identity.subject.tenant() == tenant);
    let after = listing.after.is_none_or(|after| record.id > after);
    of_tenant && after && record.state_at(now) == listing.state
}

fn misuse(message: &'static str) -> StoreError {
    StoreError::new(StoreErrorKind::Misuse, message)
}
