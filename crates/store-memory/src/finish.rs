//! Complete and receive: how a run ended, said once and for all.

use counterfoil_core::{
    Epoch, Owner, Timestamp,
    lifecycle::{Ending, Event, State, step},
    store::{
        Completed, Completion, Evidence, IN_DOUBT, Lease, Receipt, Received, Record, StoredResult,
    },
};

use crate::claim::{overwrite, write};

pub(crate) fn complete(
    record: &mut Record,
    held: &Lease,
    completion: &Completion,
    now: Timestamp,
) -> Completed {
    let answer = match completion {
        Completion::Ended {
            ending,
            result,
            result_ref,
        } => end(record, held, *ending, (result, result_ref), now),
        Completion::Accepted {
            deadline,
            result,
            result_ref,
        } => accept(record, held, *deadline, (result, result_ref), now),
        Completion::Unknown { reason } => doubt(record, held, reason, now),
        // A way to end that this store does not know can't be on record.
        _ => Completed::NotOwner,
    };
    if answer == Completed::NotOwner {
        keep_evidence(record, held.owner, held.epoch, completion, now);
    }
    answer
}

pub(crate) fn receive(record: &mut Record, receipt: &Receipt, now: Timestamp) -> Received {
    let Receipt {
        epoch,
        ending,
        result,
        result_ref,
        ..
    } = receipt;
    let event = Event::Receipt {
        epoch: *epoch,
        ending: *ending,
    };
    let stands = record.life.state.is_terminal();
    match step(Some(&record.life), &event, now) {
        Ok(_) if stands && says_the_same(record, result.as_ref(), result_ref.as_ref()) => {
            Received::Received
        }
        Ok(life) if !stands => {
            let in_doubt = !life.state.is_terminal();
            write(record, life, now);
            if in_doubt {
                record.reason = Some(IN_DOUBT.to_owned());
                return Received::InDoubt;
            }
            overwrite(&mut record.result, result.as_ref());
            overwrite(&mut record.result_ref, result_ref.as_ref());
            record.reason = None;
            Received::Received
        }
        _ => {
            if let Some(owner) = record.life.owner.filter(|_| record.life.epoch == *epoch) {
                let said = Completion::Ended {
                    ending: *ending,
                    result: result.clone(),
                    result_ref: result_ref.clone(),
                };
                keep_evidence(record, owner, *epoch, &said, now);
            }
            Received::NotOwner
        }
    }
}

type Said<'a> = (&'a Option<StoredResult>, &'a Option<String>);

fn end(
    record: &mut Record,
    held: &Lease,
    ending: Ending,
    (result, result_ref): Said<'_>,
    now: Timestamp,
) -> Completed {
    let event = Event::Complete {
        owner: held.owner,
        epoch: held.epoch,
        ending,
    };
    let Ok(life) = step(Some(&record.life), &event, now) else {
        return Completed::NotOwner;
    };
    if record.life.state.is_terminal() {
        let same = record.result == *result && fits(&record.result_ref, result_ref);
        return if same {
            Completed::Completed
        } else {
            Completed::NotOwner
        };
    }
    let in_doubt = !life.state.is_terminal();
    write(record, life, now);
    if in_doubt {
        record.reason = Some(IN_DOUBT.to_owned());
        return Completed::InDoubt;
    }
    // Without a result there is none: what an acceptance told its caller is not how it ended.
    record.result.clone_from(result);
    overwrite(&mut record.result_ref, result_ref.as_ref());
    record.reason = None;
    Completed::Completed
}

fn accept(
    record: &mut Record,
    held: &Lease,
    deadline: Option<Timestamp>,
    (result, result_ref): Said<'_>,
    now: Timestamp,
) -> Completed {
    let event = Event::Accept {
        owner: held.owner,
        epoch: held.epoch,
        deadline,
    };
    let Ok(life) = step(Some(&record.life), &event, now) else {
        return Completed::NotOwner;
    };
    match record.state_at(now) {
        // Its reply was lost, and the receipt was faster: that one's result stands.
        State::Done | State::Failed => Completed::Completed,
        State::Accepted => {
            let same = record.life.deadline == deadline
                && record.result == *result
                && fits(&record.result_ref, result_ref);
            if same {
                Completed::Completed
            } else {
                Completed::NotOwner
            }
        }
        _ => {
            write(record, life, now);
            record.result.clone_from(result);
            overwrite(&mut record.result_ref, result_ref.as_ref());
            record.reason = None;
            Completed::Completed
        }
    }
}

fn doubt(record: &mut Record, held: &Lease, reason: &str, now: Timestamp) -> Completed {
    let event = Event::Doubt {
        owner: held.owner,
        epoch: held.epoch,
    };
    let Ok(life) = step(Some(&record.life), &event, now) else {
        return Completed::NotOwner;
    };
    write(record, life, now);
    record.reason = Some(reason.to_owned());
    Completed::Completed
}

/// Whether a receipt for an operation that has ended says what is on record; what it leaves out it does not deny.
fn says_the_same(
    record: &Record,
    result: Option<&StoredResult>,
    result_ref: Option<&String>,
) -> bool {
    result.is_none_or(|said| record.result.as_ref() == Some(said))
        && result_ref.is_none_or(|said| record.result_ref.as_ref() == Some(said))
}

fn fits(on_record: &Option<String>, said: &Option<String>) -> bool {
    said.is_none() || on_record == said
}

/// How many a record keeps. Each may carry a result, so the number is as small as the contract allows.
const MAX_EVIDENCE: usize = 4;

/// A copy of what is kept already is not kept twice, so that it pushes nothing out.
fn keep_evidence(
    record: &mut Record,
    owner: Owner,
    epoch: Epoch,
    completion: &Completion,
    now: Timestamp,
) {
    let known = record
        .evidence
        .iter()
        .any(|kept| kept.owner == owner && kept.epoch == epoch && kept.completion == *completion);
    if known {
        return;
    }
    if record.evidence.len() >= MAX_EVIDENCE {
        record.evidence.remove(0);
    }
    record.evidence.push(Evidence {
        owner,
        epoch,
        completion: completion.clone(),
        at: now,
    });
}
