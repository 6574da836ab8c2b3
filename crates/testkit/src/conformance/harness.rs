//! What the suite needs of a store's tests: the store, and a way to let its time pass.

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use counterfoil_core::{
    OperationId, Owner, Timestamp,
    store::{
        Acquire, Acquired, Annotated, Annotation, Cancellation, Cancelled, Completed, Completion,
        FenceRequest, Fenced, Lease, Listing, Page, Receipt, Received, Released, Renewed,
        Resolution, Resolved, Sighting, Store, StoreError,
    },
};

use crate::ManualClock;

/// A store under test, and how its time passes. Clones share both.
///
/// A case ends in a panic where the store breaks the contract, also where a call gives an error or does not end in time.
///
/// ```
/// use counterfoil_store_memory::MemoryStore;
/// use counterfoil_testkit::{ManualClock, conformance::Harness};
///
/// let clock = ManualClock::default();
/// let harness = Harness::with_clock(MemoryStore::with_clock(clock.clone()), clock);
/// ```
///
/// For a server whose clock nobody can move, the time passes by sleeping, and the unit is as short as its round trips
/// allow:
///
/// ```
/// use std::time::Duration;
/// use counterfoil_testkit::conformance::Harness;
/// # let store = counterfoil_store_memory::MemoryStore::new();
///
/// let harness = Harness::new(store, tokio::time::sleep)
///     .with_unit(Duration::from_millis(400))
///     .with_tick(Duration::from_millis(100));
/// ```
#[derive(Clone)]
pub struct Harness {
    store: Arc<dyn Store>,
    advance: Arc<Advance>,
    unit: Duration,
    tick: Duration,
    call_limit: Duration,
}

type Advance = dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync;

impl Harness {
    /// A harness whose `advance` lets at least so much of the store's time pass.
    ///
    /// The store may be shared and full of others' records: cases make their own ids and tenants. Cases also claim ids
    /// that are dated up to five minutes before now, as a caller's wrong clock would; a store that judges ids by its
    /// birth must be older than that.
    #[must_use]
    pub fn new<F>(
        store: impl Store,
        advance: impl Fn(Duration) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self {
            store: Arc::new(store),
            advance: Arc::new(move |by| Box::pin(advance(by))),
            unit: Duration::from_secs(1),
            tick: Duration::from_millis(1),
            call_limit: Duration::from_secs(10),
        }
    }

    /// A harness for a store whose time is a clock that tests move. The clock is moved on by ten minutes, so that the
    /// store is old enough.
    #[must_use]
    pub fn with_clock(store: impl Store, clock: ManualClock) -> Self {
        clock.advance(Duration::from_secs(600));
        Self::new(store, move |by| {
            clock.advance(by);
            std::future::ready(())
        })
    }

    /// The shortest lease that the suite asks for: 1 s unless told otherwise. Cases let it pass up to twenty times, and
    /// a few of the store's calls must fit into half of it.
    #[must_use]
    pub fn with_unit(mut self, unit: Duration) -> Self {
        self.unit = unit;
        self
    }

    /// How close before `exp` a claim must still pass: 1 ms unless told otherwise. With a clock that moves by itself, as
    /// long as a call may take. Less than half a unit.
    #[must_use]
    pub fn with_tick(mut self, tick: Duration) -> Self {
        self.tick = tick;
        self
    }

    /// How long a single call may take: 10 s unless told otherwise.
    #[must_use]
    pub fn with_call_limit(mut self, limit: Duration) -> Self {
        self.call_limit = limit;
        self
    }

    /// The store under test.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn unit(&self) -> Duration {
        self.unit
    }

    pub(crate) fn tick(&self) -> Duration {
        self.tick
    }

    pub(crate) fn call_limit(&self) -> Duration {
        self.call_limit
    }

    pub(crate) async fn advance(&self, by: Duration) {
        (self.advance)(by).await;
    }

    /// The store's clock.
    pub(crate) async fn now(&self) -> Timestamp {
        self.find(timeless_id()).await.now
    }

    pub(crate) async fn acquire(&self, request: &Acquire) -> Acquired {
        self.ends("acquire", self.store.acquire(request)).await
    }

    pub(crate) async fn renew(&self, held: &Lease, lease: Duration) -> Renewed {
        self.ends("renew", self.store.renew(held, lease)).await
    }

    pub(crate) async fn complete(&self, held: &Lease, completion: &Completion) -> Completed {
        self.ends("complete", self.store.complete(held, completion))
            .await
    }

    pub(crate) async fn release(&self, held: &Lease) -> Released {
        self.ends("release", self.store.release(held)).await
    }

    pub(crate) async fn annotate(&self, held: &Lease, note: &Annotation) -> Annotated {
        self.ends("annotate", self.store.annotate(held, note)).await
    }

    pub(crate) async fn receive(&self, receipt: &Receipt) -> Received {
        self.ends("receive", self.store.receive(receipt)).await
    }

    pub(crate) async fn fence(&self, request: &FenceRequest) -> Fenced {
        self.ends("fence", self.store.fence(request)).await
    }

    pub(crate) async fn resolve(&self, resolution: &Resolution) -> Resolved {
        self.ends("resolve", self.store.resolve(resolution)).await
    }

    pub(crate) async fn cancel(&self, cancellation: &Cancellation) -> Cancelled {
        self.ends("cancel", self.store.cancel(cancellation)).await
    }

    pub(crate) async fn find(&self, id: OperationId) -> Sighting {
        self.ends("find", self.store.find(id)).await
    }

    pub(crate) async fn list(&self, listing: &Listing) -> Page {
        self.ends("list", self.store.list(listing)).await
    }

    pub(crate) async fn purge(&self, limit: usize) -> usize {
        self.ends("purge", self.store.purge(limit)).await
    }

    /// Awaits a call that must end in time and may not fail.
    pub(crate) async fn ends<T>(
        &self,
        name: &str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> T {
        match tokio::time::timeout(self.call_limit, call).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => panic!("{name} failed: {error} ({:?})", error.kind()),
            Err(_) => panic!("{name} did not end within {:?}", self.call_limit),
        }
    }
}

impl fmt::Debug for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness")
            .field("store", &self.store)
            .field("unit", &self.unit)
            .field("tick", &self.tick)
            .field("call_limit", &self.call_limit)
            .finish_non_exhaustive()
    }
}

/// A fresh id that carries no time, as one made from a client's key.
pub(crate) fn timeless_id() -> OperationId {
    let mut bytes = *Owner::mint().as_bytes();
    bytes[6] = 0x80 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);
    OperationId::from_bytes(bytes)
}
