//! The key that goes downstream.

use std::fmt;

use super::{Attempt, LeaseLost};
use crate::{
    Epoch, InvalidStep, OperationId, Step,
    grant::{Grant, GrantKeys, GrantLifeError, GrantRequest, GrantTerms},
};

/// The key that goes downstream as `Idempotency-Key`: the operation id, hyphenated, without quotes.
///
/// It is the same for every attempt of the operation. Where an operation makes several writes downstream, each has a key
/// of its own ([`step`](Self::step)). Whoever holds one can ask whether something may still be sent under it
/// ([`check_lease`](Self::check_lease)): a client that is about to send, or to send again, does so first.
///
/// Two keys are equal if their texts are. Cheap to clone.
///
/// ```
/// use counterfoil_core::engine::{Attempt, LeaseLost};
///
/// fn keys(attempt: &Attempt) -> Result<[String; 2], LeaseLost> {
///     let key = attempt.downstream_key()?;
///     let fee = key.step("fee").expect("a good name");
///     Ok([key.to_string(), fee.to_string()])
/// }
/// ```
#[derive(Clone)]
pub struct DownstreamKey {
    attempt: Attempt,
    id: OperationId,
    step: Option<Step>,
}

impl DownstreamKey {
    pub(super) fn of(attempt: &Attempt) -> Self {
        Self {
            attempt: attempt.clone(),
            id: attempt.operation_id(),
            step: None,
        }
    }

    /// The key of a named sub-step: a UUIDv8 of its own, derived from the operation id and the name as
    /// [`OperationId::step`] says. A name of this operation has one key, in every attempt; two names have two.
    ///
    /// # Errors
    ///
    /// [`InvalidStep`] if the name is not 1 to 64 characters of `a-z 0-9 . _ -`, or this key is a step's already.
    pub fn step(&self, name: &str) -> Result<Self, InvalidStep> {
        if self.step.is_some() {
            return Err(InvalidStep::OfAStep);
        }
        let step = Step::parse(name)?;
        Ok(Self {
            attempt: self.attempt.clone(),
            id: self.attempt.operation_id().step(&step),
            step: Some(step),
        })
    }

    /// The UUID that goes downstream.
    #[must_use]
    pub const fn id(&self) -> OperationId {
        self.id
    }

    /// The operation that it is of.
    #[must_use]
    pub fn operation_id(&self) -> OperationId {
        self.attempt.operation_id()
    }

    /// The fencing number of the run that it was taken in.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.attempt.epoch()
    }

    /// The sub-step, if it is of one.
    #[must_use]
    pub const fn step_name(&self) -> Option<&Step> {
        self.step.as_ref()
    }

    /// Whether something may still be sent under it. The tower layer for clients asks before each request.
    ///
    /// What passes this check can still arrive after the lapse: only downstream can refuse it then, by the epoch.
    ///
    /// # Errors
    ///
    /// [`LeaseLost`] once the lease of its run has lapsed or somebody else has the epoch: send nothing more.
    pub fn check_lease(&self) -> Result<(), LeaseLost> {
        self.attempt.effect_started()
    }

    /// A grant for one write under this key: what a service downstream asks for that takes no write but through the gate.
    /// It carries the operation id, the step's name and the epoch of this run.
    ///
    /// ```
    /// use counterfoil_core::{
    ///     engine::{DownstreamKey, GrantRefused},
    ///     grant::{Audience, Grant, GrantKeys, GrantRequest},
    /// };
    ///
    /// const LEDGER: Audience = Audience::new("ledger");
    ///
    /// fn header(key: &DownstreamKey, keys: &GrantKeys, body: &[u8]) -> Result<Grant, GrantRefused> {
    ///     key.grant(keys, &GrantRequest::new(&LEDGER, "POST", "/entries").with_body(body))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`GrantRefused::LeaseLost`] once the lease of its run has lapsed or somebody else has the epoch;
    /// [`GrantRefused::Life`] if the life that is asked for is out of bounds.
    pub fn grant(&self, keys: &GrantKeys, request: &GrantRequest) -> Result<Grant, GrantRefused> {
        let now = self.attempt.now();
        let operation_id = self.operation_id();
        let terms = GrantTerms::new(operation_id, self.epoch(), self.step.clone(), request, now)?;
        // Last: what is minted was asked for while the lease ran.
        self.check_lease()?;
        Ok(keys.issue(&terms))
    }
}

/// No grant was minted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantRefused {
    /// The lease has lapsed or somebody else has the epoch: send nothing more.
    #[error(transparent)]
    LeaseLost(#[from] LeaseLost),
    /// It would live too long, or not long enough.
    #[error(transparent)]
    Life(#[from] GrantLifeError),
}

impl PartialEq for DownstreamKey {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for DownstreamKey {}

impl std::hash::Hash for DownstreamKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl fmt::Display for DownstreamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl fmt::Debug for DownstreamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DownstreamKey")
            .field("id", &self.id)
            .field("step", &self.step)
            .finish_non_exhaustive()
    }
}
