//! What a store keeps of an operation.

use std::{fmt, time::Duration};

use super::{Acquire, Completion, GuardClaim, StoredResult};
use crate::{
    Epoch, OperationId, Owner, ParamHash, Scope, Subject, Timestamp,
    lifecycle::{Life, State},
};

/// Added to every retention: what clocks, statements on their way and slow callers may be apart.
pub const RETENTION_SKEW: Duration = Duration::from_secs(300);

/// The [reason](Record::reason) on record where an honest `failed`, or a release, leaves an operation UNKNOWN, since an
/// epoch began by takeover.
pub const IN_DOUBT: &str = "an earlier attempt may have done it";

/// Whose operation it is, of which action, and on which params.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The subject.
    pub subject: Subject,
    /// The scope.
    pub scope: Scope,
    /// The param hash.
    pub hash: ParamHash,
}

/// Why an identity is not the record's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// Another subject or scope: the caller learns nothing.
    Foreign,
    /// Another hash: the caller learns id and state.
    Params,
}

/// What a store keeps of an operation: enough for an operator's questions without the request body. No secrets.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Record {
    /// The operation.
    pub id: OperationId,
    /// Subject, scope and hash.
    pub identity: Identity,
    /// State, owner, epoch and deadline.
    pub life: Life,
    /// How many attempts claimed it.
    pub attempts: u32,
    /// The first result.
    pub result: Option<StoredResult>,
    /// The business document's number.
    pub result_ref: Option<String>,
    /// Downstream's reference.
    pub provider_ref: Option<String>,
    /// Why it is unknown, denied, cancelled or resolved.
    pub reason: Option<String>,
    /// Who resolved or cancelled it.
    pub settled_by: Option<Subject>,
    /// The approval, where one was asked for.
    pub approval: Option<Approval>,
    /// The guards that it holds.
    pub guards: Vec<GuardClaim>,
    /// What owners said after they had lost the epoch, oldest first. A store keeps at least the last four. What the same
    /// owner says again, word for word, is kept once: a completion whose reply was lost is sent again, and must push
    /// nothing out.
    pub evidence: Vec<Evidence>,
    /// When the record was first written, by the store's clock.
    pub created: Timestamp,
    /// When it last changed state or epoch, as it was written: renewals, notes and the passing of time leave it alone.
    pub updated: Timestamp,
    /// The end of the fingerprint's life.
    pub exp: Option<Timestamp>,
    /// How long it is kept, from the later of its end and `exp`.
    pub retention: Duration,
}

/// What a person decided, and what was shown.
///
/// `Debug` shows the size of the view, never its content: those are params.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// What the approver sees: canonical, bound params only.
    pub view: String,
    /// Who decided.
    pub decided_by: Option<Subject>,
}

impl Approval {
    /// An approval that is waited for.
    #[must_use]
    pub const fn waiting(view: String) -> Self {
        Self {
            view,
            decided_by: None,
        }
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval")
            .field("view_bytes", &self.view.len())
            .field("decided_by", &self.decided_by)
            .finish()
    }
}

/// What an owner said after it had lost the epoch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// Who said it.
    pub owner: Owner,
    /// The epoch that it had been given.
    pub epoch: Epoch,
    /// What it said.
    pub completion: Completion,
    /// When it said it, by the store's clock.
    pub at: Timestamp,
}

impl Record {
    /// A record that begins with `life` at `now`.
    #[must_use]
    pub fn new(
        id: OperationId,
        identity: Identity,
        life: Life,
        exp: Option<Timestamp>,
        retention: Duration,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            identity,
            life,
            attempts: 0,
            result: None,
            result_ref: None,
            provider_ref: None,
            reason: None,
            settled_by: None,
            approval: None,
            guards: Vec::new(),
            evidence: Vec::new(),
            created: now,
            updated: now,
            exp,
            retention,
        }
    }

    /// The record that a first claim writes.
    #[must_use]
    pub fn claimed(request: &Acquire, life: Life, now: Timestamp) -> Self {
        Self {
            attempts: 1,
            guards: request.guards.clone(),
            ..Self::new(
                request.id,
                request.identity.clone(),
                life,
                request.claim.exp,
                request.retention,
                now,
            )
        }
    }

    /// The state at `now`: a lapsed lease reads as UNKNOWN.
    #[must_use]
    pub fn state_at(&self, now: Timestamp) -> State {
        self.life.at(now).state
    }

    /// Compares who, what and which params. Subject and scope come first: a stranger is told nothing of the hash.
    ///
    /// # Errors
    ///
    /// The first [`Mismatch`].
    pub fn check(&self, identity: &Identity) -> Result<(), Mismatch> {
        self.check_owner(&identity.subject, &identity.scope)?;
        if self.identity.hash != identity.hash {
            return Err(Mismatch::Params);
        }
        Ok(())
    }

    /// Compares whose operation it is, and of which action.
    ///
    /// # Errors
    ///
    /// [`Mismatch::Foreign`].
    pub fn check_owner(&self, subject: &Subject, scope: &Scope) -> Result<(), Mismatch> {
        if self.identity.subject == *subject && self.identity.scope == *scope {
            Ok(())
        } else {
            Err(Mismatch::Foreign)
        }
    }

    /// When a store may drop the record: the later of its end and `exp`, plus retention and [`RETENTION_SKEW`]; `None`
    /// while it is open business.
    #[must_use]
    pub fn purge_at(&self) -> Option<Timestamp> {
        let last = self.exp.map_or(self.updated, |exp| exp.max(self.updated));
        self.life
            .state
            .may_be_purged()
            .then(|| last + self.retention + RETENTION_SKEW)
    }
}
