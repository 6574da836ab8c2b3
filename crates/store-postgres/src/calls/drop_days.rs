//! Dropping whole days.
//!
//! The schema says what is to be done next (`sql/drop_day.sql`). Nothing of it is kept here but when a day was left, so
//! that a process which ends in the middle, and another one that is at the same day, change nothing.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use counterfoil_core::store::StoreError;
use tokio::time::{Instant, sleep};

use super::only;
use crate::{
    database::{Database, Ran},
    failure,
    machine::Machines,
    row::Reader,
};

/// A day of which too many records have to stay is looked at again after so long.
const UNRIPE_PAUSE: Duration = Duration::from_secs(600);

/// A day that others held is tried again after so long: by the next call of a timer that goes off each minute.
const BUSY_PAUSE: Duration = Duration::from_secs(50);

/// How often the lock on all calls is tried in a call. Each try holds them up for as long as it waits.
const TRIES: usize = 5;

/// In between they go on.
const BETWEEN_TRIES: Duration = Duration::from_millis(250);

/// How many statements are run for a day in one call: what an earlier one left behind is cleared up, an index is built,
/// and another, should that have come to nothing.
const RUNS: usize = 4;

/// What one call of [`PostgresStore::drop_days`](crate::PostgresStore::drop_days) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedDays {
    /// Days that were dropped: none or one.
    pub days: usize,
    /// Records that went with them: the server's estimate, from when it built the index of those that stay. Of some 16
    /// million records and more it is rounded, and zero where the server has forgotten it.
    pub records: u64,
    /// Records that moved to the default partition. Exact.
    pub moved: u64,
    /// Days that were left since too many of their records have to stay.
    pub unripe: usize,
    /// Days that were left since others held them, or the time was over.
    pub busy: usize,
}

/// Until when the days that were left are not looked at again.
#[derive(Debug, Default)]
pub(crate) struct Looks(Mutex<HashMap<i64, Instant>>);

impl Looks {
    fn is_paused(&self, day: i64) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.get(&day).is_some_and(|until| Instant::now() < *until)
    }

    fn pause(&self, day: i64, pause: Duration) {
        let now = Instant::now();
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.retain(|_, until| now < *until);
        looks.insert(day, now + pause);
    }
}

/// How it went with a day.
enum Went {
    Dropped {
        records: u64,
        moved: u64,
    },
    Unripe,
    /// Others were at this day.
    Busy,
    /// A transaction has all days.
    Locked,
    /// Another one dropped it.
    Gone,
}

pub(crate) async fn drop_days(
    database: &Database,
    machines: &Machines,
    looks: &Looks,
) -> Result<DroppedDays, StoreError> {
    let until = Instant::now() + database.limits().scan;
    let mut report = DroppedDays::default();
    for row in &database.call(&machines.past_days, &[]).await? {
        let day: i64 = Reader::new(row).get()?;
        if looks.is_paused(day) {
            continue;
        }
        if Instant::now() >= until {
            break;
        }
        // Also after an error and a caller that went away: the next call is to come to the next day.
        looks.pause(day, BUSY_PAUSE);
        match drop_day(database, machines, day, until).await? {
            Went::Dropped { records, moved } => {
                report.days = 1;
                report.records = records;
                report.moved = moved;
                break;
            }
            Went::Unripe => {
                looks.pause(day, UNRIPE_PAUSE);
                report.unripe += 1;
            }
            Went::Busy => report.busy += 1,
            Went::Locked => {
                report.busy += 1;
                break;
            }
            Went::Gone => {}
        }
    }
    Ok(report)
}

/// Does what the schema says, step by step, as long as there is time.
async fn drop_day(
    database: &Database,
    machines: &Machines,
    day: i64,
    until: Instant,
) -> Result<Went, StoreError> {
    let (mut runs, mut tries) = (0, 0);
    loop {
        let rest = until.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return Ok(Went::Busy);
        }
        let rows = database
            .call_within(rest, &machines.drop_day, &[&day])
            .await?;
        let mut reader = Reader::new(only(&rows)?);
        let answer: &str = reader.get()?;
        let ddl: Option<&str> = reader.get()?;
        match answer {
            "dropped" => {
                return Ok(Went::Dropped {
                    records: reader.get::<i64>()?.unsigned_abs(),
                    moved: reader.get::<i64>()?.unsigned_abs(),
                });
            }
            "none" => return Ok(Went::Gone),
            "taken" => return Ok(Went::Busy),
            "stragglers" => {
                if let Some(ddl) = ddl {
                    // If it can't be now, the next look at this day does it.
                    run(database, machines, until, ddl).await?;
                }
                return Ok(Went::Unripe);
            }
            "run" => {
                let ddl = ddl.ok_or_else(failure::unknown_answer)?;
                runs += 1;
                if runs > RUNS || !run(database, machines, until, ddl).await? {
                    return Ok(Went::Busy);
                }
            }
            "busy" => {
                tries += 1;
                if tries == TRIES {
                    return Ok(Went::Locked);
                }
                sleep(BETWEEN_TRIES).await;
            }
            _ => return Err(failure::unknown_answer()),
        }
    }
}

/// Runs what the schema asks for, and says whether it came to its end.
///
/// Nothing is lost with an index: one that takes too long is cancelled, since a build can wait for a transaction that
/// stays open for hours. By a statement, since a pooler does not hand on the driver's way to cancel.
async fn run(
    database: &Database,
    machines: &Machines,
    until: Instant,
    ddl: &str,
) -> Result<bool, StoreError> {
    match database.run(until, ddl).await? {
        Ran::Through => Ok(true),
        Ran::Hindered => Ok(false),
        Ran::OutOfTime => {
            if let Err(error) = database.call(&machines.give_up, &[&ddl]).await {
                let error = StoreError::from(error);
                tracing::debug!(%error, "an index that takes too long could not be cancelled");
            }
            Ok(false)
        }
    }
}
