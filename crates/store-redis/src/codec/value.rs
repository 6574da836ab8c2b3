//! A store's record, read and verified.
//!
//! ```text
//! head       version 1, state 1, taken 1, due 1, owner 16, epoch 8, deadline 8, first claimed 6, created 6, updated 6,
//!            attempts 4
//! slots      identity 2+, claim 2+, word 4+, acceptance 4+, provider_ref 4+, result_ref 4+
//! evidence   at 8, owner 16, epoch 8, word 4+; up to the end
//! ```

use std::fmt;

use counterfoil_core::{
    Epoch, OperationId, Owner, Timestamp,
    lifecycle::{Life, State},
    store::{Evidence, Record},
};

use super::{
    bytes::{Reader, Unreadable, Write},
    fields::{read_state, state_number},
    seal::{Kind, Seals},
    slots::{Holder, NOBODY},
    word::Word,
};

const VERSION: u8 = 1;

/// A record as it was last written, and what a record has no field for.
///
/// `Debug` shows which record, and nothing that anybody said.
#[derive(Clone)]
pub(crate) struct Stored {
    /// Its life is as it was written: time has done nothing yet.
    pub(crate) record: Record,
    /// Whether the epoch began by a takeover.
    pub(crate) taken: bool,
}

impl Stored {
    /// The record as it reads at `now`.
    pub(crate) fn at(mut self, now: Timestamp) -> Box<Record> {
        self.record.life = self.record.life.at(now);
        Box::new(self.record)
    }

    /// Who has the epoch, or had it last.
    pub(crate) fn holder(&self) -> Holder {
        Holder {
            id: self.record.id,
            owner: self.record.life.owner,
            epoch: self.record.life.epoch,
        }
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored")
            .field("id", &self.record.id)
            .field("state", &self.record.life.state)
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

/// How the record of a first claim begins: its head up to the deadline, which the server's clock gives.
pub(crate) fn head_of_a_claim(holder: &Holder) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(28);
    bytes.u8(VERSION);
    bytes.u8(state_number(State::InFlight));
    // No takeover, and a deadline.
    bytes.flag(false);
    bytes.flag(true);
    bytes.bytes(&holder.bytes());
    bytes
}

/// How the record of a first claim ends: the number of attempts, what was sealed, and four slots with nothing in them.
pub(crate) fn slots_of_a_claim(identity: &[u8], claim: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(identity.len() + claim.len() + 24);
    bytes.u32(1);
    bytes.bytes_u16(identity);
    bytes.bytes_u16(claim);
    bytes.bytes(&[0; 16]);
    bytes
}

struct Head {
    state: State,
    taken: bool,
    deadline: Option<Timestamp>,
    holder: Holder,
    first_claimed: Option<Timestamp>,
    created: Timestamp,
    updated: Timestamp,
    attempts: u32,
}

/// Reads what stands under the key of `id`, and accepts it only if each part was sealed for this operation, and the
/// state is vouched for: a claim by the owner's seal, anything else by the word that led to it.
pub(crate) fn decode(seals: &Seals, id: OperationId, value: &[u8]) -> Result<Stored, Unreadable> {
    let mut reader = Reader::new(value);
    let head = read_head(&mut reader, id)?;
    let (identity, exp, retention) = seals.open_identity(id, reader.bytes_u16()?)?;

    let claim = reader.bytes_u16()?;
    match head.holder.owner {
        Some(_) => seals.check_claim(&identity, &head.holder, head.taken, claim)?,
        // Nobody ever claimed it: nothing but a tombstone is like that.
        None if claim.is_empty() && !head.taken && head.state == State::Cancelled => {}
        None => return Err(Unreadable),
    }

    let (word, acceptance) = (reader.bytes_u32()?, reader.bytes_u32()?);
    let word = spoken(word, |word| seals.open_word(&head.holder, word))?;
    let acceptance = spoken(acceptance, |word| seals.open_word(&head.holder, word))?;
    check_word(&head, word.as_ref(), acceptance.as_ref())?;

    let mut reference = |kind| {
        spoken(reader.bytes_u32()?, |sealed| {
            seals.open_reference(kind, id, sealed)
        })
    };
    let provider_ref = reference(Kind::ProviderRef)?;
    let result_ref = reference(Kind::ResultRef)?;

    let mut life = Life::new(head.state);
    life.owner = head.holder.owner;
    life.epoch = head.holder.epoch;
    life.deadline = head.deadline;
    life.first_claimed = head.first_claimed;
    life.in_doubt = head.taken && !word.as_ref().is_some_and(|word| word.ends_doubt);

    let mut record = Record::new(id, identity, life, exp, retention, head.created);
    record.updated = head.updated;
    record.attempts = head.attempts;
    record.provider_ref = provider_ref;
    record.result_ref = result_ref;
    if let Some(word) = word {
        let said = word.result_ref;
        if head.state.is_terminal() && said.is_some() && said != record.result_ref {
            return Err(Unreadable);
        }
        record.result = match acceptance {
            _ if word.has_result => word.result,
            acceptance => acceptance.and_then(|accepted| accepted.result),
        };
        record.reason = word.reason;
        record.settled_by = word.by;
    }
    record.evidence = read_evidence(seals, id, reader)?;
    Ok(Stored {
        record,
        taken: head.taken,
    })
}

fn read_head(reader: &mut Reader<'_>, id: OperationId) -> Result<Head, Unreadable> {
    if reader.u8()? != VERSION {
        return Err(Unreadable);
    }
    let state = read_state(reader)?;
    let taken = reader.flag()?;
    let due = reader.flag()?;
    let owner = reader.array()?;
    let epoch = Epoch::from_u64(reader.u64()?);
    let deadline = reader.time()?;
    let first_claimed = reader.servers_time()?;
    let owner = (owner != NOBODY).then(|| Owner::from_bytes(owner));
    if owner.is_some() != (epoch != Epoch::NONE) {
        return Err(Unreadable);
    }
    Ok(Head {
        state,
        taken,
        deadline: due.then_some(deadline),
        holder: Holder { id, owner, epoch },
        first_claimed: owner.map(|_| first_claimed),
        created: reader.servers_time()?,
        updated: reader.servers_time()?,
        attempts: reader.u32()?,
    })
}

/// A state that nobody vouches for is not believed.
fn check_word(
    head: &Head,
    word: Option<&Word>,
    acceptance: Option<&Word>,
) -> Result<(), Unreadable> {
    let due = head.deadline.is_some();
    let vouched = match (head.state, word) {
        (State::InFlight, None) => due,
        (State::Accepted, Some(word)) => {
            word.state == State::Accepted && word.deadline == head.deadline
        }
        (State::Unknown, Some(word)) => word.state == State::Unknown,
        (State::Released | State::Done | State::Failed | State::Cancelled, Some(word)) => {
            word.state == head.state && !due
        }
        _ => false,
    };
    let kept = acceptance.is_none_or(|accepted| {
        accepted.state == State::Accepted && word.is_some_and(|word| !word.has_result)
    });
    if vouched && kept {
        Ok(())
    } else {
        Err(Unreadable)
    }
}

fn read_evidence(
    seals: &Seals,
    id: OperationId,
    mut reader: Reader<'_>,
) -> Result<Vec<Evidence>, Unreadable> {
    let mut evidence = Vec::new();
    while !reader.rest().is_empty() {
        let at = reader.time()?;
        let owner = Owner::from_bytes(reader.array()?);
        let epoch = Epoch::from_u64(reader.u64()?);
        let holder = Holder {
            id,
            owner: Some(owner),
            epoch,
        };
        let word = seals.open_word(&holder, reader.bytes_u32()?)?;
        evidence.push(Evidence {
            owner,
            epoch,
            completion: word.into_completion().ok_or(Unreadable)?,
            at,
        });
    }
    Ok(evidence)
}

/// An empty slot is one that nobody has filled.
fn spoken<T>(
    slot: &[u8],
    open: impl FnOnce(&[u8]) -> Result<T, Unreadable>,
) -> Result<Option<T>, Unreadable> {
    (!slot.is_empty()).then(|| open(slot)).transpose()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use counterfoil_core::{
        ParamHash, Scope, Subject,
        store::{Identity, StoredResult},
    };

    use super::*;

    #[test]
    fn debug_of_what_is_stored_shows_which_record_and_nothing_that_is_in_it() {
        let id = OperationId::from_bytes([5; 16]);
        let identity = Identity {
            subject: Subject::new("tenant-x", "agent-x").expect("a subject"),
            scope: Scope::new("scope.x"),
            hash: ParamHash::from_bytes([7; 32]),
        };
        let now = Timestamp::from_unix_ms(7);
        let life = Life::new(State::Done);
        let mut record = Record::new(id, identity, life, None, Duration::ZERO, now);
        record.result = Some(StoredResult::json("result-x".into()));
        record.result_ref = Some("ref-x".to_owned());
        record.reason = Some("reason-x".to_owned());
        let taken = false;
        let shown = format!("{:?}", Stored { record, taken });
        assert!(shown.contains(&id.to_string()) && shown.contains("Done"));
        for secret in [
            "tenant-x", "agent-x", "scope.x", "result-x", "ref-x", "reason-x",
        ] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
