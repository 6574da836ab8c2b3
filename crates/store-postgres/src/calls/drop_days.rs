//! Dropping whole days.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use counterfoil_core::store::StoreError;
use tokio::time::Instant;

use super::only;
use crate::{database::Database, failure, machine::Machines, row::Reader};

/// How many records may move out of a day that is dropped.
const MOVABLE: i32 = 10_000;

/// A day that was left is looked at again after so long.
const PAUSE: Duration = Duration::from_secs(600);

/// What one call of [`PostgresStore::drop_days`](crate::PostgresStore::drop_days) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedDays {
    /// Days that were dropped: none or one.
    pub days: usize,
    /// Records that went with them.
    pub records: u64,
    /// Records that moved to the default partition.
    pub moved: u64,
    /// Days that were left since too many of their records have to stay.
    pub unripe: usize,
    /// Days that were left since others held them.
    pub busy: usize,
}

/// When a day that has too many records to stay was looked at last.
#[derive(Debug, Default)]
pub(crate) struct Looks(Mutex<HashMap<i64, Instant>>);

impl Looks {
    fn is_recent(&self, day: i64) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.get(&day).is_some_and(|at| at.elapsed() < PAUSE)
    }

    fn note(&self, day: i64) {
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.retain(|_, at| at.elapsed() < PAUSE);
        looks.insert(day, Instant::now());
    }
}

pub(crate) async fn drop_days(
    database: &Database,
    machines: &Machines,
    looks: &Looks,
) -> Result<DroppedDays, StoreError> {
    let limit = database.limits().scan;
    let until = Instant::now() + limit;
    let mut report = DroppedDays::default();
    for row in &database.call(&machines.past_days, &[]).await? {
        let day: i64 = Reader::new(row).get()?;
        if looks.is_recent(day) {
            continue;
        }
        if Instant::now() >= until {
            break;
        }
        let rows = database
            .call_within(limit, &machines.drop_day, &[&day, &MOVABLE])
            .await?;
        let mut reader = Reader::new(only(&rows)?);
        match reader.get()? {
            "dropped" => {
                report.days = 1;
                report.records = reader.get::<i64>()?.unsigned_abs();
                report.moved = reader.get::<i64>()?.unsigned_abs();
                break;
            }
            "stragglers" => {
                looks.note(day);
                report.unripe += 1;
            }
            "busy" => report.busy += 1,
            "none" => {}
            _ => return Err(failure::unknown_answer()),
        }
    }
    Ok(report)
}
