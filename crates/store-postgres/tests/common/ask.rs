//! What the tests ask.

use std::time::Duration;

use counterfoil_core::{
    OperationId, Owner, ParamHash, Scope, Subject,
    lifecycle::{Claim, Ending},
    store::{Acquire, Acquired, Completion, Identity, Lease, StoreError, StoredResult},
};

pub(crate) const LEASE: Duration = Duration::from_secs(600);

pub(crate) fn identity() -> Identity {
    Identity {
        subject: Subject::new("tenant", "principal").expect("plain"),
        scope: Scope::parse("scope").expect("plain"),
        hash: ParamHash::from_bytes([7; 32]),
    }
}

pub(crate) fn claim(id: OperationId) -> Acquire {
    let claim = Claim::new(Owner::mint(), LEASE);
    Acquire::new(id, identity(), claim, Duration::from_secs(3_600))
}

pub(crate) fn done(bytes: Vec<u8>) -> Completion {
    Completion::Ended {
        ending: Ending::Done,
        result: Some(StoredResult::json(bytes.into())),
        result_ref: None,
    }
}

pub(crate) fn lease(answer: &Result<Acquired, StoreError>) -> Lease {
    match answer {
        Ok(Acquired::Claimed(claimed)) => claimed.lease,
        other => panic!("it is not claimed: {other:?}"),
    }
}
