//! Fence, resolve and cancel: what others than the owner say of a record.
//!
//! They know the operation by its id and an epoch alone. So what stands is read and verified first, to seal the words
//! with its identity and its owner; the script judges what stands then, and says `moved` where that is another record.

use counterfoil_core::{
    Epoch,
    lifecycle::{State, Verdict},
    store::{
        Cancellation, Cancelled, FenceRequest, Fenced, Record, Resolution, Resolved, StoreError,
        Tombstone,
    },
};

use super::{
    MAX_TRIES, Read, RedisStore, bytes, claim::reference, finish::check_format, flag, keeps_moving,
    number, span,
};
use crate::{
    codec::{fields::state_number, seal::Kind, slots::Holder, word::Word},
    failure::out_of_step,
};

impl RedisStore {
    pub(super) async fn hold(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
        let until = self.link.deadline();
        for _ in 0..MAX_TRIES {
            let Some(Read { stored, digest, .. }) = self.read(request.id, until).await? else {
                return Ok(Fenced::Refused(None));
            };
            let holder = Holder {
                id: request.id,
                owner: Some(request.owner),
                epoch: request.seen.next(),
            };
            let record = stored.record;
            let seals = self.seals.now();
            let claim = seals.claim(&record.identity, &holder, stored.taken);
            let word = Word {
                reason: record.reason,
                ..Word::new(State::Unknown)
            };
            let acceptance = record.result.map(|result| Word {
                has_result: true,
                result: Some(result),
                ..Word::new(State::Accepted)
            });
            let acceptance = acceptance.map(|word| seals.word(&holder, &word));
            let args = vec![
                digest.into(),
                bytes(holder.owner_bytes()),
                bytes(request.seen.as_u64().to_be_bytes()),
                bytes(holder.epoch_bytes()),
                span(request.hold),
                bytes(claim),
                bytes(seals.word(&holder, &word)),
                bytes(acceptance.unwrap_or_default()),
            ];
            let reply = self
                .run(&self.scripts.fence, request.id, args, until)
                .await?;
            return match &*reply.what {
                "moved" => continue,
                "absent" => Ok(Fenced::Refused(None)),
                "fenced" => Ok(Fenced::Fenced(self.record(request.id, reply)?)),
                "refused" => Ok(Fenced::Refused(Some(self.record(request.id, reply)?))),
                _ => Err(out_of_step()),
            };
        }
        Err(keeps_moving())
    }

    pub(super) async fn settle(&self, resolution: &Resolution) -> Result<Resolved, StoreError> {
        check_format(resolution.result.as_ref())?;
        let until = self.link.deadline();
        for tries in 0..MAX_TRIES {
            let Some(read) = self.read(resolution.id, until).await? else {
                return Ok(Resolved::Refused(None));
            };
            if tries > 0 && stands_as_said(&read.stored.record, resolution) {
                // The client may send a command again where a cluster changes, and the first one has moved it.
                return Ok(Resolved::Resolved(read.stored.at(read.now)));
            }
            let args = self.resolve_args(resolution, &read);
            let reply = self
                .run(&self.scripts.resolve, resolution.id, args, until)
                .await?;
            return match &*reply.what {
                "moved" => continue,
                "absent" => Ok(Resolved::Refused(None)),
                "unvouched" => Ok(Resolved::Unvouched),
                "resolved" => Ok(Resolved::Resolved(self.record(resolution.id, reply)?)),
                "refused" => Ok(Resolved::Refused(Some(self.record(resolution.id, reply)?))),
                _ => Err(out_of_step()),
            };
        }
        Err(keeps_moving())
    }

    fn resolve_args(&self, resolution: &Resolution, read: &Read) -> Vec<fred::types::Value> {
        let stands = read.stored.holder();
        let state = state_after(resolution.verdict);
        let frees = state == State::Released;
        let holder = if frees && stands.owner != Some(resolution.owner) {
            Holder {
                id: resolution.id,
                owner: Some(resolution.owner),
                epoch: resolution.seen.next(),
            }
        } else {
            stands
        };
        let word = Word {
            has_result: true,
            result: resolution.result.clone().filter(|_| !frees),
            ends_doubt: true,
            reason: Some(resolution.reason.clone()),
            by: resolution.by.clone(),
            result_ref: resolution.result_ref.clone().filter(|_| !frees),
            ..Word::new(state)
        };
        let identity = &read.stored.record.identity;
        let seals = self.seals.now();
        vec![
            read.digest.clone().into(),
            bytes(
                Holder {
                    owner: Some(resolution.owner),
                    ..holder
                }
                .owner_bytes(),
            ),
            bytes(resolution.seen.as_u64().to_be_bytes()),
            bytes(holder.epoch_bytes()),
            number(state_number(state).into()),
            flag(resolution.vouched),
            bytes(seals.word(&holder, &word)),
            bytes(reference(
                &seals,
                Kind::ResultRef,
                &holder,
                word.result_ref.as_deref(),
            )),
            bytes(seals.claim(identity, &holder, read.stored.taken)),
        ]
    }

    /// A tombstone's scope and hash come from the credential that named the operation. Where they aren't the record's, it
    /// is not the operation that the caller means, and the caller learns no more than a stranger does.
    pub(super) async fn call_off(
        &self,
        cancellation: &Cancellation,
    ) -> Result<Cancelled, StoreError> {
        let id = cancellation.id;
        let until = self.link.deadline();
        for _ in 0..MAX_TRIES {
            let (script, args) = match (self.read(id, until).await?, &cancellation.tombstone) {
                (None, None) => return Ok(Cancelled::Absent),
                (None, Some(tombstone)) if tombstone.identity.subject != cancellation.subject => {
                    return Ok(Cancelled::Foreign);
                }
                (None, Some(tombstone)) => (
                    &self.scripts.entomb,
                    self.entomb_args(cancellation, tombstone),
                ),
                (Some(read), tombstone) => {
                    let identity = &read.stored.record.identity;
                    let same_subject = identity.subject == cancellation.subject;
                    let same_identity = tombstone
                        .as_ref()
                        .is_none_or(|tombstone| tombstone.identity == *identity);
                    if !same_subject || !same_identity {
                        return Ok(Cancelled::Foreign);
                    }
                    let word = Word {
                        has_result: true,
                        result: read.stored.record.result.clone(),
                        ..called_off(cancellation)
                    };
                    let word = self.seals.now().word(&read.stored.holder(), &word);
                    (&self.scripts.cancel, vec![read.digest.into(), bytes(word)])
                }
            };
            let reply = self.run(script, id, args, until).await?;
            return match &*reply.what {
                "moved" | "absent" => continue,
                "expired" => Ok(Cancelled::Expired { now: reply.now }),
                "cancelled" => Ok(Cancelled::Cancelled(self.record(id, reply)?)),
                "too late" => Ok(Cancelled::TooLate(self.record(id, reply)?)),
                _ => Err(out_of_step()),
            };
        }
        Err(keeps_moving())
    }

    fn entomb_args(
        &self,
        cancellation: &Cancellation,
        tombstone: &Tombstone,
    ) -> Vec<fred::types::Value> {
        let nobody = Holder {
            id: cancellation.id,
            owner: None,
            epoch: Epoch::NONE,
        };
        let seals = self.seals.now();
        let identity = seals.identity(
            cancellation.id,
            &tombstone.identity,
            Some(tombstone.exp),
            tombstone.retention,
        );
        vec![
            bytes(identity),
            bytes(seals.word(&nobody, &called_off(cancellation))),
            bytes(nobody.owner_bytes()),
            bytes(nobody.epoch_bytes()),
        ]
    }
}

const fn state_after(verdict: Verdict) -> State {
    match verdict {
        Verdict::Done => State::Done,
        Verdict::Failed => State::Failed,
        Verdict::NotExecuted => State::Released,
    }
}

fn called_off(cancellation: &Cancellation) -> Word {
    Word {
        ends_doubt: true,
        reason: cancellation.reason.clone(),
        by: Some(cancellation.subject.clone()),
        ..Word::new(State::Cancelled)
    }
}

/// Whether the record is what this resolution leads to.
fn stands_as_said(record: &Record, resolution: &Resolution) -> bool {
    let frees = resolution.verdict == Verdict::NotExecuted;
    record.life.state == state_after(resolution.verdict)
        && record.reason.as_ref() == Some(&resolution.reason)
        && record.settled_by == resolution.by
        && (frees || record.result == resolution.result)
        && (!frees || record.life.owner == Some(resolution.owner))
}
