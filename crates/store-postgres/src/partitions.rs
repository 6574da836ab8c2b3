//! Days: each has a partition before it begins, as long as a process runs.
//!
//! An operation whose day has none lives in the default partition, so that nothing here is needed for being right. The
//! next days are made when a store connects, and when a claim finds the last of them near.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicI64, Ordering},
};

use counterfoil_core::{Timestamp, store::StoreError};

use crate::{calls::only, database::Database, machine::Machines, row::Reader, values::ms};

const DAY_MS: i64 = 86_400_000;

/// After a failure, such as a role that may not create tables, it is not tried again for so long.
const PAUSE_MS: i64 = 600_000;

/// Up to when there are partitions.
#[derive(Debug, Default)]
pub(crate) struct Days {
    /// When the next ones are to be made, by the store's clock.
    due: AtomicI64,
    /// Whether somebody is at it.
    making: AtomicBool,
}

impl Days {
    /// Whether the caller is to make them.
    fn are_due(&self, now: Timestamp) -> bool {
        ms(now) >= self.due.load(Ordering::Relaxed) && !self.making.swap(true, Ordering::AcqRel)
    }

    /// Makes today's partition and those of the next two days. A day before they run out it is due again.
    pub(crate) async fn make(&self, database: &Database, machines: &Machines) {
        match create(database, machines).await {
            Ok(until) => self.due.store(until - DAY_MS, Ordering::Relaxed),
            Err(error) => {
                tracing::warn!(%error, "the next days' partitions could not be made; their operations go to the default one");
                self.due.fetch_add(PAUSE_MS, Ordering::Relaxed);
            }
        }
        self.making.store(false, Ordering::Release);
    }
}

async fn create(database: &Database, machines: &Machines) -> Result<i64, StoreError> {
    let limit = database.limits().scan;
    let rows = database
        .call_within(limit, &machines.create_partitions, &[])
        .await?;
    Reader::new(only(&rows)?).get()
}

/// Where a claim shows that days are running out.
pub(crate) fn keep_up(
    days: &Arc<Days>,
    database: &Arc<Database>,
    machines: &Arc<Machines>,
    now: Timestamp,
) {
    if !days.are_due(now) {
        return;
    }
    let (days, database, machines) = (Arc::clone(days), Arc::clone(database), Arc::clone(machines));
    tokio::spawn(async move { days.make(&database, &machines).await });
}
