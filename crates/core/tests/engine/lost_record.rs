//! A run whose record the store has lost meanwhile, as one that may lose writes can.

use async_trait::async_trait;
use counterfoil_core::{
    OperationId, Scope, Subject,
    answer::{Executed, Status},
    engine::{Counterfoil, Outcome},
    fingerprint::Keyring,
    store::{
        Acquire, Acquired, Annotated, Annotation, Cancellation, Cancelled, Capabilities, Completed,
        Completion, Decided, Decision, FenceRequest, Fenced, Lease, Listing, Page, Proposal,
        Proposed, Receipt, Received, Released, Renewed, Resolution, Resolved, Sighting, Store,
        StoreError, Watch,
    },
};
use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::TokioClock;

use crate::world::{Transfer, key};

/// Gives claims, and forgets them at once.
#[derive(Debug)]
struct Loses(MemoryStore);

#[async_trait]
impl Store for Loses {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
    async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        self.0.acquire(request).await
    }
    async fn renew(&self, _: &Lease, _: std::time::Duration) -> Result<Renewed, StoreError> {
        Ok(Renewed::NotOwner)
    }
    async fn complete(&self, _: &Lease, _: &Completion) -> Result<Completed, StoreError> {
        Ok(Completed::NotOwner)
    }
    async fn release(&self, _: &Lease) -> Result<Released, StoreError> {
        Ok(Released::NotOwner)
    }
    async fn annotate(&self, _: &Lease, _: &Annotation) -> Result<Annotated, StoreError> {
        Ok(Annotated::NotOwner)
    }
    async fn receive(&self, receipt: &Receipt) -> Result<Received, StoreError> {
        self.0.receive(receipt).await
    }
    async fn fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
        self.0.fence(request).await
    }
    async fn resolve(&self, resolution: &Resolution) -> Result<Resolved, StoreError> {
        self.0.resolve(resolution).await
    }
    async fn propose(&self, proposal: &Proposal) -> Result<Proposed, StoreError> {
        self.0.propose(proposal).await
    }
    async fn decide(&self, decision: &Decision) -> Result<Decided, StoreError> {
        self.0.decide(decision).await
    }
    async fn cancel(&self, cancellation: &Cancellation) -> Result<Cancelled, StoreError> {
        self.0.cancel(cancellation).await
    }
    async fn find(&self, id: OperationId) -> Result<Sighting, StoreError> {
        let mut sighting = self.0.find(id).await?;
        sighting.record = None;
        Ok(sighting)
    }
    async fn list(&self, listing: &Listing) -> Result<Page, StoreError> {
        self.0.list(listing).await
    }
    async fn purge(&self, limit: usize) -> Result<usize, StoreError> {
        self.0.purge(limit).await
    }
    fn watch(&self, id: OperationId) -> Watch {
        self.0.watch(id)
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_in_doubt_whose_record_is_lost_is_not_told_that_nothing_started() {
    let clock = TokioClock::default();
    let store = Loses(MemoryStore::with_clock(clock));
    let counterfoil = Counterfoil::builder(store, Keyring::new(key("k1")))
        .with_clock(clock)
        .build()
        .unwrap();
    let gate = counterfoil
        .gate::<Transfer>(Scope::new("payments.transfer"))
        .build()
        .unwrap();
    let agent = Subject::new("acme", "agent-7").unwrap();
    let transfer = || {
        let (amount, to) = ("10.00".to_owned(), "acct-7".to_owned());
        gate.bind(Transfer { amount, to }).unwrap()
    };
    let preview = gate.preview(&agent, &transfer()).await.unwrap();
    let fingerprint = preview.fingerprint.as_str();
    let told = gate
        .run(&agent, fingerprint, transfer(), |_, _| async {
            Outcome::Unknown("the connection broke")
        })
        .await;
    assert_eq!(
        (told.status, told.executed),
        (Status::OutcomeUnknown, Executed::Unknown)
    );
}
