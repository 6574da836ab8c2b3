//! What stands in front of a store that decides.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use super::{Record, StoreError, Watch};
use crate::OperationId;

/// Keeps copies of records that never change again, so that truth need not be asked for them.
///
/// A cache decides nothing. It is told after truth, never before; it holds terminal records only; that it has none means
/// nothing. It may lose everything at any time.
///
/// What it gives was put into it by a holder of its keys: a copy that was changed on the way, or belongs to another id,
/// is a miss.
///
/// Every call ends in a time of the cache's own, which is short: an operation waits for it before it asks truth.
#[async_trait]
pub trait Cache: fmt::Debug + Send + Sync + 'static {
    /// The copy, if there is one.
    ///
    /// # Errors
    ///
    /// Any kind; the caller asks truth.
    async fn get(&self, id: OperationId) -> Result<Option<Box<Record>>, StoreError>;

    /// Keeps a copy of a terminal record that truth has, no longer than truth keeps it. Wakes watches of it.
    ///
    /// # Errors
    ///
    /// Any kind; it may or may not be kept. `Misuse` for a record that may still change.
    async fn put(&self, record: &Record) -> Result<(), StoreError>;

    /// Tells watches that a record may have changed.
    ///
    /// # Errors
    ///
    /// Any kind; watches may not have been told.
    async fn announce(&self, id: OperationId) -> Result<(), StoreError>;

    /// Begins to watch a record. Changes from this call on are told, where all goes well.
    fn watch(&self, id: OperationId) -> Watch;
}

const _: fn(&dyn Cache) = |_| {};

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<C: Cache + ?Sized> Cache for Arc<C> {
    async fn get(&self, id: OperationId) -> Result<Option<Box<Record>>, StoreError> {
        (**self).get(id).await
    }
    async fn put(&self, record: &Record) -> Result<(), StoreError> {
        (**self).put(record).await
    }
    async fn announce(&self, id: OperationId) -> Result<(), StoreError> {
        (**self).announce(id).await
    }
    fn watch(&self, id: OperationId) -> Watch {
        (**self).watch(id)
    }
}
