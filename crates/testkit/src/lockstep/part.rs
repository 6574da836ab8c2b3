//! What the words of a step stand for, where its operation stands now.

use std::time::Duration;

use counterfoil_core::{
    Epoch, OperationId, Owner, ParamHash, Scope, Subject, Timestamp,
    lifecycle::{Claim, Seen},
    store::{
        Acquire, Annotation, Cancellation, Completion, FenceRequest, Identity, Lease, Receipt,
        Record, Resolution, StoredResult, Tombstone,
    },
};

use super::{
    call::Call,
    script::{Ask, Bytes, Exp, Held, Look, OWNERS, Said, Which, Who, Whose},
};

/// When the operations' own credentials end, in units from the beginning.
const EXP: u32 = 10;

/// Kept past everything that a sequence does.
const RETENTION: Duration = Duration::from_secs(7 * 86_400);

const LARGE: usize = 70 * 1024;

/// An operation of a sequence's own.
pub(super) struct Operation {
    pub(super) id: OperationId,
    owners: [Owner; OWNERS],
    identity: Identity,
}

impl Operation {
    pub(super) fn new(id: OperationId) -> Self {
        let tenant = u128::from_le_bytes(*Owner::mint().as_bytes());
        Self {
            id,
            owners: std::array::from_fn(|_| Owner::mint()),
            identity: Identity {
                subject: subject(&format!("tenant-{tenant:032x}"), "agent"),
                scope: Scope::new("testkit.lockstep"),
                hash: ParamHash::from_bytes([7; 32]),
            },
        }
    }

    fn identity(&self, whose: Whose) -> Identity {
        let mut identity = self.identity.clone();
        match whose {
            Whose::Own => {}
            Whose::OtherHash => identity.hash = other_hash(),
            Whose::OtherPrincipal => {
                identity.subject = subject(identity.subject.tenant(), "another");
            }
            Whose::OtherTenant => identity.subject = subject("another", "agent"),
            Whose::OtherScope => identity.scope = Scope::new("testkit.another"),
            Whose::Stranger => {
                identity.subject = subject("another", "agent");
                identity.hash = other_hash();
            }
        }
        identity
    }
}

/// A step's words, read where the operation stands now.
pub(super) struct Part<'a> {
    operation: &'a Operation,
    record: Option<&'a Record>,
    times: Times,
}

/// When a sequence began, and the reference's time in it.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) began: Timestamp,
    pub(super) now: Timestamp,
    pub(super) unit: Duration,
}

impl Times {
    fn exp(&self, exp: Exp) -> Option<Timestamp> {
        match exp {
            Exp::Own => Some(self.began + self.units(EXP)),
            Exp::Never => None,
            Exp::Now => Some(self.now),
            Exp::Later => Some(self.later()),
        }
    }

    fn later(&self) -> Timestamp {
        self.began + self.units(1_000)
    }

    fn units(&self, units: u32) -> Duration {
        self.unit * units
    }
}

impl<'a> Part<'a> {
    pub(super) const fn new(
        operation: &'a Operation,
        record: Option<&'a Record>,
        times: Times,
    ) -> Self {
        Self {
            operation,
            record,
            times,
        }
    }

    pub(super) fn call(&self, ask: &Ask) -> Call {
        let id = self.operation.id;
        match ask {
            Ask::Acquire { .. } => Call::Acquire(Box::new(self.acquire(ask))),
            Ask::Renew(held, lease) => Call::Renew(self.held(*held), self.times.units(*lease)),
            Ask::Complete(held, said) => Call::Complete(self.held(*held), self.completion(said)),
            Ask::Release(held) => Call::Release(self.held(*held)),
            Ask::Annotate {
                held,
                provider_ref,
                result_ref,
            } => {
                let mut note = Annotation::default();
                note.provider_ref = provider_ref.map(|n| format!("provider-{n}"));
                note.result_ref = reference(*result_ref);
                Call::Annotate(self.held(*held), note)
            }
            Ask::Receive {
                epoch,
                ending,
                result,
                result_ref,
            } => Call::Receive(Receipt {
                id,
                epoch: self.epoch(*epoch),
                ending: *ending,
                result: result.map(stored),
                result_ref: reference(*result_ref),
            }),
            Ask::Fence { by, seen, hold } => Call::Fence(FenceRequest {
                id,
                owner: self.owner(*by),
                seen: self.epoch(*seen),
                hold: self.times.units(*hold),
            }),
            Ask::Resolve {
                by,
                seen,
                verdict,
                vouched,
                result,
                result_ref,
                by_a_person,
            } => Call::Resolve(Box::new(Resolution {
                id,
                owner: self.owner(*by),
                seen: self.epoch(*seen),
                verdict: *verdict,
                vouched: *vouched,
                result: result.map(stored),
                result_ref: reference(*result_ref),
                by: by_a_person.then(|| subject("acme", "operator")),
                reason: "downstream was asked".to_owned(),
            })),
            Ask::Cancel {
                by,
                tombstone,
                with_reason,
            } => Call::Cancel(Box::new(Cancellation {
                id,
                subject: self.operation.identity(*by).subject,
                tombstone: tombstone.map(|(whose, exp)| self.tombstone(whose, exp)),
                reason: with_reason.then(|| "not needed any more".to_owned()),
            })),
            Ask::Find => Call::Find(id),
        }
    }

    fn acquire(&self, ask: &Ask) -> Acquire {
        let Ask::Acquire {
            by,
            identity,
            lease,
            exp,
            seen,
            takeover_within,
            needs_approval,
        } = ask
        else {
            unreachable!("called for an acquire alone");
        };
        let mut claim = Claim::new(self.owner(*by), self.times.units(*lease));
        claim.exp = self.times.exp(*exp);
        claim.needs_approval = *needs_approval;
        claim.seen = seen.and_then(|look| self.seen(look));
        claim.takeover_within = takeover_within.map(|units| self.times.units(units));
        let identity = self.operation.identity(*identity);
        Acquire::new(self.operation.id, identity, claim, RETENTION)
    }

    fn completion(&self, said: &Said) -> Completion {
        match said {
            Said::Ended {
                ending,
                result,
                result_ref,
            } => Completion::Ended {
                ending: *ending,
                result: result.map(stored),
                result_ref: reference(*result_ref),
            },
            Said::Accepted {
                deadline,
                result,
                result_ref,
            } => Completion::Accepted {
                deadline: deadline.map(|units| self.times.now + self.times.units(units)),
                result: result.map(stored),
                result_ref: reference(*result_ref),
            },
            Said::Unknown(n) => Completion::Unknown {
                reason: format!("the connection broke, {n}"),
            },
        }
    }

    fn tombstone(&self, whose: Whose, exp: Exp) -> Tombstone {
        Tombstone {
            identity: self.operation.identity(whose),
            exp: self.times.exp(exp).unwrap_or(self.times.later()),
            retention: RETENTION,
        }
    }

    fn held(&self, held: Held) -> Lease {
        Lease {
            id: self.operation.id,
            owner: self.owner(held.owner),
            epoch: self.epoch(held.epoch),
        }
    }

    fn owner(&self, who: Who) -> Owner {
        let on_record = self.record.and_then(|record| record.life.owner);
        match who {
            Who::Standing => on_record.unwrap_or(self.operation.owners[0]),
            Who::Nth(n) => self.operation.owners[n],
        }
    }

    fn epoch(&self, which: Which) -> Epoch {
        let on_record = self.record.map(|record| record.life.epoch.as_u64());
        let standing = on_record.unwrap_or(Epoch::FIRST.as_u64());
        Epoch::from_u64(match which {
            Which::Before => standing.saturating_sub(1),
            Which::Standing => standing,
            Which::After => standing + 1,
        })
    }

    /// Whoever read that there is nothing names nothing.
    fn seen(&self, look: Look) -> Option<Seen> {
        let on_record = self.record.map(|record| record.life.state);
        Some(Seen {
            state: look.state.or(on_record)?,
            epoch: self.epoch(look.epoch),
        })
    }
}

fn stored(bytes: Bytes) -> StoredResult {
    match bytes {
        Bytes::Empty => StoredResult::json(bytes::Bytes::new()),
        Bytes::Text => StoredResult::json(bytes::Bytes::from_static(b"{\"paid\":true}")),
        Bytes::Binary => StoredResult {
            format: "octets/1".into(),
            bytes: bytes::Bytes::from_static(&[0, 0xff, b'\'', b'\\', 0x80, b'\n', 0]),
        },
        Bytes::Large => StoredResult::json(bytes::Bytes::from_static(&[b'x'; LARGE])),
    }
}

fn reference(n: Option<u8>) -> Option<String> {
    n.map(|n| format!("INV-{n}"))
}

fn other_hash() -> ParamHash {
    ParamHash::from_bytes([8; 32])
}

fn subject(tenant: &str, principal: &str) -> Subject {
    Subject::new(tenant, principal).expect("a short subject")
}
