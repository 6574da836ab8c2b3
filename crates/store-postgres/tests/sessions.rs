//! What a call that was cut short leaves behind: no more sessions on the server than the pool is large, and a pool that has
//! its connections back.

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use counterfoil_core::store::{Released, Store, StoreErrorKind};
use counterfoil_servers::{Postgres, Proxy, Weather};
use counterfoil_testkit::Testimony;
use tokio::time::{Instant, sleep, timeout};

use common::{
    Op, claimed, client,
    place::{Place, SOON, refused},
};

const POOL: usize = 4;
const SHORT: Duration = Duration::from_millis(200);
/// For a store that is to come back, on a machine with much else to do.
const BOUND: Duration = Duration::from_secs(30);

async fn place(server: &Postgres, pool: usize) -> Place {
    Place::at(server.url(), |builder| {
        builder
            .with_max_connections(pool)
            .with_wait(SHORT)
            .with_call(SHORT)
    })
    .await
}

/// Every commit from now on waits for a standby that there is not.
async fn lose_the_standby(place: &Place) {
    place
        .run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        .await;
    place.run("SELECT pg_reload_conf()").await;
    let wait = async {
        // The sessions take it up one after another; up to then a claim waits for nobody.
        while place.store.acquire(&Op::now().wish()).await.is_ok() {}
        place.waiting_for("SyncRep").await;
    };
    timeout(BOUND, wait).await.expect("commits wait");
}

async fn let_it_go(place: &Place) {
    place
        .run("ALTER SYSTEM RESET synchronous_standby_names")
        .await;
    place.run("SELECT pg_reload_conf()").await;
}

async fn well_again(place: &Place) {
    let wait = async {
        while place.store.acquire(&Op::now().wish()).await.is_err() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(BOUND, wait).await.expect("it works again");
}

async fn sessions(place: &Place) -> i64 {
    let count = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}'",
        place.schema
    );
    let row = place.other.query_one(&count, &[]).await;
    row.expect("the server answers").get(0)
}

/// `statement_timeout` does not end such a wait. Each caller gives up after a while, and the server's session stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_commits_wait_for_a_standby_that_is_gone_the_store_has_no_more_sessions_than_its_pool()
 {
    let server = Postgres::start().expect("it starts");
    let place = Arc::new(place(&server, POOL).await);
    let testimony = Arc::new(Testimony::new(Duration::from_secs(20)));
    lose_the_standby(&place).await;

    let (stop, most) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicI64::new(0)),
    );
    let callers: Vec<_> = (0..16)
        .map(|_| {
            let (place, testimony, stop) = (
                Arc::clone(&place),
                Arc::clone(&testimony),
                Arc::clone(&stop),
            );
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    testimony.claim_and_complete(&place.store).await;
                }
            })
        })
        .collect();
    // Twenty times as long as a call takes to be given up.
    let end = Instant::now() + 20 * SHORT;
    while Instant::now() < end {
        most.fetch_max(sessions(&place).await, Ordering::SeqCst);
        sleep(Duration::from_millis(10)).await;
    }
    stop.store(true, Ordering::SeqCst);
    for caller in callers {
        caller.await.expect("no caller was told anything untrue");
    }
    // One that is closed may be there for a moment beside the one that follows it.
    let most = most.load(Ordering::SeqCst);
    assert!(most <= POOL as i64 + 1, "{most} sessions");

    let_it_go(&place).await;
    well_again(&place).await;
    let tally = testimony.hold(&place.store).await;
    // The first of the pool was taken when the standby went.
    assert!(tally.claims.indeterminate() >= POOL - 1, "{tally:?}");
    assert!(tally.claims.not_applied >= 16, "{tally:?}");
    assert!(sessions(&place).await <= POOL as i64);
}

/// The places come back when the server is gone, and not when somebody has lost his patience.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_restart_of_the_server_the_places_of_calls_that_were_given_up_are_free_at_once() {
    let server = Postgres::start().expect("it starts");
    let place = place(&server, 1).await;
    let wish = Op::now().wish();
    lose_the_standby(&place).await;
    let kind = refused(place.store.acquire(&wish).await);
    assert_eq!(kind, StoreErrorKind::NotApplied, "its place is taken");

    server.restart().expect("it comes back");
    let asked = Instant::now();
    let wait = async {
        while place.store.find(wish.id).await.is_err() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(BOUND, wait).await.expect("it answers");
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
}

/// A way that loses what came back, and then works again: an answer would be taken for that of another question.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_lost_a_reply_is_not_used_again() {
    let server = Postgres::start().expect("it starts");
    let proxy = Proxy::start(server.port()).expect("it starts");
    let port = |port: u16| format!(":{port}/");
    let url = server
        .url()
        .replace(&port(server.port()), &port(proxy.port()));
    let mut place = Place::at(&url, |builder| {
        builder
            .with_max_connections(1)
            .with_wait(Duration::from_secs(20))
            .with_call(SHORT)
    })
    .await;
    // Whoever looks takes another way: that one's replies are not to be lost.
    place.other = client(server.url()).await;
    // The connection stands, and knows the statement.
    claimed(
        place
            .store
            .acquire(&Op::now().wish())
            .await
            .expect("it is free"),
    );
    let before = session(&place).await;

    proxy.set(Weather::RepliesSwallowed);
    let wish = Op::now().wish();
    let kind = refused(place.store.acquire(&wish).await);
    assert_eq!(kind, StoreErrorKind::Indeterminate);
    proxy.set(Weather::Clear);

    claimed(
        place
            .store
            .acquire(&wish)
            .await
            .expect("another connection"),
    );
    assert_ne!(session(&place).await, before);
}

/// The process of the store's only session, once there is one.
async fn session(place: &Place) -> i32 {
    let pid = format!(
        "SELECT min(pid) FROM pg_stat_activity WHERE application_name = '{}'",
        place.schema
    );
    let row = place.other.query_one(&pid, &[]).await;
    row.expect("the server answers").get(0)
}

/// A release whose wait for the standby was cut short can be seen here, and may be missing there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_that_is_said_again_waits_for_the_standby_as_the_first_one_did() {
    let server = Postgres::start().expect("it starts");
    let place = Place::at(server.url(), |builder| builder.with_call(2 * SHORT)).await;
    let held = claimed(
        place
            .store
            .acquire(&Op::now().wish())
            .await
            .expect("it is free"),
    );
    lose_the_standby(&place).await;
    let first = {
        let store = place.store.clone();
        tokio::spawn(async move { store.release(&held).await })
    };
    let kind = refused(first.await.expect("no panic"));
    assert_eq!(kind, StoreErrorKind::Indeterminate);
    // Whoever waits is let go by an operator, as if there were no standby.
    place
        .run(&format!(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity \
             WHERE application_name = '{}' AND wait_event = 'SyncRep'",
            place.schema
        ))
        .await;
    let released = format!(
        "SELECT count(*) FROM {}.operations WHERE operation_id = '{}' AND state = 8",
        place.schema, held.id
    );
    let wait = async {
        loop {
            let row = place.other.query_one(&released, &[]).await;
            if row.expect("the server answers").get::<_, i64>(0) == 1 {
                break;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(BOUND, wait).await.expect("it can be seen");

    let kind = refused(place.store.release(&held).await);
    assert_eq!(kind, StoreErrorKind::Indeterminate);
    let_it_go(&place).await;
    let wait = async {
        loop {
            match place.store.release(&held).await {
                Ok(answer) => break answer,
                Err(_) => sleep(Duration::from_millis(20)).await,
            }
        }
    };
    let answer = timeout(BOUND, wait).await.expect("it is answered");
    assert_eq!(answer, Released::Released);
}
