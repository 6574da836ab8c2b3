//! The gateway over real stores: what is left when its cache, its process, or its neighbour fails.

mod cache_harmed;
mod crash;
mod crash_under_key;
mod neighbours;

use std::time::{Duration, Instant};

use serde_json::Value;
use tests::{Caller, Previewed, Reply};

const KEYS: &str = "k1=1111111111111111111111111111111111111111111111111111111111111111";

/// Within this every call is answered: truth's own limits, on a machine with much else to do.
const DEADLINE: Duration = Duration::from_secs(12);

/// What one caller got, in the end.
struct Settled {
    /// Whether its call was the one that ran it.
    ran: bool,
    result: Value,
}

/// Confirms, and asks again while it is told that another call runs it.
async fn settled(caller: &Caller, previewed: &Previewed) -> Settled {
    let end = Instant::now() + 2 * DEADLINE;
    loop {
        let reply = confirm(caller, previewed).await;
        let (ran, result) = match reply.word() {
            "completed" => (true, reply.json()),
            "already_completed" => (false, reply.json()["result"].clone()),
            "in_progress" if Instant::now() < end => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
            other => panic!("{other}: {reply:#?}"),
        };
        assert_eq!(result["status"], "settled", "{reply:#?}");
        return Settled { ran, result };
    }
}

/// Confirms what may have been previewed at another gateway.
async fn confirm(caller: &Caller, previewed: &Previewed) -> Reply {
    let began = Instant::now();
    let params = previewed.params.to_string();
    let reply = caller.confirm_bytes(&previewed.fingerprint, params).await;
    let took = began.elapsed();
    assert!(took < DEADLINE, "answered after {took:?}: {reply:#?}");
    reply
}

/// Holds that one call ran it, and that all got the same.
fn assert_one_run(all: &[Settled]) {
    assert_eq!(
        all.iter().filter(|one| one.ran).count(),
        1,
        "one call ran it"
    );
    let first = &all[0].result;
    assert!(first["transfer_id"].is_string(), "{first}");
    for one in all {
        assert_eq!(one.result, *first);
    }
}
