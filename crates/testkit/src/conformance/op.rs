//! One operation of a case's own, and the ways to bring it somewhere.

use std::time::Duration;

use bytes::Bytes;
use counterfoil_core::{
    OperationId, Owner, ParamHash, Scope, Subject, Timestamp,
    lifecycle::{Claim, Ending, Seen, State, Verdict},
    store::{
        Acquire, Acquired, Annotation, Cancellation, Cancelled, Claimed, Completed, Completion,
        FenceRequest, Identity, Lease, Receipt, Record, Released, Resolution, StoredResult,
        Tombstone,
    },
};

use super::Harness;

/// A lease, or a life, that outlasts the case.
pub(crate) const LONG: Duration = Duration::from_secs(86_400);

/// How long records are kept past their end.
pub(crate) const RETENTION: Duration = Duration::from_secs(3_600);

/// The states that a caller without approvals can bring an operation to.
pub(crate) const REACHABLE: [State; 7] = [
    State::InFlight,
    State::Accepted,
    State::Unknown,
    State::Released,
    State::Done,
    State::Failed,
    State::Cancelled,
];

/// An operation with an id and a tenant of its own.
pub(crate) struct Op<'h> {
    pub(crate) h: &'h Harness,
    pub(crate) id: OperationId,
    pub(crate) identity: Identity,
    pub(crate) exp: Timestamp,
}

impl<'h> Op<'h> {
    /// A new operation whose credential lives long.
    pub(crate) async fn new(h: &'h Harness) -> Self {
        let now = h.now().await;
        Self::minted(h, now, now + LONG)
    }

    /// A new operation that was minted at a time, and whose credential ends at another.
    pub(crate) fn minted(h: &'h Harness, at: Timestamp, exp: Timestamp) -> Self {
        let tenant = unique("tenant");
        Self {
            h,
            id: OperationId::mint(at),
            identity: Identity {
                subject: Subject::new(&tenant, "agent").expect("a short subject"),
                scope: Scope::new("testkit.case"),
                hash: ParamHash::from_bytes([7; 32]),
            },
            exp,
        }
    }

    /// Another operation of the same subject.
    pub(crate) async fn sibling(&self) -> Self {
        Self {
            h: self.h,
            id: OperationId::mint(self.h.now().await),
            identity: self.identity.clone(),
            exp: self.exp,
        }
    }

    /// A claim by a fresh owner, with a long lease.
    pub(crate) fn wish(&self) -> Acquire {
        let mut claim = Claim::new(Owner::mint(), LONG);
        claim.exp = Some(self.exp);
        Acquire::new(self.id, self.identity.clone(), claim, RETENTION)
    }

    /// A claim by a fresh owner that names what it read.
    pub(crate) fn wish_seeing(&self, record: &Record) -> Acquire {
        self.wish().with_seen(seen(record))
    }

    /// A takeover by a fresh owner that names what it read.
    pub(crate) fn takeover(&self, record: &Record, within: Duration) -> Acquire {
        let mut wish = self.wish_seeing(record);
        wish.claim.takeover_within = Some(within);
        wish
    }

    pub(crate) async fn claim(&self) -> Lease {
        claimed(self.h.acquire(&self.wish()).await).lease
    }

    pub(crate) async fn claim_for(&self, lease: Duration) -> Lease {
        let mut wish = self.wish();
        wish.claim.lease = lease;
        claimed(self.h.acquire(&wish).await).lease
    }

    /// Claims, and lets the lease pass.
    pub(crate) async fn lapse(&self) -> Lease {
        let held = self.claim_for(self.h.unit()).await;
        self.h.advance(self.h.unit()).await;
        held
    }

    /// Claims, lets the lease pass, and takes over.
    pub(crate) async fn taken_over(&self) -> (Lease, Lease) {
        let old = self.lapse().await;
        let wish = self.takeover(&self.record().await, LONG);
        (old, claimed(self.h.acquire(&wish).await).lease)
    }

    /// Brings it to a state; the lease of whoever claimed on the way.
    pub(crate) async fn reach(&self, state: State) -> Option<Lease> {
        if state == State::Cancelled {
            self.cancelled().await;
            return None;
        }
        let held = self.claim().await;
        let said = match state {
            State::InFlight => return Some(held),
            State::Released => {
                assert_eq!(self.h.release(&held).await, Released::Released);
                return Some(held);
            }
            State::Accepted => accepted(None),
            State::Unknown => doubt("the connection broke"),
            State::Done => done("the result"),
            State::Failed => failed("the refusal"),
            other => panic!("no case can bring an operation to {other:?}"),
        };
        assert_eq!(
            self.h.complete(&held, &said).await,
            Completed::Completed,
            "on the way to {state:?}"
        );
        Some(held)
    }

    pub(crate) async fn released(&self) -> Lease {
        self.reach(State::Released)
            .await
            .expect("an owner released it")
    }

    pub(crate) async fn unknown(&self) -> Lease {
        self.reach(State::Unknown)
            .await
            .expect("an owner doubted it")
    }

    pub(crate) fn cancellation(&self) -> Cancellation {
        Cancellation {
            id: self.id,
            subject: self.identity.subject.clone(),
            tombstone: Some(Tombstone {
                identity: self.identity.clone(),
                exp: self.exp,
                retention: RETENTION,
            }),
            reason: Some("not needed any more".to_owned()),
        }
    }

    pub(crate) async fn cancelled(&self) -> Record {
        match self.h.cancel(&self.cancellation()).await {
            Cancelled::Cancelled(record) => *record,
            other => panic!("not cancelled: {other:?}"),
        }
    }

    pub(crate) async fn find(&self) -> Option<Record> {
        self.h.find(self.id).await.record
    }

    pub(crate) async fn record(&self) -> Record {
        self.find().await.expect("a record stands")
    }

    pub(crate) async fn state(&self) -> State {
        self.record().await.life.state
    }

    /// Holds that nothing but the evidence differs from what was read before.
    pub(crate) async fn assert_unchanged(&self, before: &Record, after_what: &str) {
        let mut now = self.record().await;
        now.evidence.clone_from(&before.evidence);
        assert_eq!(now, *before, "changed by {after_what}");
    }

    pub(crate) fn receipt(&self, held: &Lease, ending: Ending) -> Receipt {
        Receipt {
            id: self.id,
            epoch: held.epoch,
            ending,
            result: None,
            result_ref: None,
        }
    }

    /// A fresh reconciler's wish to hold what it read.
    pub(crate) fn fence(&self, record: &Record) -> FenceRequest {
        FenceRequest {
            id: self.id,
            owner: Owner::mint(),
            seen: record.life.epoch,
            hold: LONG,
        }
    }

    /// What `owner` found out about what it read.
    pub(crate) fn resolution(&self, record: &Record, owner: Owner, verdict: Verdict) -> Resolution {
        Resolution {
            id: self.id,
            owner,
            seen: record.life.epoch,
            verdict,
            vouched: verdict != Verdict::Done,
            result: None,
            result_ref: None,
            by: None,
            reason: "downstream was asked".to_owned(),
        }
    }
}

pub(crate) fn seen(record: &Record) -> Seen {
    Seen {
        state: record.life.state,
        epoch: record.life.epoch,
    }
}

pub(crate) fn claimed(answer: Acquired) -> Claimed {
    match answer {
        Acquired::Claimed(claimed) => claimed,
        other => panic!("not claimed: {other:?}"),
    }
}

pub(crate) fn found(answer: Acquired) -> Record {
    match answer {
        Acquired::Found(record) => *record,
        other => panic!("not found: {other:?}"),
    }
}

pub(crate) fn stored(bytes: impl Into<Bytes>) -> StoredResult {
    StoredResult::json(bytes.into())
}

pub(crate) fn done(result: &'static str) -> Completion {
    ended(Ending::Done, Some(stored(result)))
}

pub(crate) fn failed(result: &'static str) -> Completion {
    ended(Ending::Failed, Some(stored(result)))
}

pub(crate) fn ended(ending: Ending, result: Option<StoredResult>) -> Completion {
    Completion::Ended {
        ending,
        result,
        result_ref: None,
    }
}

pub(crate) fn accepted(deadline: Option<Timestamp>) -> Completion {
    Completion::Accepted {
        deadline,
        result: Some(stored("handed on")),
        result_ref: None,
    }
}

pub(crate) fn doubt(reason: &str) -> Completion {
    Completion::Unknown {
        reason: reason.to_owned(),
    }
}

pub(crate) fn note(provider_ref: Option<&str>, result_ref: Option<&str>) -> Annotation {
    let mut note = Annotation::default();
    note.provider_ref = provider_ref.map(str::to_owned);
    note.result_ref = result_ref.map(str::to_owned);
    note
}

/// A name that no other case uses.
fn unique(what: &str) -> String {
    let random = u128::from_le_bytes(*Owner::mint().as_bytes());
    format!("{what}-{random:032x}")
}
