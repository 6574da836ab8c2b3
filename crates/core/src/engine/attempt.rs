//! The handler's context.

use std::{
    fmt,
    future::Future,
    sync::{Arc, atomic::Ordering},
};

use super::{
    Disposition, DownstreamKey,
    run::{Run, lock},
};
use crate::{
    Epoch, OperationId, Scope, Subject, Timestamp,
    store::{Annotated, Annotation, Fence, StoreError},
};

/// What a handler knows of its run, and says of it. Cheap to clone; every clone speaks of the same run.
///
/// Before the first effect leaves the process, take the [`downstream_key`](Self::downstream_key) or call
/// [`effect_started`](Self::effect_started): both refuse once the lease has lapsed, so that a stalled handler sends
/// nothing more through them, and both make the attempt *dirty*, after which a status code alone can't say that nothing
/// happened.
#[derive(Clone)]
pub struct Attempt(pub(super) Arc<Run>);

impl Attempt {
    /// The longest downstream reference and document number, in bytes.
    pub const MAX_REFERENCE_LEN: usize = 256;

    /// The operation, the same on every hop.
    #[must_use]
    pub fn operation_id(&self) -> OperationId {
        self.0.lease.id
    }

    /// The fencing number of this run.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.0.lease.epoch
    }

    /// Which attempt of the operation this is, from 1.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.0.number
    }

    /// Whose operation it is.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.0.subject
    }

    /// Which action it is.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.0.scope
    }

    /// Fencing numbers of the resources that exclusive guards hold for it.
    #[must_use]
    pub fn fences(&self) -> &[Fence] {
        &self.0.fences
    }

    /// The validated params, if they are a `P`: the very value that was hashed.
    #[must_use]
    pub fn params<P: Send + Sync + 'static>(&self) -> Option<Arc<P>> {
        Arc::clone(&self.0.params).downcast().ok()
    }

    /// The key to send downstream: the operation id, unchanged across every retry of this call and of the operation.
    /// Several writes take one [`step`](DownstreamKey::step) each. Taking it makes the attempt dirty.
    ///
    /// # Errors
    ///
    /// [`LeaseLost`] once the lease has lapsed or somebody else has the epoch: send nothing more.
    pub fn downstream_key(&self) -> Result<DownstreamKey, LeaseLost> {
        self.effect_started()?;
        Ok(DownstreamKey::of(self))
    }

    /// Says that the first effect is about to leave the process. Makes the attempt dirty.
    ///
    /// # Errors
    ///
    /// [`LeaseLost`] once the lease has lapsed or somebody else has the epoch: send nothing more.
    pub fn effect_started(&self) -> Result<(), LeaseLost> {
        if !self.0.holds_lease() {
            return Err(LeaseLost(()));
        }
        self.0.progress.dirty.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether no effect can have left the process yet, as far as this context was told.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        !self.0.progress.dirty.load(Ordering::Acquire)
    }

    /// Puts downstream's reference on record, durable when it returns: what a person or a reconciler asks downstream by
    /// if this process dies now. Makes the attempt dirty.
    ///
    /// Cancellation: if the future is dropped, the reference may be on record or not.
    ///
    /// # Errors
    ///
    /// [`AnnotateError`]; the run may go on.
    pub async fn set_provider_ref(
        &self,
        reference: impl Into<String> + Send,
    ) -> Result<(), AnnotateError> {
        let reference = bounded(reference.into())?;
        self.0.progress.dirty.store(true, Ordering::Release);
        let note = Annotation {
            provider_ref: Some(reference),
            ..Annotation::default()
        };
        match self.0.shared.store.annotate(&self.0.lease, &note).await? {
            Annotated::Annotated => Ok(()),
            Annotated::NotOwner => Err(AnnotateError::LeaseLost(LeaseLost(()))),
        }
    }

    /// Names the business document, such as an invoice's number. Stored with the result, and told even where the result
    /// is too large to keep. The last one before the run ends counts.
    ///
    /// # Errors
    ///
    /// [`AnnotateError::TooLong`] past [`MAX_REFERENCE_LEN`](Self::MAX_REFERENCE_LEN).
    pub fn set_result_ref(&self, reference: impl Into<String>) -> Result<(), AnnotateError> {
        *lock(&self.0.progress.result_ref) = Some(bounded(reference.into())?);
        Ok(())
    }

    /// Gives the handler's word on what happened; it wins over a status code. Returns whether it took: a word after
    /// the run ended, or another one than was given before, does not.
    pub fn declare(&self, word: Disposition) -> bool {
        let mut given = lock(&self.0.progress.word);
        if given.closed || given.declared.is_some_and(|before| before != word) {
            return false;
        }
        given.declared = Some(word);
        true
    }

    /// The word that was given.
    #[must_use]
    pub fn declared(&self) -> Option<Disposition> {
        lock(&self.0.progress.word).declared
    }

    /// By the engine's clock.
    pub(super) fn now(&self) -> Timestamp {
        self.0.shared.clock.now()
    }

    /// Ends when the lease has lapsed or somebody else has the epoch. A handler that can stop sending should then, and
    /// may still complete.
    pub fn lease_lost(&self) -> impl Future<Output = ()> + Send + 'static {
        self.0.progress.lease_lost.clone().cancelled_owned()
    }

    /// Whether the lease has lapsed or somebody else has the epoch.
    #[must_use]
    pub fn is_lease_lost(&self) -> bool {
        !self.0.holds_lease()
    }
}

fn bounded(reference: String) -> Result<String, AnnotateError> {
    if reference.len() > Attempt::MAX_REFERENCE_LEN {
        return Err(AnnotateError::TooLong);
    }
    Ok(reference)
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("scope", &self.0.scope)
            .field("lease", &self.0.lease)
            .field("number", &self.0.number)
            .finish_non_exhaustive()
    }
}

/// The lease has lapsed or somebody else has the epoch: send nothing more downstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the lease is lost: nothing more may be sent downstream for this attempt")]
pub struct LeaseLost(pub(super) ());

/// A reference is not on record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnnotateError {
    /// The reference is longer than [`Attempt::MAX_REFERENCE_LEN`].
    #[error("the reference is longer than 256 bytes")]
    TooLong,
    /// Somebody else has the epoch, or the operation has ended.
    #[error(transparent)]
    LeaseLost(#[from] LeaseLost),
    /// The store; the reference may be on record or not.
    #[error("the store could not put the reference on record")]
    Store(#[from] StoreError),
}
