//! Dropping records whose time is over: nothing else does it.

use std::{sync::Arc, time::Duration};

use counterfoil::{postgres::PostgresStore, store::Store};
use tokio::time::{MissedTickBehavior, interval};
use tracing::{debug, info};

const EVERY: Duration = Duration::from_secs(60);
/// Few enough that no call of a purge takes long.
const AT_ONCE: usize = 1_000;

/// What is cleared up while the process runs. Any number of processes may do it on one store.
pub(crate) struct Clearing {
    pub(super) store: Arc<dyn Store>,
    /// Where whole days can be dropped.
    pub(super) days: Option<PostgresStore>,
}

impl Clearing {
    /// Goes on for as long as the process does. What fails is tried again at the next tick; nothing waits for it.
    pub(crate) async fn run(self) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            // Days first: a purge before that would drop their records one by one.
            if let Some(postgres) = &self.days {
                drop_days(postgres).await;
            }
            purge(&*self.store).await;
        }
    }
}

async fn drop_days(postgres: &PostgresStore) {
    loop {
        match postgres.drop_days().await {
            Ok(report) if report.days > 0 => info!(?report, "a day whose time was over"),
            Ok(_) => return,
            Err(error) => {
                debug!(%error, "days could not be dropped");
                return;
            }
        }
    }
}

async fn purge(store: &dyn Store) {
    loop {
        match store.purge(AT_ONCE).await {
            Ok(0) => return,
            Ok(dropped) => info!(dropped, "records whose time was over"),
            Err(error) => {
                debug!(%error, "records could not be cleared up");
                return;
            }
        }
    }
}
