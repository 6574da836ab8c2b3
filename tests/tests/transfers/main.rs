//! What a transfer is: run once, replayed to every retry, the same in every spelling, and asked for by its credential.

mod cancel;
mod expiry;
mod once;
mod same;
mod status;
mod streams;
mod waiting;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs()
}
