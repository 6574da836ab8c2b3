//! A server that is killed in the middle of commits: whatever the store said of a claim or a completion is true.

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use counterfoil_core::Owner;
use counterfoil_servers::Postgres;
use counterfoil_testkit::Testimony;
use tokio::{sync::watch, time::timeout};

const KILLS: usize = 20;
const CALLERS: usize = 64;
const CONNECTIONS: usize = 8;
/// How many operations are acknowledged between two kills at least: it is killed under load, not while it warms up.
const BETWEEN: usize = 64;
const BOUND: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_postgres_killed_20_times_among_commits_makes_no_word_of_the_store_untrue() {
    let server = Arc::new(Postgres::start().expect("it starts"));
    let store = common::builder(server.url())
        .with_max_connections(CONNECTIONS)
        .with_schema(common::fresh_schema());
    store.migrate().await.expect("it can be migrated");
    let store = store.connect().await.expect("it is fit for it");
    // Waiting, connecting and the reply, by their defaults; and a busy machine.
    let testimony = Arc::new(Testimony::new(Duration::from_secs(15)));

    let (is_up, up) = watch::channel(true);
    let (ended, stop) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (store, testimony, mut up) = (store.clone(), Arc::clone(&testimony), up.clone());
            let (ended, stop) = (Arc::clone(&ended), Arc::clone(&stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    if testimony.claim_and_complete(&store).await {
                        ended.fetch_add(1, Ordering::SeqCst);
                    } else {
                        // A dead server is not asked all the time.
                        let up = timeout(BOUND, up.wait_for(|up| *up)).await;
                        let _ = up.expect("it comes back").expect("the killer lives");
                    }
                }
            })
        })
        .collect();

    for kill in 0..KILLS {
        under_load(&ended).await;
        tokio::time::sleep(a_moment()).await;
        is_up.send_replace(false);
        let server = Arc::clone(&server);
        let again = tokio::task::spawn_blocking(move || {
            server.kill()?;
            server.restart()
        });
        let again = again.await.expect("it does not panic");
        again.unwrap_or_else(|error| panic!("it comes back from kill {kill}: {error}"));
        is_up.send_replace(true);
    }
    under_load(&ended).await;
    stop.store(true, Ordering::SeqCst);
    for caller in callers {
        caller.await.expect("no caller was told anything untrue");
    }

    let tally = testimony.hold(&store).await;
    let (claims, completions) = (tally.claims, tally.completions);
    assert_eq!(tally.gone, 0, "what it acknowledged is kept: {tally:?}");
    // Each of these happened, or the rest shows nothing.
    assert!(claims.indeterminate() >= 20, "{tally:?}");
    assert!(completions.indeterminate() >= 20, "{tally:?}");
    assert!(
        claims.lost_and_applied + completions.lost_and_applied >= 5,
        "{tally:?}"
    );
    assert!(
        claims.lost_and_not_applied + completions.lost_and_not_applied >= 5,
        "{tally:?}"
    );
    assert!(
        claims.not_applied + completions.not_applied >= 20,
        "{tally:?}"
    );
}

/// Waits until so many more operations have ended well.
async fn under_load(ended: &AtomicUsize) {
    let goal = ended.load(Ordering::SeqCst) + BETWEEN;
    let wait = async {
        while ended.load(Ordering::SeqCst) < goal {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(BOUND, wait).await.expect("the store works again");
}

/// At random, so that each kill falls somewhere else among the steps of the calls.
fn a_moment() -> Duration {
    Duration::from_micros(u64::from(Owner::mint().as_bytes()[15]) * 100)
}
