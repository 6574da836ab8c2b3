//! Days: each has a partition before it begins, as long as a process runs.
//!
//! An operation whose day has none lives in the default partition, so that nothing here is needed for being right. The
//! next days are made when a store connects, and when a claim shows that the last of them is near.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicI64, Ordering},
};

use counterfoil_core::{Timestamp, store::StoreError};

use crate::{database::Database, machine::Machines, row::Reader, values::ms};

const DAY_MS: i64 = 86_400_000;

/// Where a day could not be made, it is tried again after so long.
const PAUSE_MS: i64 = 600_000;

/// Up to when there are partitions.
#[derive(Debug, Default)]
pub(crate) struct Days {
    /// When to look again, by the store's clock.
    due: AtomicI64,
    /// Whether somebody is at it.
    looking: AtomicBool,
}

impl Days {
    /// Makes what is missing of today's partition and those of the next two days.
    pub(crate) async fn make(&self, database: &Database, machines: &Machines, now: Timestamp) {
        let due = create(database, machines, now)
            .await
            .unwrap_or_else(|error| {
                tracing::warn!(%error, "it is not known which days have a partition");
                ms(now) + PAUSE_MS
            });
        self.due.store(due, Ordering::Relaxed);
        self.looking.store(false, Ordering::Release);
    }

    /// Whether the caller is to look.
    fn are_due(&self, now: Timestamp) -> bool {
        ms(now) >= self.due.load(Ordering::Relaxed) && !self.looking.swap(true, Ordering::AcqRel)
    }
}

/// Looks again after `now`, if it is time to, in a task of its own.
pub(crate) fn keep_up(
    days: &Arc<Days>,
    database: &Arc<Database>,
    machines: &Arc<Machines>,
    now: Timestamp,
) {
    if days.are_due(now) {
        let (days, database, machines) =
            (Arc::clone(days), Arc::clone(database), Arc::clone(machines));
        tokio::spawn(async move { days.make(&database, &machines, now).await });
    }
}

/// When to look again: a day before the last partition ends, and soon where one is missing.
async fn create(
    database: &Database,
    machines: &Machines,
    now: Timestamp,
) -> Result<i64, StoreError> {
    let rows = database.call(&machines.next_days, &[]).await?;
    let mut last = None;
    let mut missing = rows.is_empty();
    for row in &rows {
        let mut reader = Reader::new(row);
        let day: i64 = reader.get()?;
        if reader.get()? {
            last = Some(day);
            continue;
        }
        // Whatever is in the way of one day may not be in that of the next.
        match create_one(database, machines, day).await {
            Ok(true) => last = Some(day),
            Ok(false) => {
                missing = true;
                tracing::warn!(
                    day,
                    "the default partition has too many operations for a day to get a partition of its own"
                );
            }
            Err(error) => {
                missing = true;
                tracing::warn!(%error, day, "a day has no partition yet; its operations go to the default one");
            }
        }
    }
    Ok(match last {
        Some(last) if !missing => last * DAY_MS,
        _ => ms(now) + PAUSE_MS,
    })
}

async fn create_one(
    database: &Database,
    machines: &Machines,
    day: i64,
) -> Result<bool, StoreError> {
    let rows = database.call(&machines.create_partition, &[&day]).await?;
    Reader::new(crate::calls::only(&rows)?).get()
}
