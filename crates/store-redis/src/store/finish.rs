//! Complete and receive: how a run ended, said once and for all.

use counterfoil_core::{
    lifecycle::State,
    store::{Completed, Completion, Lease, Receipt, Received, StoreError, StoredResult},
};

use super::{
    MAX_TRIES, RedisStore, bytes,
    claim::{IN_DOUBT, holder, reference},
    keeps_moving, nothing, number,
};
use crate::{
    codec::{
        fields::{MAX_FORMAT_LEN, state_number},
        seal::Kind,
        word::Word,
    },
    failure::{misuse, out_of_step},
};

impl RedisStore {
    pub(super) async fn finish(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        let word = Word::of(completion)
            .ok_or_else(|| misuse("the redis store does not know this way to end"))?;
        check_format(word.result.as_ref())?;
        let holder = holder(held);
        let seals = self.seals.now();
        let mut args = vec![
            bytes(holder.bytes()),
            bytes([state_number(word.state)]),
            bytes(seals.word(&holder, &word)),
        ];
        // Most runs end without, and send no more than that.
        if word.state == State::Failed || word.result_ref.is_some() {
            args.push(match word.state {
                State::Failed => bytes(seals.word(&holder, &Word::doubt(IN_DOUBT))),
                _ => nothing(),
            });
            let result_ref = word.result_ref.as_deref();
            args.push(bytes(reference(
                &seals,
                Kind::ResultRef,
                &holder,
                result_ref,
            )));
        }
        let until = self.link.deadline();
        let reply = self
            .run(&self.scripts.complete, held.id, args, until)
            .await?;
        match &*reply.what {
            "completed" => Ok(Completed::Completed),
            "in doubt" => Ok(Completed::InDoubt),
            "not owner" | "absent" => Ok(Completed::NotOwner),
            _ => Err(out_of_step()),
        }
    }

    /// A receipt names an epoch and no owner, so that what stands is read first, to seal the words with its owner.
    pub(super) async fn take_receipt(&self, receipt: &Receipt) -> Result<Received, StoreError> {
        check_format(receipt.result.as_ref())?;
        let until = self.link.deadline();
        for _ in 0..MAX_TRIES {
            let Some(read) = self.read(receipt.id, until).await? else {
                return Ok(Received::Absent);
            };
            let holder = read.stored.holder();
            let seals = self.seals.now();
            let said = Word::ended(
                receipt.ending,
                receipt.result.clone(),
                receipt.result_ref.clone(),
            );
            let word = Word {
                result: receipt.result.clone().or(read.stored.record.result),
                ..said.clone()
            };
            let args = vec![
                read.digest.into(),
                bytes(receipt.epoch.as_u64().to_be_bytes()),
                number(state_number(word.state).into()),
                bytes(seals.word(&holder, &word)),
                bytes(seals.word(&holder, &said)),
                bytes(seals.word(&holder, &Word::doubt(IN_DOUBT))),
                bytes(reference(
                    &seals,
                    Kind::ResultRef,
                    &holder,
                    receipt.result_ref.as_deref(),
                )),
            ];
            let reply = self
                .run(&self.scripts.receive, receipt.id, args, until)
                .await?;
            return match &*reply.what {
                "moved" => continue,
                "absent" => Ok(Received::Absent),
                "received" => Ok(Received::Received),
                "in doubt" => Ok(Received::InDoubt),
                "not owner" => Ok(Received::NotOwner),
                _ => Err(out_of_step()),
            };
        }
        Err(keeps_moving())
    }
}

pub(super) fn check_format(result: Option<&StoredResult>) -> Result<(), StoreError> {
    match result {
        Some(result) if result.format.len() > MAX_FORMAT_LEN => {
            Err(misuse("the name of a result's format is too long"))
        }
        _ => Ok(()),
    }
}
