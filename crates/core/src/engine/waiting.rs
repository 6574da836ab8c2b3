//! A duplicate that waits for the run in flight.
//!
//! It waits for news from the store's watch, and looks for itself now and then, since news may be lost. It holds no
//! place among what runs, and nothing waits for it.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep, sleep_until},
};

use super::{
    Admission, answers,
    claim::{self, Credential, Lost, Won},
    later,
    shared::Shared,
};
use crate::{
    answer::Answer,
    lifecycle::{Seen, State},
    random,
    store::{Acquire, Record, Sighting, StoreError, StoreErrorKind},
};

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Ends when the caller is gone.
pub(super) type Gone<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;

/// Claims, or says what the caller is to be told: after a wait of up to `limit`, where another attempt runs.
pub(super) async fn claim(
    shared: &Arc<Shared>,
    mut request: Acquire,
    mut admission: Admission,
    credential: Credential,
    limit: Duration,
    mut gone: Gone<'_>,
) -> Result<Won, Answer> {
    let end = later(Instant::now(), limit);
    let mut place: Option<OwnedSemaphorePermit> = None;
    loop {
        // The place among what runs goes along, and is free while this waits.
        let record = match claim::claim(shared, request.clone(), admission, credential).await {
            Ok(won) => return Ok(won),
            Err(Lost::Answer(answer)) => return Err(answer),
            Err(Lost::Runs(record)) => record,
        };
        if place.is_none() && !limit.is_zero() {
            place = Arc::clone(&shared.waiters).try_acquire_owned().ok();
        }
        if place.is_none() {
            return Err(answers::of_record(shared, *record, None));
        }
        let waiter = Waiter {
            shared,
            request: &request,
            end,
        };
        match waiter.wait(*record, gone.as_mut()).await {
            Ended::Told(answer) => return Err(answer),
            Ended::MayBeClaimed(seen) => request.claim.seen = seen,
        }
        admission = shared
            .admit()
            .map_err(|refused| refused.with_operation(request.id))?;
    }
}

/// How a wait ends.
enum Ended {
    Told(Answer),
    /// Asking again, naming this, may win it, or tells more than a read may.
    MayBeClaimed(Option<Seen>),
}

struct Waiter<'a> {
    shared: &'a Shared,
    request: &'a Acquire,
    end: Instant,
}

impl Waiter<'_> {
    /// Waits until `running` has ended, the time is over, the caller is gone, or the process drains.
    async fn wait(&self, mut running: Record, mut gone: Gone<'_>) -> Ended {
        let store = &self.shared.store;
        let mut rhythm = Rhythm::new();
        // What happened since the claim was refused is found by the first read.
        let mut watch = store.watch(self.request.id);
        loop {
            let look = async {
                rhythm.pause(&mut watch).await;
                // Begun before the read, so that no change is lost between them.
                watch = store.watch(self.request.id);
                store.find(self.request.id).await
            };
            let read = tokio::select! {
                biased;
                () = gone.as_mut() => None,
                () = self.shared.draining.cancelled() => None,
                read = look => Some(read),
                () = sleep_until(self.end) => None,
            };
            match read.map(|read| self.judge(read)) {
                Some(Look::Ended(ended)) => return ended,
                Some(Look::Runs(record)) => running = *record,
                Some(Look::Unclear) => {}
                None => return Ended::Told(answers::of_record(self.shared, running, None)),
            }
        }
    }

    fn judge(&self, read: Result<Sighting, StoreError>) -> Look {
        let (record, now) = match read {
            Ok(Sighting { record, now }) => (record, now),
            Err(error) => {
                return match error.kind() {
                    StoreErrorKind::NotApplied | StoreErrorKind::Indeterminate => Look::Unclear,
                    _ => Look::Ended(Ended::Told(answers::of_error(&error, self.request.id))),
                };
            }
        };
        let Some(record) = record.filter(|record| record.check(&self.request.identity).is_ok())
        else {
            return Look::Ended(Ended::MayBeClaimed(None));
        };
        let takes_over = self.request.claim.takeover_within.is_some();
        let ended = match record.state_at(now) {
            State::InFlight => return Look::Runs(Box::new(record)),
            State::Released => Ended::MayBeClaimed(Some(Seen {
                state: State::Released,
                epoch: record.life.epoch,
            })),
            State::Unknown if takes_over => Ended::MayBeClaimed(None),
            _ => Ended::Told(answers::of_record(self.shared, record, Some(now))),
        };
        Look::Ended(ended)
    }
}

/// What a read says.
enum Look {
    Ended(Ended),
    Runs(Box<Record>),
    /// The store could not be asked; perhaps next time.
    Unclear,
}

/// When to look: after news, and after pauses that grow, so that a long run is not asked after all the time.
struct Rhythm {
    pause: Duration,
    /// News is not believed sooner than this after the last look: a watch that ends without a change, again and again,
    /// makes no storm of reads.
    deaf: Duration,
    looked: Instant,
}

impl Rhythm {
    fn new() -> Self {
        Self {
            pause: FIRST_PAUSE,
            deaf: FIRST_PAUSE,
            looked: Instant::now(),
        }
    }

    async fn pause(&mut self, watch: &mut crate::store::Watch) {
        let hear_from = self.looked + self.deaf;
        let news = async {
            watch.await;
            sleep_until(hear_from).await;
        };
        tokio::select! {
            () = news => self.deaf = (self.deaf * 2).min(LONGEST_PAUSE),
            () = sleep(spread(self.pause)) => self.pause = (self.pause * 2).min(LONGEST_PAUSE),
        }
        self.looked = Instant::now();
    }
}

/// Between half of it and the whole, so that many that began to wait together don't look together.
fn spread(pause: Duration) -> Duration {
    let part = u32::from(u16::from_le_bytes(random::bytes()));
    pause / 2 + pause / 2 * part / u32::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_spread_between_its_half_and_its_whole() {
        let pauses: Vec<_> = (0..200).map(|_| spread(LONGEST_PAUSE)).collect();
        let (half, whole) = (LONGEST_PAUSE / 2, LONGEST_PAUSE);
        assert!(pauses.iter().all(|p| (half..=whole).contains(p)));
        let early = pauses.iter().filter(|p| **p < whole * 3 / 4).count();
        assert!(
            (40..160).contains(&early),
            "{early} of 200 in the first half"
        );
    }
}
