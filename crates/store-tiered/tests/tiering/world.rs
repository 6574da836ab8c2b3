//! Two tiers, and one operation.

use std::{sync::Arc, time::Duration};

use counterfoil_core::{
    Clock, OperationId, Owner, ParamHash, Scope, Subject,
    lifecycle::{Claim, Ending},
    store::{
        Acquire, Acquired, Completed, Completion, Identity, Lease, Record, Store, StoredResult,
    },
};
use counterfoil_store_tiered::TieredStore;
use counterfoil_testkit::{Flaky, ManualClock, Method};

use crate::common::{MapCache, tiers};

pub(crate) const LEASE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) clock: ManualClock,
    pub(crate) truth: Flaky,
    pub(crate) cache: MapCache,
    pub(crate) store: Arc<TieredStore>,
    pub(crate) id: OperationId,
    pub(crate) identity: Identity,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|store| store)
    }

    pub(crate) fn with(configure: impl FnOnce(TieredStore) -> TieredStore) -> Self {
        let (clock, truth, cache) = tiers();
        let store = configure(TieredStore::new(truth.clone(), cache.clone()));
        Self {
            id: OperationId::mint(clock.now()),
            clock,
            truth,
            cache,
            store: Arc::new(store),
            identity: Identity {
                subject: Subject::new("acme", "agent-7").unwrap(),
                scope: Scope::new("payments.transfer"),
                hash: ParamHash::from_bytes([7; 32]),
            },
        }
    }

    pub(crate) fn wish(&self) -> Acquire {
        self.wish_for(self.id)
    }

    pub(crate) fn wish_for(&self, id: OperationId) -> Acquire {
        let claim = Claim::new(Owner::mint(), LEASE);
        let retention = Duration::from_secs(86_400);
        Acquire::new(id, self.identity.clone(), claim, retention)
    }

    pub(crate) async fn claim(&self) -> Lease {
        self.claim_of(self.id).await
    }

    pub(crate) async fn claim_of(&self, id: OperationId) -> Lease {
        match self.store.acquire(&self.wish_for(id)).await.unwrap() {
            Acquired::Claimed(claimed) => claimed.lease,
            other => panic!("not claimed: {other:?}"),
        }
    }

    /// An operation that is done, and of which the cache knows nothing.
    pub(crate) async fn done(&self) -> Lease {
        self.done_as(self.id).await
    }

    pub(crate) async fn done_as(&self, id: OperationId) -> Lease {
        let held = self.claim_of(id).await;
        let completed = self.store.complete(&held, &paid()).await.unwrap();
        assert_eq!(completed, Completed::Completed);
        held
    }

    /// An operation that is done, and has a copy in the cache.
    pub(crate) async fn cached(&self) -> Record {
        self.done().await;
        let record = self.replay().await;
        self.store.settled().await;
        assert!(self.cache.copies().contains_key(&self.id));
        record
    }

    /// Asks to run it again, and gets the record.
    pub(crate) async fn replay(&self) -> Record {
        match self.store.acquire(&self.wish()).await.unwrap() {
            Acquired::Found(record) => *record,
            other => panic!("not found: {other:?}"),
        }
    }

    /// An id that nobody has claimed.
    pub(crate) fn another(&self) -> OperationId {
        OperationId::mint(self.clock.now())
    }

    /// How often truth was asked for what a cache may answer.
    pub(crate) fn asked_truth(&self) -> usize {
        self.truth.calls(Method::Acquire) + self.truth.calls(Method::Find)
    }
}

pub(crate) fn paid() -> Completion {
    Completion::Ended {
        ending: Ending::Done,
        result: Some(StoredResult::json("\"paid\"".into())),
        result_ref: Some("INV-7".to_owned()),
    }
}
