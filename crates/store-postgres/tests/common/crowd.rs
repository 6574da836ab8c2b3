//! A store whose claims and completions always share a statement.

use async_trait::async_trait;
use counterfoil_core::{
    Epoch, OperationId, Owner,
    lifecycle::{Seen, State},
    store::{
        Acquire, Acquired, Annotated, Annotation, Cancellation, Cancelled, Capabilities, Completed,
        Completion, Decided, Decision, FenceRequest, Fenced, Lease, Listing, Page, Proposal,
        Proposed, Receipt, Received, Released, Renewed, Resolution, Resolved, Sighting, Store,
        StoreError, Watch,
    },
};
use counterfoil_store_postgres::{PostgresStore, PostgresStoreBuilder};

/// Asks two other things before each claim and each completion. The first takes the only statement, so that the second
/// and what was meant wait, and go out together. Neither of the two leaves a trace.
#[derive(Debug)]
pub(crate) struct Crowd(PostgresStore);

impl Crowd {
    pub(crate) async fn connect(builder: PostgresStoreBuilder) -> Self {
        let store = builder.with_statements_at_once(1).connect().await;
        Self(store.expect("it is fit for it"))
    }
}

/// An id that nobody uses, in the same table.
fn neighbour(id: OperationId) -> OperationId {
    match id.minted_at() {
        Some(then) => OperationId::mint(then),
        None => loop {
            let random = OperationId::from_bytes(*Owner::mint().as_bytes());
            if random.minted_at().is_none() {
                break random;
            }
        },
    }
}

#[async_trait]
impl Store for Crowd {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        let seen = Seen {
            state: State::Released,
            epoch: Epoch::from_u64(1),
        };
        let [before, beside] = [(), ()].map(|()| {
            let mut other = request.clone().with_seen(seen);
            other.id = neighbour(request.id);
            other.claim.exp = None;
            other.claim.needs_approval = false;
            other.guards.clear();
            other
        });
        let (_, other, meant) = tokio::join!(
            self.0.acquire(&before),
            self.0.acquire(&beside),
            self.0.acquire(request)
        );
        if request.guards.is_empty() && meant.is_ok() {
            assert!(matches!(other, Ok(Acquired::Gone)), "{other:?}");
        }
        meant
    }

    async fn complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        let [before, beside] = [(), ()].map(|()| Lease {
            id: neighbour(held.id),
            ..*held
        });
        let (_, other, meant) = tokio::join!(
            self.0.complete(&before, completion),
            self.0.complete(&beside, completion),
            self.0.complete(held, completion)
        );
        if meant.is_ok() {
            assert!(matches!(other, Ok(Completed::NotOwner)), "{other:?}");
        }
        meant
    }

    async fn renew(&self, held: &Lease, lease: std::time::Duration) -> Result<Renewed, StoreError> {
        self.0.renew(held, lease).await
    }

    async fn release(&self, held: &Lease) -> Result<Released, StoreError> {
        self.0.release(held).await
    }

    async fn annotate(&self, held: &Lease, note: &Annotation) -> Result<Annotated, StoreError> {
        self.0.annotate(held, note).await
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
        self.0.find(id).await
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
