//! The store, and the trait.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use counterfoil_core::{
    OperationId,
    store::{
        Acquire, Acquired, Annotated, Annotation, Cancellation, Cancelled, Capabilities, Completed,
        Completion, Decided, Decision, FenceRequest, Fenced, Lease, Listing, Page, Proposal,
        Proposed, Receipt, Received, Released, Renewed, Resolution, Resolved, Sighting, Store,
        StoreError, Watch,
    },
};

use crate::{
    DroppedDays,
    calls::{acquire, drop_days, finish, owner, purge, query, settle},
    database::Database,
    failure::misuse,
    lanes::Lanes,
    machine::Machines,
    template::SchemaName,
};

/// Keeps records in Postgres. Cheap to clone: clones share the pool.
///
/// Made by [`PostgresStore::builder`]. Cancellation: a call whose future is dropped may have been applied; its connection
/// is used again once the server has ended the statement, and not before.
#[derive(Clone)]
pub struct PostgresStore {
    pub(crate) database: Arc<Database>,
    pub(crate) machines: Arc<Machines>,
    pub(crate) lanes: Lanes,
    pub(crate) progress: Arc<purge::Progress>,
    pub(crate) schema: SchemaName,
    pub(crate) commit_delay: Duration,
}

impl PostgresStore {
    /// Drops the oldest day whose records are past their time, whole: at most one in a call.
    ///
    /// Nobody waits while a day is judged: an index of the records that have to stay is built beside all calls. Then all
    /// calls wait for some milliseconds, in which those records move to the default partition, and stay what they are. A
    /// day with more than 1,000 of them, or with 4 MiB of results in them, is left, and this process looks at it again
    /// after ten minutes.
    ///
    /// A day is left too, and tried again after most of a minute, where another process is at it, where a transaction
    /// that stays open has touched the store's tables or keeps the index from being finished, and where the time is over:
    /// [`with_scan`](crate::PostgresStoreBuilder::with_scan) is the limit of all of a call. For the lock on all calls it
    /// tries five times, for 100 ms at most, and new calls queue behind each try.
    ///
    /// # Errors
    ///
    /// As for any call of the store. A day is dropped wholly or not at all.
    ///
    /// # Cancellation
    ///
    /// If the future is dropped, the day may have been dropped, or an index of it been left, which the next call uses or
    /// clears up. Calling again is harmless.
    pub async fn drop_days(&self) -> Result<DroppedDays, StoreError> {
        drop_days::drop_days(&self.database, &self.machines, &self.progress.days).await
    }
}

/// Counts only: no host, no user, no password.
impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.database.status();
        f.debug_struct("PostgresStore")
            .field("schema", &self.schema.as_str())
            .field("connections", &status.size)
            .field("max_connections", &status.max_size)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::basic(self.commit_delay)
    }

    /// A claim that has to write what another transaction has written and not committed waits for that one, up to half a
    /// second. Then it is told what stood before it, or `NotApplied` where that would be no answer.
    async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        acquire::check(request)?;
        self.lanes.acquire(request).await
    }

    async fn renew(&self, held: &Lease, lease: Duration) -> Result<Renewed, StoreError> {
        owner::renew(&self.database, self.machines.of(held.id), held, lease).await
    }

    async fn complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        self.lanes.complete(held, completion).await
    }

    async fn release(&self, held: &Lease) -> Result<Released, StoreError> {
        owner::release(&self.database, self.machines.of(held.id), held).await
    }

    async fn annotate(&self, held: &Lease, note: &Annotation) -> Result<Annotated, StoreError> {
        owner::annotate(&self.database, self.machines.of(held.id), held, note).await
    }

    async fn receive(&self, receipt: &Receipt) -> Result<Received, StoreError> {
        finish::receive(&self.database, self.machines.of(receipt.id), receipt).await
    }

    async fn fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
        settle::fence(&self.database, self.machines.of(request.id), request).await
    }

    async fn resolve(&self, resolution: &Resolution) -> Result<Resolved, StoreError> {
        settle::resolve(&self.database, self.machines.of(resolution.id), resolution).await
    }

    async fn propose(&self, _: &Proposal) -> Result<Proposed, StoreError> {
        Err(misuse("the Postgres store keeps no approvals"))
    }

    async fn decide(&self, _: &Decision) -> Result<Decided, StoreError> {
        Err(misuse("the Postgres store keeps no approvals"))
    }

    async fn cancel(&self, cancellation: &Cancellation) -> Result<Cancelled, StoreError> {
        let machine = self.machines.of(cancellation.id);
        settle::cancel(&self.database, machine, cancellation).await
    }

    async fn find(&self, id: OperationId) -> Result<Sighting, StoreError> {
        query::find(&self.database, self.machines.of(id), id).await
    }

    /// Walks both tables along their primary keys: no state is indexed, since that would make every completion dearer. A page
    /// has at most 1,000 records, and ends early after 4 MiB of results and evidence from either table.
    async fn list(&self, listing: &Listing) -> Result<Page, StoreError> {
        query::list(&self.database, &self.machines, listing).await
    }

    /// Goes on where the last call stopped.
    async fn purge(&self, limit: usize) -> Result<usize, StoreError> {
        purge::purge(&self.database, &self.machines, &self.progress, limit).await
    }

    /// Silent: a notification at completion would make all commits wait for each other.
    fn watch(&self, _: OperationId) -> Watch {
        Watch::silent()
    }
}
