//! The trait, call by call.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use counterfoil_core::{
    OperationId, Timestamp,
    store::{
        Acquire, Acquired, Annotated, Annotation, Cache, Cancellation, Cancelled, Capabilities,
        Completed, Completion, Decided, Decision, FenceRequest, Fenced, Lease, Listing, Page,
        Proposal, Proposed, Receipt, Received, Released, Renewed, Resolution, Resolved, Sighting,
        Store, StoreError, Watch,
    },
};

use crate::front::Front;

/// Truth behind a cache. The crate's docs have the rules.
///
/// It is shared by reference, or in an `Arc`, and used inside of a tokio runtime.
pub struct TieredStore {
    truth: Arc<dyn Store>,
    front: Front,
    /// The latest time of truth's clock that was told here, in milliseconds.
    reached: AtomicU64,
}

impl TieredStore {
    /// How long a call of the cache may take: an operation waits for it before it asks truth. A cache in the same
    /// place answers within one millisecond or two, so that this is no answer any more.
    pub const DEFAULT_CACHE_LIMIT: Duration = Duration::from_millis(20);

    /// How many tasks tell the cache at a time: each holds a record with its result, and takes half a millisecond or so.
    pub const DEFAULT_MAX_TASKS: u32 = 32;

    /// `cache` in front of `truth`.
    #[must_use]
    pub fn new(truth: impl Store, cache: impl Cache) -> Self {
        let (limit, max_tasks) = (Self::DEFAULT_CACHE_LIMIT, Self::DEFAULT_MAX_TASKS);
        Self {
            truth: Arc::new(truth),
            front: Front::new(Arc::new(cache), limit, max_tasks),
            reached: AtomicU64::new(0),
        }
    }

    /// How long a call of the cache may take, in place of 20 ms.
    #[must_use]
    pub fn with_cache_limit(mut self, limit: Duration) -> Self {
        self.front.limit = limit;
        self
    }

    /// After how many failures in a row the cache is left out, and for how long, in place of three and a second. No
    /// failures counts as one.
    #[must_use]
    pub fn with_breaker(mut self, failures: u32, pause: Duration) -> Self {
        self.front = self.front.with_breaker(failures, pause);
        self
    }

    /// How many tasks may be busy with the cache behind the callers' backs, in place of 32: those that tell it, and the one
    /// that tries whether it is back after it was left out. None counts as one.
    #[must_use]
    pub fn with_max_tasks(mut self, max_tasks: u32) -> Self {
        self.front = self.front.with_max_tasks(max_tasks);
        self
    }

    /// Whether the cache is asked at present; for a health check. It is no fault of the service if it is not.
    #[must_use]
    pub fn is_cache_in_use(&self) -> bool {
        self.front.is_in_use()
    }

    /// Waits until no task of this store is busy with the cache: what was on its way when this was called has arrived or
    /// was given up. Each task is one call of the cache, which ends within its time. For tests, and for a process that
    /// ends.
    ///
    /// What other calls begin while this waits is left out as if there were no room: a copy or a piece of news that the
    /// cache doesn't get, and no answer that changes. Afterwards all goes on as before.
    ///
    /// Cancellation: it may be dropped at any time.
    pub async fn settled(&self) {
        self.front.settled().await;
    }

    fn reached(&self, now: Timestamp) {
        self.reached.fetch_max(now.unix_ms(), Ordering::Relaxed);
    }

    /// A time that truth's clock has surely reached. Nothing that is read of a terminal record depends on the time.
    fn surely_reached(&self, by_record: Timestamp) -> Timestamp {
        let told = Timestamp::from_unix_ms(self.reached.load(Ordering::Relaxed));
        told.max(by_record)
    }
}

impl fmt::Debug for TieredStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TieredStore")
            .field("truth", &self.truth)
            .field("front", &self.front)
            .finish_non_exhaustive()
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Store for TieredStore {
    fn capabilities(&self) -> Capabilities {
        self.truth.capabilities()
    }

    async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        if let Some(copy) = self.front.look(request.id).await
            && copy.check(&request.identity).is_ok()
        {
            return Ok(Acquired::Found(copy));
        }
        let acquired = self.truth.acquire(request).await?;
        if let Acquired::Found(record) = &acquired {
            self.front.fill(record);
        }
        Ok(acquired)
    }

    async fn renew(&self, held: &Lease, lease: Duration) -> Result<Renewed, StoreError> {
        self.truth.renew(held, lease).await
    }

    async fn complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        let completed = self.truth.complete(held, completion).await?;
        match completed {
            Completed::Completed | Completed::InDoubt => self.front.announce(held.id),
            Completed::NotOwner => self.front.refresh(&*self.truth, held.id).await,
        }
        Ok(completed)
    }

    async fn release(&self, held: &Lease) -> Result<Released, StoreError> {
        let released = self.truth.release(held).await?;
        if matches!(released, Released::Released | Released::InDoubt) {
            self.front.announce(held.id);
        }
        Ok(released)
    }

    async fn annotate(&self, held: &Lease, note: &Annotation) -> Result<Annotated, StoreError> {
        self.truth.annotate(held, note).await
    }

    async fn receive(&self, receipt: &Receipt) -> Result<Received, StoreError> {
        let received = self.truth.receive(receipt).await?;
        match received {
            Received::Received | Received::InDoubt => self.front.announce(receipt.id),
            Received::NotOwner => self.front.refresh(&*self.truth, receipt.id).await,
            Received::Absent => {}
        }
        Ok(received)
    }

    async fn fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
        let fenced = self.truth.fence(request).await?;
        if matches!(fenced, Fenced::Fenced(_)) {
            self.front.announce(request.id);
        }
        Ok(fenced)
    }

    async fn resolve(&self, resolution: &Resolution) -> Result<Resolved, StoreError> {
        let resolved = self.truth.resolve(resolution).await?;
        if matches!(resolved, Resolved::Resolved(_)) {
            self.front.announce(resolution.id);
        }
        Ok(resolved)
    }

    async fn propose(&self, proposal: &Proposal) -> Result<Proposed, StoreError> {
        self.truth.propose(proposal).await
    }

    async fn decide(&self, decision: &Decision) -> Result<Decided, StoreError> {
        let decided = self.truth.decide(decision).await?;
        if matches!(decided, Decided::Decided(_)) {
            self.front.announce(decision.id);
        }
        Ok(decided)
    }

    async fn cancel(&self, cancellation: &Cancellation) -> Result<Cancelled, StoreError> {
        let cancelled = self.truth.cancel(cancellation).await?;
        if matches!(cancelled, Cancelled::Cancelled(_)) {
            self.front.announce(cancellation.id);
        }
        Ok(cancelled)
    }

    async fn find(&self, id: OperationId) -> Result<Sighting, StoreError> {
        if let Some(copy) = self.front.look(id).await {
            let now = self.surely_reached(copy.updated);
            return Ok(Sighting {
                record: Some(*copy),
                now,
            });
        }
        let sighting = self.truth.find(id).await?;
        self.reached(sighting.now);
        if let Some(record) = &sighting.record {
            self.front.fill(record);
        }
        Ok(sighting)
    }

    async fn list(&self, listing: &Listing) -> Result<Page, StoreError> {
        self.truth.list(listing).await
    }

    async fn purge(&self, limit: usize) -> Result<usize, StoreError> {
        self.truth.purge(limit).await
    }

    fn watch(&self, id: OperationId) -> Watch {
        let truth = self.truth.watch(id);
        let Some(cache) = self.front.watch(id) else {
            return truth;
        };
        Watch::new(async move {
            tokio::select! {
                () = truth => {}
                () = cache => {}
            }
        })
    }
}
