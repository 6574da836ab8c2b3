//! Defects of complete, release, annotate and receive.

use std::time::Duration;

use bytes::Bytes;
use counterfoil_core::{
    Owner,
    lifecycle::{Ending, State, Verdict},
    store::{
        Annotated, Annotation, Completed, Completion, Lease, Receipt, Received, Record, Released,
        Resolution, Store, StoreError, StoredResult,
    },
};

use crate::{broken::Broken, defects::Defect};

impl Broken {
    pub(crate) async fn spoil_complete(
        &self,
        held: &Lease,
        completion: &Completion,
    ) -> Result<Completed, StoreError> {
        let (mut held, mut said) = (*held, completion.clone());
        match self.stands(held.id).await {
            None if self.is(Defect::CompletesTheAbsent) => return Ok(Completed::Completed),
            None => {}
            Some(record) => {
                if let Some(answer) = self.instead_of_complete(&held, completion, &record) {
                    return Ok(answer);
                }
                if record.life.is_held_by(held.owner, held.epoch) {
                    self.spoil_completion(&mut said, &record);
                }
                self.spoil_held(&mut held, &record);
            }
        }
        let outside = held.id;
        held.id = self.inside(held.id);
        let answer = self.inner.complete(&held, &said).await?;
        if answer == Completed::InDoubt && self.is(Defect::ForgetsDoubt) {
            self.end_doubt(&held, Verdict::Failed).await;
            return Ok(Completed::Completed);
        }
        let ends_accepted = self.is(Defect::LetsOwnersEndTheAccepted);
        if let (true, Completed::NotOwner, Completion::Ended { ending, .. }) =
            (ends_accepted, answer, said)
            && self.stands(outside).await.map(|record| record.life.state) == Some(State::Accepted)
        {
            let receipt = Receipt {
                id: held.id,
                epoch: held.epoch,
                ending,
                result: None,
                result_ref: None,
            };
            self.inner.receive(&receipt).await?;
            return Ok(Completed::Completed);
        }
        Ok(answer)
    }

    fn instead_of_complete(
        &self,
        held: &Lease,
        completion: &Completion,
        record: &Record,
    ) -> Option<Completed> {
        let life = &record.life;
        if !life.is_held_by(held.owner, held.epoch) {
            return None;
        }
        let ends = |ending: Ending| matches!(completion, Completion::Ended { ending: said, .. } if *said == ending);
        let accepts = matches!(completion, Completion::Accepted { .. });
        match self.defect? {
            Defect::CompletesOnce if life.state.is_terminal() => Some(Completed::NotOwner),
            Defect::AcceptsOnce if life.state == State::Accepted && accepts => {
                Some(Completed::NotOwner)
            }
            Defect::RefusesLateCompletions
                if life.state == State::Unknown && !life.in_doubt && !accepts =>
            {
                Some(Completed::NotOwner)
            }
            Defect::RefusesLateAcceptances if life.state.is_terminal() && accepts => {
                Some(Completed::NotOwner)
            }
            Defect::RewritesTheEnded if life.state.is_terminal() => {
                self.memo().overwritten.insert(held.id, completion.clone());
                Some(Completed::Completed)
            }
            Defect::DoubtsTheDone if life.in_doubt && ends(Ending::Done) => {
                Some(Completed::InDoubt)
            }
            Defect::DoubtsForEver
                if !life.in_doubt && ends(Ending::Failed) && self.memo().met.contains(&held.id) =>
            {
                Some(Completed::InDoubt)
            }
            _ => None,
        }
    }

    fn spoil_held(&self, held: &mut Lease, record: &Record) {
        let Some(owner) = record.life.owner else {
            return;
        };
        let epoch = record.life.epoch;
        match self.defect {
            Some(Defect::CompletesForAnybody) if held.epoch == epoch => held.owner = owner,
            Some(Defect::CompletesForAnyEpoch) if held.owner == owner => held.epoch = epoch,
            Some(Defect::CompletesForTheLost) if held.epoch < epoch => {
                held.owner = owner;
                held.epoch = epoch;
            }
            _ => {}
        }
    }

    fn spoil_completion(&self, said: &mut Completion, record: &Record) {
        match said {
            Completion::Ended {
                result, result_ref, ..
            } => {
                self.spoil_result(result);
                match self.defect {
                    Some(Defect::LetsNotesWin) if record.result_ref.is_some() => *result_ref = None,
                    Some(Defect::ErasesReferences) => {
                        result_ref.get_or_insert_default();
                    }
                    _ => {}
                }
            }
            Completion::Accepted {
                deadline, result, ..
            } => {
                self.spoil_result(result);
                match self.defect {
                    Some(Defect::AcceptsForEver) => *deadline = None,
                    Some(Defect::AcceptsForAMoment) if deadline.is_none() => {
                        *deadline = Some(self.now() + Duration::from_secs(1));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn spoil_result(&self, result: &mut Option<StoredResult>) {
        if let Some(result) = result {
            match self.defect {
                Some(Defect::TruncatesResults) => result.bytes.truncate(64 * 1024),
                Some(Defect::ReadsResultsAsText) => {
                    let text = String::from_utf8_lossy(&result.bytes).into_owned();
                    result.bytes = Bytes::from(text);
                }
                Some(Defect::ForgetsFormats) => result.format = "json".into(),
                _ => {}
            }
        }
        match self.defect {
            Some(Defect::TakesEmptyForNone) => {
                *result = result.take().filter(|result| !result.bytes.is_empty());
            }
            Some(Defect::TakesNoneForEmpty) => {
                result.get_or_insert_with(|| StoredResult::json(Bytes::new()));
            }
            _ => {}
        }
    }

    /// Resolves with a vouch that nobody gave.
    async fn end_doubt(&self, held: &Lease, verdict: Verdict) {
        let resolution = Resolution {
            id: held.id,
            owner: Owner::mint(),
            seen: held.epoch,
            verdict,
            vouched: true,
            result: None,
            result_ref: None,
            by: None,
            reason: String::new(),
        };
        let _ = self.inner.resolve(&resolution).await;
    }

    pub(crate) async fn spoil_release(&self, held: &Lease) -> Result<Released, StoreError> {
        let mut held = *held;
        if let Some(record) = self.stands(held.id).await {
            let life = &record.life;
            let own = life.is_held_by(held.owner, held.epoch);
            let refuses = match self.defect {
                Some(Defect::ReleasesOnce) => own && life.state == State::Released,
                Some(Defect::RefusesLateReleases) => {
                    own && life.state == State::Unknown && !life.in_doubt
                }
                _ => false,
            };
            if refuses {
                return Ok(Released::NotOwner);
            }
            if let (true, Some(owner)) = (self.is(Defect::ReleasesForAnybody), life.owner) {
                held.owner = owner;
                held.epoch = life.epoch;
            }
        }
        held.id = self.inside(held.id);
        let answer = self.inner.release(&held).await?;
        match answer {
            Released::InDoubt if self.is(Defect::ForgetsDoubt) => {
                self.end_doubt(&held, Verdict::NotExecuted).await;
                return Ok(Released::Released);
            }
            _ => {}
        }
        Ok(answer)
    }

    pub(crate) async fn spoil_annotate(
        &self,
        held: &Lease,
        note: &Annotation,
    ) -> Result<Annotated, StoreError> {
        let (mut held, mut note) = (*held, note.clone());
        if let Some(record) = self.stands(held.id).await {
            let life = &record.life;
            let own = life.is_held_by(held.owner, held.epoch);
            match self.defect {
                Some(Defect::NotesNothing) if own && !life.state.may_be_purged() => {
                    return Ok(Annotated::Annotated);
                }
                Some(Defect::NotesTheEnded) if own && life.state.may_be_purged() => {
                    return Ok(Annotated::Annotated);
                }
                Some(Defect::RefusesLateNotes) if own && life.state == State::Unknown => {
                    return Ok(Annotated::NotOwner);
                }
                Some(Defect::NotesForAnybody) => {
                    held.owner = life.owner.unwrap_or(held.owner);
                    held.epoch = life.epoch;
                }
                Some(Defect::ErasesEarlierNotes) => {
                    note.provider_ref.get_or_insert_default();
                    note.result_ref.get_or_insert_default();
                }
                _ => {}
            }
        }
        held.id = self.inside(held.id);
        self.inner.annotate(&held, &note).await
    }

    pub(crate) async fn spoil_receive(&self, receipt: &Receipt) -> Result<Received, StoreError> {
        let mut receipt = receipt.clone();
        if let Some(record) = self.stands(receipt.id).await {
            let life = &record.life;
            let own = life.epoch == receipt.epoch;
            match (self.defect, life.state) {
                (Some(Defect::LosesReceipts), State::Accepted) if own && !life.in_doubt => {
                    return Ok(Received::Received);
                }
                (Some(Defect::RefusesLateReceipts), State::Unknown) if own => {
                    return Ok(Received::NotOwner);
                }
                (Some(Defect::RefusesEarlyReceipts), State::InFlight) if own => {
                    return Ok(Received::NotOwner);
                }
                (Some(Defect::ReceivesAnythingOnceMore), State::Done | State::Failed) if own => {
                    return Ok(Received::Received);
                }
                (Some(Defect::ReceivesForAnyEpoch), _) => receipt.epoch = life.epoch,
                (Some(Defect::ErasesWhatReceiptsLeaveOut), _) => {
                    receipt
                        .result
                        .get_or_insert_with(|| StoredResult::json(Bytes::new()));
                }
                _ => {}
            }
        }
        receipt.id = self.inside(receipt.id);
        let answer = self.inner.receive(&receipt).await?;
        if answer == Received::InDoubt && self.is(Defect::ForgetsDoubt) {
            let held = Lease {
                id: receipt.id,
                owner: Owner::mint(),
                epoch: receipt.epoch,
            };
            self.end_doubt(&held, Verdict::Failed).await;
            return Ok(Received::Received);
        }
        Ok(answer)
    }
}
