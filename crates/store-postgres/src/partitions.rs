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
        let due = match create(database, machines).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "a day has no partition yet; its operations go to the default one");
                ms(now) + PAUSE_MS
            }
        };
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

/// When to look again: a day before the last partition ends.
async fn create(database: &Database, machines: &Machines) -> Result<i64, StoreError> {
    let rows = database.call(&machines.next_days, &[]).await?;
    let mut due = i64::MAX;
    for row in &rows {
        let mut reader = Reader::new(row);
        let day: i64 = reader.get()?;
        if reader.get()? || create_one(database, machines, day).await? {
            due = day * DAY_MS;
        } else {
            tracing::warn!(
                day,
                "a day has too many operations in the default partition to get one of its own"
            );
        }
    }
    Ok(due)
}

async fn create_one(
    database: &Database,
    machines: &Machines,
    day: i64,
) -> Result<bool, StoreError> {
    let rows = database.call(&machines.create_partition, &[&day]).await?;
    Reader::new(crate::calls::only(&rows)?).get()
}
