//! What callers were told while a server failed, held against what it has on record afterwards.

use std::{
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use counterfoil_core::{
    Clock, Epoch, SystemClock,
    lifecycle::State,
    store::{Acquire, Acquired, Completed, Lease, Record, Store, StoreError, StoreErrorKind},
};
use tokio::time::{Instant, timeout};

use crate::wish;

/// Claims and completes operations at a store whose server is made to fail, and notes each word that the store said.
/// Afterwards, with the server back, [`hold`](Self::hold) holds the store to every one of them.
///
/// It is shared by reference among any number of callers.
#[derive(Debug)]
pub struct Testimony {
    limit: Duration,
    notes: Mutex<Vec<Note>>,
}

/// One operation of one owner, and what it was told.
#[derive(Clone, Debug)]
struct Note {
    wish: Acquire,
    claim: Told<Epoch>,
    completion: Option<Told<()>>,
    /// Whether it may be gone with a server that keeps nothing.
    may_be_gone: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told<T> {
    Yes(T),
    NotApplied,
    Indeterminate,
}

/// How often a store said what, and how it was.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Tally {
    /// Claims.
    pub claims: Words,
    /// Completions.
    pub completions: Words,
    /// Operations that the server kept no record of, though it had acknowledged them.
    pub gone: usize,
}

/// How often a store said what of a call of one kind, and how it was.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Words {
    /// It was acknowledged.
    pub acknowledged: usize,
    /// `NotApplied`, and it was not.
    pub not_applied: usize,
    /// `Indeterminate`, and it had been applied.
    pub lost_and_applied: usize,
    /// `Indeterminate`, and it had not been applied.
    pub lost_and_not_applied: usize,
}

impl Words {
    /// All that were `Indeterminate`.
    #[must_use]
    pub const fn indeterminate(&self) -> usize {
        self.lost_and_applied + self.lost_and_not_applied
    }
}

impl Testimony {
    /// One that holds every call to this time, also against a server that is dead or frozen.
    #[must_use]
    pub const fn new(limit: Duration) -> Self {
        Self {
            limit,
            notes: Mutex::new(Vec::new()),
        }
    }

    /// Claims a fresh operation; its number here, if that is acknowledged.
    ///
    /// # Panics
    ///
    /// If the call does not end in time, or says what no store may say here.
    pub async fn claim(&self, store: &dyn Store) -> Option<usize> {
        let wish = wish::fresh(SystemClock.now());
        let claim = match self.ends(store.acquire(&wish)).await {
            Ok(Acquired::Claimed(claimed)) => Told::Yes(claimed.lease.epoch),
            Ok(other) => panic!("a fresh operation is {other:?}"),
            Err(error) => fault(&error),
        };
        let mut notes = self.notes();
        notes.push(Note {
            wish,
            claim,
            completion: None,
            may_be_gone: false,
        });
        matches!(claim, Told::Yes(_)).then(|| notes.len() - 1)
    }

    /// Completes an operation that was claimed here; whether that is acknowledged.
    ///
    /// # Panics
    ///
    /// As [`claim`](Self::claim), or if the operation was not claimed.
    pub async fn complete(&self, store: &dyn Store, number: usize) -> bool {
        let note = self.notes()[number].clone();
        let held = note.held().expect("it was claimed");
        let said = wish::done(held.owner);
        let completion = match self.ends(store.complete(&held, &said)).await {
            Ok(Completed::Completed) => Told::Yes(()),
            // Its claim went with the server.
            Ok(Completed::NotOwner) if self.notes()[number].may_be_gone => return false,
            Ok(other) => panic!("the completion of whoever holds it is {other:?}"),
            Err(error) => fault(&error),
        };
        self.notes()[number].completion = Some(completion);
        completion == Told::Yes(())
    }

    /// Claims a fresh operation and completes it; whether both were acknowledged.
    ///
    /// # Panics
    ///
    /// As [`claim`](Self::claim).
    pub async fn claim_and_complete(&self, store: &dyn Store) -> bool {
        match self.claim(store).await {
            Some(number) => self.complete(store, number).await,
            None => false,
        }
    }

    /// Says that the server lost all that it held: whatever was acknowledged so far may be gone, which is the risk of such
    /// a server. What it still says must be true.
    pub fn all_may_be_gone(&self) {
        for note in self.notes().iter_mut() {
            note.may_be_gone = true;
        }
    }

    /// Holds a store, whose server is well again, to what was told:
    ///
    /// - What was acknowledged is on record, with its owner, its epoch and its result.
    /// - What was `NotApplied` is not.
    /// - What was `Indeterminate` is or is not; asked again by its owner it is `Claimed`, under the epoch on record if
    ///   there is one, or `Completed`; and nobody else gets it.
    ///
    /// # Panics
    ///
    /// Where it is otherwise.
    pub async fn hold(&self, store: &dyn Store) -> Tally {
        let mut tally = Tally::default();
        let notes = self.notes().clone();
        for note in notes {
            self.hold_one(store, &note, &mut tally).await;
        }
        tally
    }

    async fn hold_one(&self, store: &dyn Store, note: &Note, tally: &mut Tally) {
        let record = self.record(store, note).await;
        match (note.claim, &record) {
            (Told::NotApplied, None) => {
                tally.claims.not_applied += 1;
                return;
            }
            (Told::NotApplied, Some(record)) => panic!("NotApplied, and it stands: {record:?}"),
            (Told::Indeterminate, Some(record)) => {
                tally.claims.lost_and_applied += 1;
                note.assert_is_its(record);
            }
            (Told::Indeterminate, None) => tally.claims.lost_and_not_applied += 1,
            (Told::Yes(epoch), Some(record)) => {
                tally.claims.acknowledged += 1;
                note.assert_is_its(record);
                assert_eq!(
                    record.life.epoch, epoch,
                    "another epoch than told: {note:?}"
                );
            }
            (Told::Yes(_), None) => {
                assert!(note.may_be_gone, "an acknowledged claim is lost: {note:?}");
                tally.gone += 1;
                return;
            }
        }

        let ended = record.as_ref().is_some_and(is_done);
        match (note.completion, ended) {
            (None, false) => {}
            (Some(Told::Yes(())), true) => tally.completions.acknowledged += 1,
            (Some(Told::NotApplied), false) => tally.completions.not_applied += 1,
            (Some(Told::Indeterminate), true) => tally.completions.lost_and_applied += 1,
            (Some(Told::Indeterminate), false) => tally.completions.lost_and_not_applied += 1,
            other => {
                panic!("a completion that was told so, and whether it stands: {other:?}, {note:?}")
            }
        }
        self.settle(store, note, record.as_ref()).await;
    }

    /// Asks again what is open, as its owner does, and then as somebody else.
    async fn settle(&self, store: &dyn Store, note: &Note, record: Option<&Record>) {
        let owner = note.wish.claim.owner;
        let mut held = note.held();
        if note.claim == Told::Indeterminate {
            for _ in 0..2 {
                let claimed = match self.ends(store.acquire(&note.wish)).await {
                    Ok(Acquired::Claimed(claimed)) => claimed.lease,
                    other => panic!("a claim in doubt, asked again by its owner, is {other:?}"),
                };
                let on_record = record.map(|record| record.life.epoch);
                let before = on_record.or(held.map(|held| held.epoch));
                assert_eq!(claimed.epoch, before.unwrap_or(claimed.epoch), "{note:?}");
                held = Some(claimed);
            }
        }
        let held = held.expect("it is claimed by now");
        if !record.is_some_and(is_done) {
            let other = wish::of_another(&note.wish);
            let Ok(Acquired::Found(seen)) = self.ends(store.acquire(&other)).await else {
                panic!("somebody else asks for what is held, and is not told who has it: {note:?}");
            };
            note.assert_is_its(&seen);
        }
        if matches!(
            note.completion,
            Some(Told::NotApplied | Told::Indeterminate)
        ) {
            let again = self.ends(store.complete(&held, &wish::done(owner))).await;
            assert_eq!(
                again.ok(),
                Some(Completed::Completed),
                "sent again: {note:?}"
            );
            let record = self.record(store, note).await;
            let record = record.expect("what was completed stands");
            assert!(is_done(&record), "completed, and reads as {record:?}");
            note.assert_is_its(&record);
        }
    }

    async fn record(&self, store: &dyn Store, note: &Note) -> Option<Record> {
        match self.ends(store.find(note.wish.id)).await {
            Ok(sighting) => sighting.record,
            Err(error) => panic!("the server is well, and a find fails: {error}"),
        }
    }

    async fn ends<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let began = Instant::now();
        match timeout(self.limit, call).await {
            Ok(answer) => answer,
            Err(_) => panic!("a call has not ended after {:?}", began.elapsed()),
        }
    }

    fn notes(&self) -> MutexGuard<'_, Vec<Note>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Note {
    fn held(&self) -> Option<Lease> {
        let Told::Yes(epoch) = self.claim else {
            return None;
        };
        Some(Lease {
            id: self.wish.id,
            owner: self.wish.claim.owner,
            epoch,
        })
    }

    /// Holds a record to be of this owner: in flight, or ended with this owner's result.
    fn assert_is_its(&self, record: &Record) {
        assert_eq!(record.identity, self.wish.identity);
        assert_eq!(record.attempts, 1, "it was claimed once: {record:?}");
        if is_done(record) {
            let result = wish::result_of(self.wish.claim.owner);
            assert_eq!(record.result, Some(result), "another's result: {record:?}");
        } else {
            let owner = self.wish.claim.owner;
            assert!(
                record.life.is_held_by(owner, record.life.epoch),
                "{record:?}"
            );
            assert_eq!(record.life.state, State::InFlight);
        }
    }
}

fn is_done(record: &Record) -> bool {
    record.life.state == State::Done
}

fn fault<T>(error: &StoreError) -> Told<T> {
    match error.kind() {
        StoreErrorKind::NotApplied => Told::NotApplied,
        StoreErrorKind::Indeterminate => Told::Indeterminate,
        other => panic!("a server that fails is no reason for {other:?}: {error}"),
    }
}
