//! A store that misbehaves on request.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use counterfoil_core::{
    OperationId,
    store::{
        Acquire, Acquired, Annotated, Annotation, Cancellation, Cancelled, Capabilities, Completed,
        Completion, Decided, Decision, FenceRequest, Fenced, Lease, Listing, Page, Proposal,
        Proposed, Receipt, Received, Released, Renewed, Resolution, Resolved, Sighting, Store,
        StoreError, StoreErrorKind, Watch,
    },
};
use tokio::sync::Semaphore;

/// A store around another one that loses replies, refuses calls, delays and holds them as it is told, and counts them.
/// Clones share the script and the counts.
///
/// A method's faults are used up one per call, in order; then the standing one counts, if there is one.
///
/// ```
/// use counterfoil_core::store::Store;
/// use counterfoil_testkit::{Fault, Flaky, Method};
/// # use counterfoil_core::{Clock, OperationId, SystemClock};
/// # use counterfoil_store_memory::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let flaky = Flaky::new(MemoryStore::new());
/// # let id = OperationId::mint(SystemClock.now());
/// flaky.next(Method::Find, Fault::NotApplied);
/// assert!(flaky.find(id).await.is_err());
/// assert!(flaky.find(id).await.is_ok());
/// assert_eq!(flaky.calls(Method::Find), 2);
/// # }
/// ```
#[derive(Clone)]
pub struct Flaky {
    inner: Arc<dyn Store>,
    script: Arc<Mutex<Script>>,
}

/// What happens to a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// It is applied, and its caller gets `Indeterminate`.
    ReplyLost,
    /// It never arrives, and its caller gets `Indeterminate`.
    RequestLost,
    /// It is not applied, and its caller gets `NotApplied`.
    NotApplied,
    /// It is not applied, and its caller gets an error of this kind.
    Fails(StoreErrorKind),
    /// It is applied after a while, by tokio's clock.
    Delay(Duration),
    /// It waits at the gate before it is applied.
    HoldBefore(Gate),
    /// It is applied, and its reply waits at the gate.
    HoldAfter(Gate),
    /// It panics before it is applied, as a fault in a store does.
    Panics,
    /// Nothing goes wrong: a place to skip a call in the script.
    Nothing,
}

/// What becomes of watches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Watches {
    /// The store's own.
    #[default]
    Passed,
    /// They never end: news is lost, or the store has none.
    Silent,
    /// They end at once, whether or not anything changed.
    Restless,
}

/// A method of [`Store`].
#[expect(missing_docs, reason = "each is named as the trait's method is")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Method {
    Acquire,
    Renew,
    Complete,
    Release,
    Annotate,
    Receive,
    Fence,
    Resolve,
    Propose,
    Decide,
    Cancel,
    Find,
    List,
    Purge,
}

/// A gate that calls wait at until a test opens it; once open it stays open. Clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Closed semaphores are the signals: each closes once, and wakes whoever waits for it.
    opened: Arc<Semaphore>,
    reached: Arc<Semaphore>,
}

#[derive(Default)]
struct Script {
    next: HashMap<Method, VecDeque<Fault>>,
    always: HashMap<Method, Fault>,
    calls: HashMap<Method, usize>,
    watches: Watches,
}

impl Flaky {
    /// A store that does what `inner` does until it is told otherwise.
    #[must_use]
    pub fn new(inner: impl Store) -> Self {
        Self {
            inner: Arc::new(inner),
            script: Arc::default(),
        }
    }

    /// The store inside, which no fault reaches.
    #[must_use]
    pub fn inner(&self) -> &Arc<dyn Store> {
        &self.inner
    }

    /// What happens to the next call of a method for which nothing is planned yet.
    pub fn next(&self, method: Method, fault: Fault) {
        self.script()
            .next
            .entry(method)
            .or_default()
            .push_back(fault);
    }

    /// What happens to all calls of a method for which nothing else is planned; `None` ends it.
    pub fn always(&self, method: Method, fault: Option<Fault>) {
        let mut script = self.script();
        match fault {
            Some(fault) => script.always.insert(method, fault),
            None => script.always.remove(&method),
        };
    }

    /// What happens to the next acquire.
    pub fn next_acquire(&self, fault: Fault) {
        self.next(Method::Acquire, fault);
    }

    /// What happens to the next renew.
    pub fn next_renew(&self, fault: Fault) {
        self.next(Method::Renew, fault);
    }

    /// What happens to the next complete.
    pub fn next_complete(&self, fault: Fault) {
        self.next(Method::Complete, fault);
    }

    /// What happens to the next release.
    pub fn next_release(&self, fault: Fault) {
        self.next(Method::Release, fault);
    }

    /// Whether every complete is `NotApplied` from now on.
    pub fn fail_all_completes(&self, fail: bool) {
        self.always(Method::Complete, fail.then_some(Fault::NotApplied));
    }

    /// Whether every renew is `NotApplied` from now on.
    pub fn fail_all_renews(&self, fail: bool) {
        self.always(Method::Renew, fail.then_some(Fault::NotApplied));
    }

    /// Whether every call of every method is `NotApplied` from now on: the server is down.
    pub fn fail_all(&self, fail: bool) {
        for method in Method::ALL {
            self.always(method, fail.then_some(Fault::NotApplied));
        }
    }

    /// What becomes of watches from now on.
    pub fn watches(&self, watches: Watches) {
        self.script().watches = watches;
    }

    /// How many calls of a method began, those that failed included.
    #[must_use]
    pub fn calls(&self, method: Method) -> usize {
        self.script().calls.get(&method).copied().unwrap_or(0)
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault_of_this_call(&self, method: Method) -> Fault {
        let mut script = self.script();
        *script.calls.entry(method).or_default() += 1;
        let planned = script.next.get_mut(&method).and_then(VecDeque::pop_front);
        planned
            .or_else(|| script.always.get(&method).cloned())
            .unwrap_or(Fault::Nothing)
    }

    async fn call<T>(
        &self,
        method: Method,
        call: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        match self.fault_of_this_call(method) {
            Fault::Nothing => call.await,
            Fault::ReplyLost => {
                call.await?;
                Err(error(StoreErrorKind::Indeterminate))
            }
            Fault::RequestLost => Err(error(StoreErrorKind::Indeterminate)),
            Fault::NotApplied => Err(error(StoreErrorKind::NotApplied)),
            Fault::Fails(kind) => Err(error(kind)),
            Fault::Panics => panic!("the store was told to panic"),
            Fault::Delay(by) => {
                tokio::time::sleep(by).await;
                call.await
            }
            Fault::HoldBefore(gate) => {
                gate.pass().await;
                call.await
            }
            Fault::HoldAfter(gate) => {
                let reply = call.await;
                gate.pass().await;
                reply
            }
        }
    }
}

impl fmt::Debug for Flaky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flaky")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl Method {
    /// Every method that can fail.
    pub const ALL: [Self; 14] = [
        Self::Acquire,
        Self::Renew,
        Self::Complete,
        Self::Release,
        Self::Annotate,
        Self::Receive,
        Self::Fence,
        Self::Resolve,
        Self::Propose,
        Self::Decide,
        Self::Cancel,
        Self::Find,
        Self::List,
        Self::Purge,
    ];
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self {
            opened: Arc::new(Semaphore::new(0)),
            reached: Arc::new(Semaphore::new(0)),
        }
    }

    /// Lets every call pass that waits here or comes later.
    pub fn open(&self) {
        self.opened.close();
    }

    /// Waits until a call has come to the gate.
    pub async fn reached(&self) {
        closed(&self.reached).await;
    }

    /// Waits at the gate, as a call does; for a test's own stand-ins.
    pub async fn pass(&self) {
        self.reached.close();
        closed(&self.opened).await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

async fn closed(signal: &Semaphore) {
    // It has no permits, so that nothing but its closing ends the wait.
    let _ = signal.acquire().await;
}

fn error(kind: StoreErrorKind) -> StoreError {
    StoreError::new(kind, "a fault that the test asked for")
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Store for Flaky {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }
    async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        self.call(Method::Acquire, self.inner.acquire(request))
            .await
    }
    async fn renew(&self, held: &Lease, lease: Duration) -> Result<Renewed, StoreError> {
        self.call(Method::Renew, self.inner.renew(held, lease))
            .await
    }
    async fn complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        self.call(Method::Complete, self.inner.complete(held, completion))
            .await
    }
    async fn release(&self, held: &Lease) -> Result<Released, StoreError> {
        self.call(Method::Release, self.inner.release(held)).await
    }
    async fn annotate(&self, held: &Lease, note: &Annotation) -> Result<Annotated, StoreError> {
        self.call(Method::Annotate, self.inner.annotate(held, note))
            .await
    }
    async fn receive(&self, receipt: &Receipt) -> Result<Received, StoreError> {
        self.call(Method::Receive, self.inner.receive(receipt))
            .await
    }
    async fn fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
        self.call(Method::Fence, self.inner.fence(request)).await
    }
    async fn resolve(&self, resolution: &Resolution) -> Result<Resolved, StoreError> {
        self.call(Method::Resolve, self.inner.resolve(resolution))
            .await
    }
    async fn propose(&self, proposal: &Proposal) -> Result<Proposed, StoreError> {
        self.call(Method::Propose, self.inner.propose(proposal))
            .await
    }
    async fn decide(&self, decision: &Decision) -> Result<Decided, StoreError> {
        self.call(Method::Decide, self.inner.decide(decision)).await
    }
    async fn cancel(&self, cancellation: &Cancellation) -> Result<Cancelled, StoreError> {
        self.call(Method::Cancel, self.inner.cancel(cancellation))
            .await
    }
    async fn find(&self, id: OperationId) -> Result<Sighting, StoreError> {
        self.call(Method::Find, self.inner.find(id)).await
    }
    async fn list(&self, listing: &Listing) -> Result<Page, StoreError> {
        self.call(Method::List, self.inner.list(listing)).await
    }
    async fn purge(&self, limit: usize) -> Result<usize, StoreError> {
        self.call(Method::Purge, self.inner.purge(limit)).await
    }

    fn watch(&self, id: OperationId) -> Watch {
        let watches = self.script().watches;
        match watches {
            Watches::Passed => self.inner.watch(id),
            Watches::Silent => Watch::silent(),
            Watches::Restless => Watch::new(std::future::ready(())),
        }
    }
}
