//! What is said of an operation by others than its owner: receipts, reconcilers, approvers, operators.

use std::{fmt, time::Duration};

use super::{Identity, Record, StoredResult};
use crate::{
    Epoch, OperationId, Owner, Subject, Timestamp,
    lifecycle::{Ending, Verdict},
};

/// Downstream's receipt for what an epoch handed on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// The operation.
    pub id: OperationId,
    /// The epoch that handed it on.
    pub epoch: Epoch,
    /// How it ended.
    pub ending: Ending,
    /// What every retry gets; `None` keeps what the acceptance stored.
    pub result: Option<StoredResult>,
    /// The business document's number; `None` keeps what is on record.
    pub result_ref: Option<String>,
}

/// A store's answer to a receipt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received {
    /// It stands as said.
    Received,
    /// `failed` after a takeover: UNKNOWN.
    InDoubt,
    /// Another epoch, or it has ended otherwise. Nothing changed; kept as evidence where an owner is known.
    NotOwner,
    /// There is no record.
    Absent,
}

/// A reconciler's wish to hold an unknown operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FenceRequest {
    /// The operation.
    pub id: OperationId,
    /// The reconciler's own owner id.
    pub owner: Owner,
    /// The epoch that it read.
    pub seen: Epoch,
    /// How long it wants to hold it.
    pub hold: Duration,
}

/// A store's answer to a fence request.
#[derive(Clone, PartialEq, Debug)]
pub enum Fenced {
    /// It is the reconciler's to ask downstream about, under the epoch in the record.
    Fenced(Box<Record>),
    /// It moved on, is not unknown, or another reconciler holds it: the record, if there is one.
    Refused(Option<Box<Record>>),
}

/// What was found out about an unknown outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolution {
    /// The operation.
    pub id: OperationId,
    /// The reconciler's owner id, or a fresh one for a person.
    pub owner: Owner,
    /// The epoch that was read, or got by fencing.
    pub seen: Epoch,
    /// What was found.
    pub verdict: Verdict,
    /// That nothing late can land: needed for `Failed` and `NotExecuted`.
    pub vouched: bool,
    /// What every retry gets; `None` for no result, whatever an acceptance stored.
    pub result: Option<StoredResult>,
    /// The business document's number; `None` keeps what is on record.
    pub result_ref: Option<String>,
    /// Who says it; `None` for a reconciler.
    pub by: Option<Subject>,
    /// Why.
    pub reason: String,
}

/// A store's answer to a resolution.
#[derive(Clone, PartialEq, Debug)]
pub enum Resolved {
    /// It stands as said.
    Resolved(Box<Record>),
    /// The verdict needs the vouch.
    Unvouched,
    /// It is not unknown, has another epoch, or a reconciler holds it: the record, if there is one.
    Refused(Option<Box<Record>>),
}

/// A preview that needs a person.
///
/// `Debug` shows the size of the view, never its content: those are params.
#[derive(Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The operation.
    pub id: OperationId,
    /// Subject, scope and hash.
    pub identity: Identity,
    /// The end of the fingerprint's life.
    pub exp: Timestamp,
    /// How long the record is kept.
    pub retention: Duration,
    /// When the wait for the person ends.
    pub approval_ends: Timestamp,
    /// What the approver sees.
    pub view: String,
}

impl fmt::Debug for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proposal")
            .field("id", &self.id)
            .field("identity", &self.identity)
            .field("exp", &self.exp)
            .field("retention", &self.retention)
            .field("approval_ends", &self.approval_ends)
            .field("view_bytes", &self.view.len())
            .finish()
    }
}

/// A store's answer to a proposal.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Proposed {
    /// It waits for a person.
    Waiting(Box<Record>),
    /// An equal one of the same subject waits already, or was denied a short while ago.
    Found(Box<Record>),
}

/// A person's decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The operation.
    pub id: OperationId,
    /// The hash that the person saw.
    pub hash: crate::ParamHash,
    /// Who decides.
    pub approver: Subject,
    /// What.
    pub kind: DecisionKind,
    /// Why.
    pub reason: Option<String>,
}

/// Yes or no.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecisionKind {
    /// Yes, until then.
    Approve {
        /// When the approval ends.
        until: Timestamp,
    },
    /// No.
    Deny,
}

/// A store's answer to a decision.
#[derive(Clone, PartialEq, Debug)]
pub enum Decided {
    /// It stands as said.
    Decided(Box<Record>),
    /// Too late, too long after, or on other params: the record, if there is one.
    Refused(Option<Box<Record>>),
}

/// The caller calls an operation off before it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cancellation {
    /// The operation.
    pub id: OperationId,
    /// Who calls it off: compared with the record's subject.
    pub subject: Subject,
    /// What to write where nothing stands yet; without it, absent stays absent.
    pub tombstone: Option<Tombstone>,
    /// Why.
    pub reason: Option<String>,
}

/// A record written only to stop later claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tombstone {
    /// Subject, scope and hash, from the fingerprint. Another subject than the cancellation's is
    /// [`Foreign`](Cancelled::Foreign).
    pub identity: Identity,
    /// The end of the fingerprint's life.
    pub exp: Timestamp,
    /// How long the record is kept.
    pub retention: Duration,
}

/// A store's answer to a cancellation.
#[derive(Clone, PartialEq, Debug)]
pub enum Cancelled {
    /// It is called off, for good.
    Cancelled(Box<Record>),
    /// It runs, or ran, or was decided: the record.
    TooLate(Box<Record>),
    /// Nothing stands, and at or after `exp` nothing can begin.
    Expired {
        /// The store's clock.
        now: Timestamp,
    },
    /// Another subject's or scope's. Nothing changed, and the caller learns nothing.
    Foreign,
    /// Nothing stands, and there was no tombstone to write.
    Absent,
}
