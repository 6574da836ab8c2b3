//! Claims of operations that nobody else has.

use std::time::Duration;

use bytes::Bytes;
use counterfoil_core::{
    OperationId, Owner, ParamHash, Scope, Subject, Timestamp,
    lifecycle::{Claim, Ending},
    store::{Acquire, Completion, Identity, StoredResult},
};

/// Outlasts every test: nothing lapses by itself.
const LONG: Duration = Duration::from_secs(86_400);

/// A wish to claim a fresh operation.
pub(crate) fn fresh(now: Timestamp) -> Acquire {
    let identity = Identity {
        subject: Subject::new("testkit", "agent").expect("a short subject"),
        scope: Scope::new("testkit.race"),
        hash: ParamHash::from_bytes([7; 32]),
    };
    let mut claim = Claim::new(Owner::mint(), LONG);
    claim.exp = Some(now + LONG);
    Acquire::new(OperationId::mint(now), identity, claim, LONG)
}

/// The same wish, of an owner of its own.
pub(crate) fn of_another(wish: &Acquire) -> Acquire {
    let mut other = wish.clone();
    other.claim.owner = Owner::mint();
    other
}

/// The result of a run, which no other run has.
pub(crate) fn result_of(owner: Owner) -> StoredResult {
    StoredResult::json(Bytes::copy_from_slice(owner.as_bytes()))
}

/// What a run says that gave [`result_of`] its owner.
pub(crate) fn done(owner: Owner) -> Completion {
    Completion::Ended {
        ending: Ending::Done,
        result: Some(result_of(owner)),
        result_ref: None,
    }
}
