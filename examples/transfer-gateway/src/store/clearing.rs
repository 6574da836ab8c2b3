//! Dropping records whose time is over: nothing else does it.

use std::{sync::Arc, time::Duration};

use counterfoil::store::Store;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{debug, info};

const EVERY: Duration = Duration::from_secs(60);
/// Few enough that no call of a purge takes long.
const AT_ONCE: usize = 1_000;

/// Goes on for as long as the process does. Any number of processes may do it on one store.
pub(crate) async fn clear_up(store: Arc<dyn Store>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        loop {
            match store.purge(AT_ONCE).await {
                Ok(0) => break,
                Ok(dropped) => info!(dropped, "records whose time was over"),
                Err(error) => {
                    // The next tick tries again; nothing waits for it.
                    debug!(%error, "records could not be cleared up");
                    break;
                }
            }
        }
    }
}
