//! Operations to measure with.

use std::{sync::Arc, time::Duration};

use counterfoil::{
    Clock, OperationId, Owner, ParamHash, Scope, Subject, SystemClock,
    fingerprint::{Key, Keyring},
    lifecycle::{Claim, Ending},
    store::{Acquire, Acquired, Completion, Identity, Lease, Store, StoredResult},
};
use tokio::sync::Mutex;

/// A claim of a fresh operation, as a gate makes it.
pub(crate) fn fresh() -> Acquire {
    let now = SystemClock.now();
    let identity = Identity {
        subject: Subject::new("acme", "agent-7").expect("a subject"),
        scope: Scope::new("payments.transfer"),
        hash: ParamHash::from_bytes([7; 32]),
    };
    let mut claim = Claim::new(Owner::mint(), Duration::from_secs(30));
    claim.exp = Some(now + Duration::from_secs(900));
    Acquire::new(
        OperationId::mint(now),
        identity,
        claim,
        Duration::from_secs(7 * 86_400),
    )
}

/// The end of a run, with a result of this many bytes.
pub(crate) fn done(bytes: usize) -> Completion {
    Completion::Ended {
        ending: Ending::Done,
        result: (bytes > 0).then(|| StoredResult::json(vec![b'7'; bytes].into())),
        result_ref: None,
    }
}

/// Claims a fresh operation.
pub(crate) async fn claim(store: &dyn Store) -> (Acquire, Lease) {
    let request = fresh();
    match store.acquire(&request).await {
        Ok(Acquired::Claimed(claimed)) => (request, claimed.lease),
        other => panic!("nobody else knows this operation: {other:?}"),
    }
}

/// Claims and completes a fresh operation, and gives the claim of a retry.
pub(crate) async fn finished(store: &dyn Store, bytes: usize) -> Acquire {
    let (request, lease) = claim(store).await;
    store
        .complete(&lease, &done(bytes))
        .await
        .expect("it completes");
    let mut again = request;
    again.claim.owner = Owner::mint();
    again
}

/// Things that calls of a round use up.
#[derive(Debug)]
pub(crate) struct Supply<T>(Arc<Mutex<Vec<T>>>);

impl<T> Supply<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) async fn put(&self, things: impl IntoIterator<Item = T>) {
        self.0.lock().await.extend(things);
    }

    pub(crate) async fn take(&self) -> T {
        self.0.lock().await.pop().expect("enough for the round")
    }

    /// The oldest, if there are more than so many.
    pub(crate) async fn oldest_beyond(&self, few: usize) -> Option<T> {
        let mut things = self.0.lock().await;
        (things.len() > few).then(|| things.remove(0))
    }
}

impl<T> Clone for Supply<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Keys for what a store in Redis keeps.
pub(crate) fn keys() -> Keyring {
    Keyring::new(Key::random(
        counterfoil::KeyId::parse("bench").expect("a key id"),
    ))
}
