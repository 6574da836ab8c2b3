//! One operation, and the ways to bring it somewhere.

use std::time::Duration;

use counterfoil_core::{
    Clock, OperationId, Owner, ParamHash, Scope, Subject, SystemClock,
    lifecycle::{Claim, Ending, Seen, State, Verdict},
    store::{
        Acquire, Acquired, Annotation, Cancellation, Completion, FenceRequest, Fenced, Identity,
        Lease, Record, Resolution, Store, StoredResult, Tombstone,
    },
};
use counterfoil_store_redis::{ALostWriteMayBeRepeated, RedisConfig, RedisStore};

use crate::common::keys;

pub(crate) const LONG: Duration = Duration::from_secs(86_400);
pub(crate) const RETENTION: Duration = Duration::from_secs(3_600);

pub(crate) async fn alone(config: RedisConfig) -> RedisStore {
    RedisStore::alone(config, keys(), ALostWriteMayBeRepeated)
        .await
        .expect("the server is there")
}

pub(crate) struct Op {
    pub(crate) id: OperationId,
    pub(crate) identity: Identity,
}

impl Op {
    pub(crate) fn new() -> Self {
        Self {
            id: OperationId::mint(SystemClock.now()),
            identity: Identity {
                subject: Subject::new("acme", "agent-7").expect("a short subject"),
                scope: Scope::new("payments.transfer"),
                hash: ParamHash::from_bytes([7; 32]),
            },
        }
    }

    /// A claim by a fresh owner.
    pub(crate) fn wish(&self) -> Acquire {
        let mut claim = Claim::new(Owner::mint(), LONG);
        claim.exp = Some(SystemClock.now() + LONG);
        Acquire::new(self.id, self.identity.clone(), claim, RETENTION)
    }

    pub(crate) async fn claim(&self, store: &RedisStore) -> Lease {
        claimed(store.acquire(&self.wish()).await.expect("an answer"))
    }

    pub(crate) async fn record(&self, store: &RedisStore) -> Record {
        let sighting = store.find(self.id).await.expect("an answer");
        sighting.record.expect("a record stands")
    }

    /// Brings it to a state with as much on record as there can be.
    pub(crate) async fn reach(&self, store: &RedisStore, state: State) -> Lease {
        let held = if state == State::Cancelled {
            self.cancel(store).await;
            nobodys(self.id)
        } else {
            let held = self.claim(store).await;
            let mut note = Annotation::default();
            note.provider_ref = Some("ch_123".to_owned());
            note.result_ref = Some("INV-1".to_owned());
            store.annotate(&held, &note).await.expect("noted");
            held
        };
        let said = match state {
            State::InFlight | State::Cancelled => None,
            State::Accepted => Some(Completion::Accepted {
                deadline: Some(SystemClock.now() + LONG),
                result: Some(stored("handed on")),
                result_ref: None,
            }),
            State::Unknown => Some(Completion::Unknown {
                reason: "the connection broke".to_owned(),
            }),
            State::Released => {
                store.release(&held).await.expect("released");
                None
            }
            State::Done => Some(done("paid")),
            State::Failed => Some(ended(Ending::Failed, "no funds")),
            other => panic!("no caller can bring an operation to {other:?}"),
        };
        if let Some(said) = said {
            store.complete(&held, &said).await.expect("completed");
        }
        store
            .complete(&nobodys(self.id), &done("a stranger's word"))
            .await
            .expect("kept as evidence");
        held
    }

    /// Brings it into doubt: taken over, unknown, and held by a reconciler.
    pub(crate) async fn reach_doubt(&self, store: &RedisStore) {
        self.reach(store, State::Unknown).await;
        let mut wish = self.wish();
        wish.claim.takeover_within = Some(LONG);
        let second = claimed(
            store
                .acquire(&wish.with_seen(seen(&self.record(store).await)))
                .await
                .expect("an answer"),
        );
        let said = ended(Ending::Failed, "no funds");
        store.complete(&second, &said).await.expect("in doubt");
        let request = FenceRequest {
            id: self.id,
            owner: Owner::mint(),
            seen: second.epoch,
            hold: LONG,
        };
        let answer = store.fence(&request).await.expect("an answer");
        assert!(matches!(answer, Fenced::Fenced(_)), "{answer:?}");
    }

    pub(crate) fn resolution(&self, record: &Record, verdict: Verdict) -> Resolution {
        Resolution {
            id: self.id,
            owner: Owner::mint(),
            seen: record.life.epoch,
            verdict,
            vouched: true,
            result: None,
            result_ref: None,
            by: None,
            reason: "downstream was asked".to_owned(),
        }
    }

    async fn cancel(&self, store: &RedisStore) {
        let cancellation = Cancellation {
            id: self.id,
            subject: self.identity.subject.clone(),
            tombstone: Some(Tombstone {
                identity: self.identity.clone(),
                exp: SystemClock.now() + LONG,
                retention: RETENTION,
            }),
            reason: Some("not needed any more".to_owned()),
        };
        store.cancel(&cancellation).await.expect("cancelled");
    }
}

pub(crate) fn claimed(answer: Acquired) -> Lease {
    match answer {
        Acquired::Claimed(claimed) => claimed.lease,
        other => panic!("not claimed: {other:?}"),
    }
}

pub(crate) fn seen(record: &Record) -> Seen {
    Seen {
        state: record.life.state,
        epoch: record.life.epoch,
    }
}

pub(crate) fn stored(text: &'static str) -> StoredResult {
    StoredResult::json(text.into())
}

pub(crate) fn done(result: &'static str) -> Completion {
    ended(Ending::Done, result)
}

pub(crate) fn ended(ending: Ending, result: &'static str) -> Completion {
    Completion::Ended {
        ending,
        result: Some(stored(result)),
        result_ref: None,
    }
}

fn nobodys(id: OperationId) -> Lease {
    Lease {
        id,
        owner: Owner::mint(),
        epoch: counterfoil_core::Epoch::FIRST,
    }
}
