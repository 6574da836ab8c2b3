//! Keeps a lease alive while a handler runs.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{
    later,
    run::{Run, lock},
    security,
};
use crate::store::{Renewed, StoreError};

/// Renews each third of the lease, up to `max_run`, until stopped; tells the handler when the lease is lost.
///
/// It never drops a renewal on its way. What the store does not confirm does not count: the lease is counted from
/// before the call was sent, by this process's monotonic clock.
pub(super) async fn keep_alive(run: Arc<Run>, stop: CancellationToken) {
    let end = later(run.began, run.time.max_run());
    let mut next = later(run.began, run.time.lease() / 3);
    loop {
        let until = *lock(&run.progress.valid_until);
        let renew = run.time.is_renewed() && next < end && next < until;
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep_until(if renew { next } else { until }) => {}
        }
        if !renew {
            warn!(operation_id = %run.lease.id, "the lease lapsed while the handler runs");
            return run.progress.lease_lost.cancel();
        }
        let sent = Instant::now();
        let lease = run.time.lease().min(end - sent.min(end));
        match renew_watching(&run, lease).await {
            Ok(Renewed::Renewed) => {
                let mut valid = lock(&run.progress.valid_until);
                *valid = (*valid).max(later(sent, lease));
                next = later(sent, run.time.lease() / 3);
            }
            Ok(Renewed::Lapsed) => return run.progress.lease_lost.cancel(),
            Ok(Renewed::NotOwner) => {
                // After a completion this is how a renewal on its way ends.
                if !run.is_closing() {
                    security::stale_owner(run.lease.id, run.lease.epoch.as_u64());
                }
                return run.progress.lease_lost.cancel();
            }
            Err(error) => {
                debug!(operation_id = %run.lease.id, %error, "a renewal failed");
                next = Instant::now() + (run.time.lease() / 10).min(Duration::from_secs(1));
            }
        }
    }
}

/// A renewal that hangs must not hide that the lease ran out meanwhile.
async fn renew_watching(run: &Run, lease: Duration) -> Result<Renewed, StoreError> {
    let call = run.shared.store.renew(&run.lease, lease);
    tokio::pin!(call);
    loop {
        let until = *lock(&run.progress.valid_until);
        tokio::select! {
            renewed = &mut call => return renewed,
            () = sleep_until(until), if !run.progress.lease_lost.is_cancelled() => run.progress.lease_lost.cancel(),
        }
    }
}
