//! The primary is lost, and its synchronous standby takes over: what was acknowledged is all there.

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use counterfoil_servers::Postgres;
use counterfoil_testkit::Testimony;
use tokio::time::{sleep, timeout};

use common::client;

const CALLERS: usize = 16;
/// Acknowledged claims with their completions, before the primary is lost and after it.
const OPERATIONS: usize = 300;
const BOUND: Duration = Duration::from_secs(60);

/// Waits until the primary knows its standby as one that its commits wait for.
async fn is_waited_for(primary: &Postgres) {
    let primary = client(primary.url()).await;
    for setting in [
        "ALTER SYSTEM SET synchronous_standby_names = 'standby'",
        "SELECT pg_reload_conf()",
    ] {
        let set = primary.batch_execute(setting).await;
        set.expect("the server does as the test says");
    }
    let states = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    let wait = async {
        loop {
            let row = primary.query_one(states, &[]).await;
            if row.expect("the server answers").get::<_, i64>(0) == 1 {
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(BOUND, wait).await.expect("it replicates");
}

async fn at_least(ended: &AtomicUsize, goal: usize) {
    let wait = async {
        while ended.load(Ordering::SeqCst) < goal {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(BOUND, wait).await.expect("the store works");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_is_on_a_synchronous_standby_that_takes_over() {
    let primary = Postgres::start().expect("it starts");
    let standby = Postgres::standby_of(&primary).start();
    let standby = standby.expect("it starts");
    is_waited_for(&primary).await;

    let (first, second) = (primary.port(), standby.port());
    let both = format!("postgres://counterfoil@127.0.0.1:{first},127.0.0.1:{second}/counterfoil");
    let builder = common::builder(&both)
        .with_schema(common::fresh_schema())
        .with_connect(Duration::from_secs(5));
    builder.migrate().await.expect("it can be migrated");
    let store = builder.connect().await.expect("it is fit for it");

    // Waiting, connecting and the reply; and a busy machine.
    let testimony = Arc::new(Testimony::new(Duration::from_secs(20)));
    let (ended, stop) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (store, testimony) = (store.clone(), Arc::clone(&testimony));
            let (ended, stop) = (Arc::clone(&ended), Arc::clone(&stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    if testimony.claim_and_complete(&store).await {
                        ended.fetch_add(1, Ordering::SeqCst);
                    } else {
                        sleep(Duration::from_millis(20)).await;
                    }
                }
            })
        })
        .collect();

    at_least(&ended, OPERATIONS).await;
    primary.kill().expect("it dies");
    let promoted = client(standby.url()).await;
    let promoted = promoted.query_one("SELECT pg_promote()", &[]).await;
    assert!(promoted.expect("the standby answers").get::<_, bool>(0));
    let before = ended.load(Ordering::SeqCst);
    at_least(&ended, before + OPERATIONS).await;
    stop.store(true, Ordering::SeqCst);
    for caller in callers {
        caller.await.expect("no caller was told anything untrue");
    }

    let tally = testimony.hold(&store).await;
    assert_eq!(tally.gone, 0, "{tally:?}");
    assert!(tally.claims.acknowledged >= 2 * OPERATIONS, "{tally:?}");
    let doubtful = tally.claims.indeterminate() + tally.completions.indeterminate();
    assert!(doubtful >= 1, "it was lost under load: {tally:?}");
}
