//! A call with everything in it, and what a store answers.

use std::time::Duration;

use counterfoil_core::{
    OperationId, Timestamp,
    store::{
        Acquire, Acquired, Annotated, Annotation, Cancellation, Cancelled, Completed, Completion,
        FenceRequest, Fenced, Lease, Receipt, Received, Record, Released, Renewed, Resolution,
        Resolved, Sighting, Store, StoreError,
    },
};

/// The same for both stores.
#[derive(Clone, Debug)]
pub(super) enum Call {
    Acquire(Box<Acquire>),
    Renew(Lease, Duration),
    Complete(Lease, Completion),
    Release(Lease),
    Annotate(Lease, Annotation),
    Receive(Receipt),
    Fence(FenceRequest),
    Resolve(Box<Resolution>),
    Cancel(Box<Cancellation>),
    Find(OperationId),
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Answer {
    Acquired(Acquired),
    Renewed(Renewed),
    Completed(Completed),
    Released(Released),
    Annotated(Annotated),
    Received(Received),
    Fenced(Fenced),
    Resolved(Resolved),
    Cancelled(Cancelled),
    Sighting(Box<Sighting>),
}

impl Call {
    pub(super) async fn send(&self, store: &dyn Store) -> Result<Answer, StoreError> {
        Ok(match self {
            Self::Acquire(request) => Answer::Acquired(store.acquire(request).await?),
            Self::Renew(held, lease) => Answer::Renewed(store.renew(held, *lease).await?),
            Self::Complete(held, said) => Answer::Completed(store.complete(held, said).await?),
            Self::Release(held) => Answer::Released(store.release(held).await?),
            Self::Annotate(held, note) => Answer::Annotated(store.annotate(held, note).await?),
            Self::Receive(receipt) => Answer::Received(store.receive(receipt).await?),
            Self::Fence(request) => Answer::Fenced(store.fence(request).await?),
            Self::Resolve(resolution) => Answer::Resolved(store.resolve(resolution).await?),
            Self::Cancel(cancellation) => Answer::Cancelled(store.cancel(cancellation).await?),
            Self::Find(id) => Answer::Sighting(Box::new(store.find(*id).await?)),
        })
    }

    pub(super) fn id(&self) -> OperationId {
        match self {
            Self::Acquire(request) => request.id,
            Self::Renew(held, _)
            | Self::Complete(held, _)
            | Self::Release(held)
            | Self::Annotate(held, _) => held.id,
            Self::Receive(receipt) => receipt.id,
            Self::Fence(request) => request.id,
            Self::Resolve(resolution) => resolution.id,
            Self::Cancel(cancellation) => cancellation.id,
            Self::Find(id) => *id,
        }
    }
}

impl Answer {
    /// The record in it.
    pub(super) fn record(&mut self) -> Option<&mut Record> {
        match self {
            Self::Acquired(
                Acquired::Found(record)
                | Acquired::ParamsChanged(record)
                | Acquired::ApprovalExpired(record),
            )
            | Self::Fenced(Fenced::Fenced(record) | Fenced::Refused(Some(record)))
            | Self::Resolved(Resolved::Resolved(record) | Resolved::Refused(Some(record)))
            | Self::Cancelled(Cancelled::Cancelled(record) | Cancelled::TooLate(record)) => {
                Some(record)
            }
            Self::Acquired(Acquired::Expired { record, .. }) => record.as_deref_mut(),
            Self::Sighting(sighting) => sighting.record.as_mut(),
            _ => None,
        }
    }

    /// Whether the time in it may be one of before, as beside a terminal record that a cache knows.
    pub(super) fn tells_no_time(&self) -> bool {
        matches!(self, Self::Sighting(sighting) if sighting
            .record
            .as_ref()
            .is_some_and(|record| record.life.state.is_terminal()))
    }

    /// The store's clock in it.
    pub(super) fn now(&mut self) -> Option<&mut Timestamp> {
        match self {
            Self::Acquired(Acquired::Expired { now, .. })
            | Self::Cancelled(Cancelled::Expired { now }) => Some(now),
            Self::Sighting(sighting) => Some(&mut sighting.now),
            _ => None,
        }
    }
}
