//! The trait.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;

use super::{
    Acquire, Acquired, Annotated, Annotation, Cancellation, Cancelled, Capabilities, Completed,
    Completion, Decided, Decision, FenceRequest, Fenced, Lease, Listing, Page, Proposal, Proposed,
    Receipt, Received, Released, Renewed, Resolution, Resolved, Sighting, StoreError, Watch,
};
use crate::OperationId;

/// Keeps the records of operations, and moves them as [`lifecycle`](crate::lifecycle) says.
///
/// Implemented by the stores of this project, and by anybody: `counterfoil-testkit` has the suite that an
/// implementation must pass, and the lockstep that holds its answers and records to those of the in-memory store. The
/// contract:
///
/// 1. **Atomic.** Of any number of concurrent acquires for one id, exactly one is [`Acquired::Claimed`]. No caller ever
///    sees nothing: it gets the claim or the record.
/// 2. **Idempotent for one owner.** A reply can be lost and the call sent again: acquire by the owner that holds it is
///    `Claimed` with the same epoch, and its lease begins anew; complete with the same owner, epoch and completion is
///    `Completed`, release by the same owner and epoch is `Released`.
/// 3. **Subject, scope and hash are compared inside acquire**, in every state, terminal ones too.
/// 4. **One clock**, the store's, decides `exp`, leases and retention. A caller's clock changes nothing.
/// 5. **Compare and set on owner and epoch** for renew, complete, release and annotate; on the epoch for receipts, fences
///    and resolutions. What a lost owner says is kept as [evidence](super::Evidence).
/// 6. **Errors say what is known**, by [`StoreErrorKind`](super::StoreErrorKind). A store that can't tell whether a
///    write was applied says `Indeterminate`. The engine asks again with the same owner.
/// 7. **Bounded waits.** Every call ends in a time of the store's own, also against a dead or frozen server.
/// 8. **Retention.** Only terminal and RELEASED records are dropped, and no sooner than
///    [`Record::purge_at`](super::Record::purge_at). IN_FLIGHT, ACCEPTED, UNKNOWN and open approvals stay until they end.
/// 9. **A unique violation is an answer**, not an outage.
/// 10. **The record's key is the operation id**, so that a rotation of signing keys finds the same record.
/// 11. **Reads that decide go where writes go**, never to a replica.
///
/// Cancellation: a call whose future is dropped may have been applied, wholly or not at all. The engine never drops a
/// claim or a completion on its way.
///
/// No method has a default body, so that a wrapper can't forget one.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// What this store can do. Constant for a store's life.
    fn capabilities(&self) -> Capabilities;

    /// Claims an operation, or tells what stands.
    ///
    /// # Errors
    ///
    /// `NotApplied`: surely not claimed (out of reach, full). `Indeterminate`: ask again with the same owner; never
    /// treat it as free to run, nor as taken. `Corrupt`, `Forgotten`: the outcome is unknown.
    async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError>;

    /// Makes a running lease last at least `lease` from the store's now.
    ///
    /// # Errors
    ///
    /// Any kind; the lease may or may not have been renewed.
    async fn renew(&self, held: &Lease, lease: Duration) -> Result<Renewed, StoreError>;

    /// Writes down how a run ended. Also after the lease lapsed, as long as nobody took the epoch.
    ///
    /// # Errors
    ///
    /// `Indeterminate`: send it again; never turn it into FAILED or a release.
    async fn complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError>;

    /// Says that this attempt did nothing. The record stays, with its epoch.
    ///
    /// # Errors
    ///
    /// `Indeterminate`: send it again.
    async fn release(&self, held: &Lease) -> Result<Released, StoreError>;

    /// Notes downstream's reference or the document's number, durable when it returns.
    ///
    /// # Errors
    ///
    /// Any kind; it may or may not be on record.
    async fn annotate(&self, held: &Lease, note: &Annotation) -> Result<Annotated, StoreError>;

    /// Ends an accepted operation by downstream's receipt.
    ///
    /// # Errors
    ///
    /// `Indeterminate`: send it again.
    async fn receive(&self, receipt: &Receipt) -> Result<Received, StoreError>;

    /// Takes the epoch of an unknown operation for reconciling.
    ///
    /// # Errors
    ///
    /// `Indeterminate`: ask again with the same owner.
    async fn fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError>;

    /// Settles an unknown operation.
    ///
    /// # Errors
    ///
    /// `Indeterminate`: look before sending it again.
    async fn resolve(&self, resolution: &Resolution) -> Result<Resolved, StoreError>;

    /// Stores an operation that waits for a person.
    ///
    /// # Errors
    ///
    /// `Misuse` where [`Capabilities::approvals`] is false.
    async fn propose(&self, proposal: &Proposal) -> Result<Proposed, StoreError>;

    /// Writes down a person's decision.
    ///
    /// # Errors
    ///
    /// `Misuse` where [`Capabilities::approvals`] is false.
    async fn decide(&self, decision: &Decision) -> Result<Decided, StoreError>;

    /// Calls an operation off before it runs, or leaves a tombstone.
    ///
    /// # Errors
    ///
    /// `Indeterminate`: send it again.
    async fn cancel(&self, cancellation: &Cancellation) -> Result<Cancelled, StoreError>;

    /// Reads a record.
    ///
    /// # Errors
    ///
    /// `Forgotten`: the store can't say that there is none. `Corrupt`: there is one, and it can't be read.
    async fn find(&self, id: OperationId) -> Result<Sighting, StoreError>;

    /// Lists records in a state, for operators and sweepers.
    ///
    /// # Errors
    ///
    /// Any kind.
    async fn list(&self, listing: &Listing) -> Result<Page, StoreError>;

    /// Drops up to `limit` records whose time is over; returns how many.
    ///
    /// # Errors
    ///
    /// Any kind; some may have been dropped.
    async fn purge(&self, limit: usize) -> Result<usize, StoreError>;

    /// Begins to watch a record: changes from this call on may be told. For whoever waits for another's result, and
    /// reads the record again when it is told, or when a while has passed; [`Watch::silent`] is a valid answer.
    fn watch(&self, id: OperationId) -> Watch;
}

const _: fn(&dyn Store) = |_| {};

/// So that a test can keep a handle to the store that it hands over.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<S: Store + ?Sized> Store for Arc<S> {
    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }
    async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        (**self).acquire(request).await
    }
    async fn renew(&self, held: &Lease, lease: Duration) -> Result<Renewed, StoreError> {
        (**self).renew(held, lease).await
    }
    async fn complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        (**self).complete(held, completion).await
    }
    async fn release(&self, held: &Lease) -> Result<Released, StoreError> {
        (**self).release(held).await
    }
    async fn annotate(&self, held: &Lease, note: &Annotation) -> Result<Annotated, StoreError> {
        (**self).annotate(held, note).await
    }
    async fn receive(&self, receipt: &Receipt) -> Result<Received, StoreError> {
        (**self).receive(receipt).await
    }
    async fn fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
        (**self).fence(request).await
    }
    async fn resolve(&self, resolution: &Resolution) -> Result<Resolved, StoreError> {
        (**self).resolve(resolution).await
    }
    async fn propose(&self, proposal: &Proposal) -> Result<Proposed, StoreError> {
        (**self).propose(proposal).await
    }
    async fn decide(&self, decision: &Decision) -> Result<Decided, StoreError> {
        (**self).decide(decision).await
    }
    async fn cancel(&self, cancellation: &Cancellation) -> Result<Cancelled, StoreError> {
        (**self).cancel(cancellation).await
    }
    async fn find(&self, id: OperationId) -> Result<Sighting, StoreError> {
        (**self).find(id).await
    }
    async fn list(&self, listing: &Listing) -> Result<Page, StoreError> {
        (**self).list(listing).await
    }
    async fn purge(&self, limit: usize) -> Result<usize, StoreError> {
        (**self).purge(limit).await
    }
    fn watch(&self, id: OperationId) -> Watch {
        (**self).watch(id)
    }
}
