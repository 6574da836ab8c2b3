//! Purge: dropping what is past its time, without an index on time.
//!
//! A call walks both tables from where the last one stopped, window by window, each in a transaction of its own, until it
//! has dropped as many as it may, has been through everything once, or its time is over. After a whole walk it is known
//! when the next record can be due at the earliest: what ends after the walk began is kept for [`RETENTION_SKEW`] at
//! least. Before that nothing is walked, so that asking often costs little.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use counterfoil_core::store::{RETENTION_SKEW, StoreError};
use tokio::time::Instant;

use super::only;
use crate::{
    database::Database,
    machine::{Machine, Machines},
    row::Reader,
    values::{Id, duration_ms},
};

/// How many ids one transaction looks at.
const WINDOW: i32 = 10_000;

/// How far purging has come. Lost with the process, which then walks from the beginning.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    timed: Mutex<Walk>,
    keyed: Mutex<Walk>,
    /// Which table the next call begins with: however much is due in one, the other gets its turn.
    keyed_first: AtomicBool,
    pub(crate) days: super::drop_days::Looks,
}

/// A walk through a table.
#[derive(Clone, Copy, Debug)]
struct Walk {
    /// Where the next window begins.
    next: Id,
    /// The store's time when the walk began; `None` before its first window.
    began: Option<i64>,
    /// When the first of the records that it left behind can be dropped.
    due: i64,
    /// Nothing can be dropped before: what the last whole walk found.
    not_before: i64,
}

impl Walk {
    const fn new(not_before: i64) -> Self {
        Self {
            next: Id([0; 16]),
            began: None,
            due: i64::MAX,
            not_before,
        }
    }
}

impl Default for Walk {
    fn default() -> Self {
        Self::new(0)
    }
}

pub(crate) async fn purge(
    database: &Database,
    machines: &Machines,
    progress: &Progress,
    limit: usize,
) -> Result<usize, StoreError> {
    let until = Instant::now() + database.limits().scan;
    let mut dropped = 0;
    let mut tables = [
        (&machines.timed, &progress.timed),
        (&machines.keyed, &progress.keyed),
    ];
    if progress.keyed_first.fetch_xor(true, Ordering::Relaxed) {
        tables.reverse();
    }
    for (machine, place) in tables {
        let mut walk = *lock(place);
        let outcome = go_on(database, machine, &mut walk, limit - dropped, until).await;
        *lock(place) = walk;
        dropped += outcome?;
    }
    Ok(dropped)
}

/// Goes on with a walk, and from its end through what it passed in earlier calls.
async fn go_on(
    database: &Database,
    machine: &Machine,
    walk: &mut Walk,
    limit: usize,
    until: Instant,
) -> Result<usize, StoreError> {
    let mut dropped = 0;
    let mut whole = walk.began.is_none();
    while dropped < limit && Instant::now() < until {
        let rest = i32::try_from(limit - dropped).unwrap_or(i32::MAX);
        let values = [
            &walk.next as _,
            &WINDOW as _,
            &rest as _,
            &walk.not_before as _,
        ];
        let rows = database.call(&machine.purge, &values).await?;
        let mut reader = Reader::new(only(&rows)?);
        let now: i64 = reader.get()?;
        let now_dropped = reader.count()? as usize;
        let next: Option<Id> = reader.get()?;
        let due: Option<i64> = reader.get()?;

        dropped += now_dropped;
        if dropped == limit {
            // There may be more in this window.
            break;
        }
        let began = *walk.began.get_or_insert(now);
        walk.due = walk.due.min(due.unwrap_or(i64::MAX));
        match next {
            Some(next) => walk.next = next,
            None => {
                *walk = Walk::new(
                    walk.due
                        .min(began.saturating_add(duration_ms(RETENTION_SKEW))),
                );
                if whole {
                    break;
                }
                whole = true;
            }
        }
    }
    Ok(dropped)
}

fn lock(place: &Mutex<Walk>) -> MutexGuard<'_, Walk> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
