//! Acquire, renew, release and annotate: the owner's way through a record.

use std::time::Duration;

use counterfoil_core::{
    Epoch,
    lifecycle::State,
    store::{
        Acquire, Acquired, Annotated, Annotation, Claimed, Lease, Mismatch, Released, Renewed,
        StoreError,
    },
};

use super::{RedisStore, bytes, flag, nothing, span};
use crate::{
    codec::{
        fields::state_number,
        seal::{Kind, Seals},
        slots::Holder,
        value::{head_of_a_claim, slots_of_a_claim},
        word::Word,
    },
    failure::{misuse, out_of_step},
    script::Reply,
};

/// Why an honest `failed` or release leaves a record unknown.
pub(super) const IN_DOUBT: &str = "an earlier attempt may have done it";

impl RedisStore {
    pub(super) async fn claim(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        if !request.guards.is_empty() {
            return Err(misuse("the redis store holds no guards"));
        }
        let until = self.link.deadline();
        let claim = &request.claim;
        // A claim that names what it read takes the next epoch, and one that names nothing can only be the first.
        let epoch = claim.seen.map_or(Epoch::FIRST, |seen| seen.epoch.next());
        let holder = Holder {
            id: request.id,
            owner: Some(claim.owner),
            epoch,
        };
        let takes_over = claim.seen.is_some_and(|seen| seen.state == State::Unknown);
        let seals = self.seals.now();
        let identity = seals.identity(request.id, &request.identity, claim.exp, request.retention);
        let seal = seals.claim(&request.identity, &holder, takes_over);
        let mut args = vec![
            bytes(head_of_a_claim(&holder)),
            bytes(slots_of_a_claim(&identity, &seal)),
            span(claim.lease),
        ];
        // Most claims name nothing and ask for nothing, and send no more than that.
        if claim.seen.is_some() || claim.takeover_within.is_some() || claim.needs_approval {
            let seen = claim.seen.map_or_else(Vec::new, |seen| {
                let mut bytes = vec![state_number(seen.state)];
                bytes.extend_from_slice(&seen.epoch.as_u64().to_be_bytes());
                bytes
            });
            args.push(bytes(seen));
            args.push(claim.takeover_within.map_or_else(nothing, span));
            args.push(flag(claim.needs_approval));
        }
        let reply = self
            .run(&self.scripts.acquire, request.id, args, until)
            .await?;
        self.acquired(request, reply)
    }

    fn acquired(&self, request: &Acquire, reply: Reply) -> Result<Acquired, StoreError> {
        let now = reply.now;
        match &*reply.what {
            "claimed" => {
                // The first claim of all is told nothing that it does not know.
                let (epoch, attempt) = if reply.has_value() {
                    reply.epoch_and_attempt()?
                } else {
                    (Epoch::FIRST, 1)
                };
                let lease = Lease {
                    id: request.id,
                    owner: request.claim.owner,
                    epoch,
                };
                return Ok(Acquired::Claimed(Claimed::new(lease, attempt)));
            }
            "gone" => return Ok(Acquired::Gone),
            "approval missing" => return Ok(Acquired::ApprovalMissing),
            "expired" if !reply.has_value() => {
                return Ok(Acquired::Expired { record: None, now });
            }
            _ => {}
        }
        // Lua compared what nobody had verified yet, and whose it is not is told here.
        let what = reply.what.clone();
        let record = self.record(request.id, reply)?;
        match (record.check(&request.identity), &*what) {
            (Err(Mismatch::Foreign), _) => Ok(Acquired::Foreign),
            (Err(Mismatch::Params), _) => Ok(Acquired::ParamsChanged(record)),
            (Ok(()), "found") => Ok(Acquired::Found(record)),
            (Ok(()), "expired") => Ok(Acquired::Expired {
                record: Some(record),
                now,
            }),
            (Ok(()), _) => Err(out_of_step()),
        }
    }

    pub(super) async fn lengthen(
        &self,
        held: &Lease,
        lease: Duration,
    ) -> Result<Renewed, StoreError> {
        let holder = holder(held);
        let args = vec![
            bytes(holder.owner_bytes()),
            bytes(holder.epoch_bytes()),
            span(lease),
        ];
        let until = self.link.deadline();
        let reply = self.run(&self.scripts.renew, held.id, args, until).await?;
        match &*reply.what {
            "renewed" => Ok(Renewed::Renewed),
            "lapsed" => Ok(Renewed::Lapsed),
            "not owner" | "absent" => Ok(Renewed::NotOwner),
            _ => Err(out_of_step()),
        }
    }

    pub(super) async fn give_back(&self, held: &Lease) -> Result<Released, StoreError> {
        let holder = holder(held);
        let mut released = Word::new(State::Released);
        released.ends_doubt = true;
        let seals = self.seals.now();
        let args = vec![
            bytes(holder.owner_bytes()),
            bytes(holder.epoch_bytes()),
            bytes(seals.word(&holder, &released)),
            bytes(seals.word(&holder, &Word::doubt(IN_DOUBT))),
        ];
        let until = self.link.deadline();
        let reply = self
            .run(&self.scripts.release, held.id, args, until)
            .await?;
        match &*reply.what {
            "released" => Ok(Released::Released),
            "in doubt" => Ok(Released::InDoubt),
            "not owner" | "absent" => Ok(Released::NotOwner),
            _ => Err(out_of_step()),
        }
    }

    pub(super) async fn note(
        &self,
        held: &Lease,
        note: &Annotation,
    ) -> Result<Annotated, StoreError> {
        let holder = holder(held);
        let seals = self.seals.now();
        let reference = |kind, text| bytes(reference(&seals, kind, &holder, text));
        let args = vec![
            bytes(holder.owner_bytes()),
            bytes(holder.epoch_bytes()),
            reference(Kind::ProviderRef, note.provider_ref.as_deref()),
            reference(Kind::ResultRef, note.result_ref.as_deref()),
        ];
        let until = self.link.deadline();
        let reply = self
            .run(&self.scripts.annotate, held.id, args, until)
            .await?;
        match &*reply.what {
            "annotated" => Ok(Annotated::Annotated),
            "not owner" | "absent" => Ok(Annotated::NotOwner),
            _ => Err(out_of_step()),
        }
    }
}

/// A sealed reference, or nothing, which leaves what is on record.
pub(super) fn reference(
    seals: &Seals,
    kind: Kind,
    holder: &Holder,
    reference: Option<&str>,
) -> Vec<u8> {
    reference.map_or_else(Vec::new, |text| seals.reference(kind, holder, text))
}

pub(super) const fn holder(held: &Lease) -> Holder {
    Holder {
        id: held.id,
        owner: Some(held.owner),
        epoch: held.epoch,
    }
}
