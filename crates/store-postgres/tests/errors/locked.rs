//! Records that another transaction holds, and connections that other calls hold.

use std::time::Instant;

use counterfoil_core::{
    lifecycle::State,
    store::{Acquired, Completed, Store, StoreErrorKind},
};
use counterfoil_servers::{Shared, shared};

use crate::{
    common::{Op, claimed, done, found, seen},
    place::{Place, SOON, refused},
};

async fn place() -> Place {
    Place::at(&shared(Shared::Postgres), |builder| builder).await
}

/// To read what stands takes no lock, so that a duplicate is answered at once whoever holds the record.
#[tokio::test]
async fn a_duplicate_of_a_locked_record_is_told_what_stands() {
    let place = place().await;
    for op in [Op::now(), Op::keyed()] {
        let held = claimed(place.store.acquire(&op.wish()).await.expect("it is free"));
        place.lock().await;
        let stands = found(place.store.acquire(&op.wish()).await.expect("it answers"));
        assert_eq!(stands.life.state, State::InFlight);
        let mut changed = op.wish();
        changed.identity.hash = counterfoil_core::ParamHash::from_bytes([8; 32]);
        let answer = place.store.acquire(&changed).await.expect("it answers");
        assert!(matches!(answer, Acquired::ParamsChanged(_)), "{answer:?}");
        place.unlock().await;
        let answer = place.store.complete(&held, &done("paid")).await;
        assert_eq!(answer.expect("it is free again"), Completed::Completed);
    }
}

/// A claim that would have to write waits for as long as it may, and then nothing of it is applied.
#[tokio::test]
async fn a_claim_on_a_locked_record_ends_in_time_and_is_not_applied() {
    let place = place().await;
    let op = Op::now();
    let held = claimed(place.store.acquire(&op.wish()).await.expect("it is free"));
    place.store.release(&held).await.expect("it is ours");
    let released = found(place.store.acquire(&op.wish()).await.expect("it answers"));
    let named = op.wish().with_seen(seen(&released));

    place.lock().await;
    let asked = Instant::now();
    let kind = refused(place.store.acquire(&named).await);
    assert_eq!(kind, StoreErrorKind::NotApplied);
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    place.unlock().await;
    claimed(place.store.acquire(&named).await.expect("it is free"));
}

/// The claim stands, and can't be confirmed by a write: whoever holds it must ask again, and never hear that it is not his.
#[tokio::test]
async fn a_claim_asked_again_while_its_record_is_locked_is_in_doubt() {
    let place = place().await;
    let op = Op::now();
    let wish = op.wish();
    let held = claimed(place.store.acquire(&wish).await.expect("it is free"));
    place.lock().await;
    let asked = Instant::now();
    let kind = refused(place.store.acquire(&wish).await);
    assert_eq!(kind, StoreErrorKind::Indeterminate);
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    place.unlock().await;
    let again = claimed(place.store.acquire(&wish).await.expect("it is ours"));
    assert_eq!(again, held);
}

/// Where somebody's insert is not committed yet there is nothing to read, and nothing to claim.
#[tokio::test]
async fn a_claim_that_meets_an_open_insert_ends_in_time_and_is_not_applied() {
    let place = place().await;
    let op = Op::now();
    let mut client = crate::common::client(&shared(Shared::Postgres)).await;
    let tx = client.transaction().await.expect("it begins");
    claimed(
        place
            .store
            .acquire_in(&tx, &op.wish())
            .await
            .expect("it is free"),
    );

    let asked = Instant::now();
    let kind = refused(place.store.acquire(&op.wish()).await);
    assert_eq!(kind, StoreErrorKind::NotApplied);
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    tx.rollback().await.expect("it ends");
    claimed(place.store.acquire(&op.wish()).await.expect("it is free"));
}

#[tokio::test]
async fn what_an_owner_says_of_a_locked_record_ends_in_time_and_is_not_applied() {
    let place = place().await;
    let op = Op::now();
    let held = claimed(place.store.acquire(&op.wish()).await.expect("it is free"));
    let before = found(place.store.acquire(&op.wish()).await.expect("it answers"));
    place.lock().await;
    let asked = Instant::now();
    let said = done("paid");
    let lease = std::time::Duration::from_secs(600);
    for kind in [
        refused(place.store.complete(&held, &said).await),
        refused(place.store.release(&held).await),
        refused(place.store.renew(&held, lease).await),
    ] {
        assert_eq!(kind, StoreErrorKind::NotApplied);
    }
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    place.unlock().await;
    let after = found(place.store.acquire(&op.wish()).await.expect("it answers"));
    assert_eq!(after, before);
    let answer = place.store.complete(&held, &said).await;
    assert_eq!(answer.expect("it is free"), Completed::Completed);
}

/// With every connection busy, a call waits for so long and no longer.
#[tokio::test]
async fn an_exhausted_pool_refuses_in_time() {
    let wait = std::time::Duration::from_millis(100);
    let url = shared(Shared::Postgres);
    let place = Place::at(&url, |builder| {
        builder.with_max_connections(1).with_wait(wait)
    })
    .await;
    let op = Op::now();
    let wish = op.wish();
    claimed(place.store.acquire(&wish).await.expect("it is free"));
    place.lock().await;
    let busy = {
        let (store, wish) = (place.store.clone(), wish.clone());
        tokio::spawn(async move { store.acquire(&wish).await })
    };
    place.waiting_for("transactionid").await;
    let kind = refused(place.store.find(op.id).await);
    assert_eq!(kind, StoreErrorKind::NotApplied);
    place.unlock().await;
    busy.await.expect("no panic").expect("it is ours");
    place
        .store
        .find(op.id)
        .await
        .expect("there is a connection again");
}

/// A caller who goes away leaves a statement behind that still runs. Its connection is given to the next one when that
/// statement has ended, and no other is opened meanwhile.
#[tokio::test]
async fn a_call_that_is_dropped_poisons_no_connection() {
    let url = shared(Shared::Postgres);
    let place = Place::at(&url, |builder| builder.with_max_connections(1)).await;
    let op = Op::now();
    let held = claimed(place.store.acquire(&op.wish()).await.expect("it is free"));
    place.lock().await;
    let dropped = {
        let store = place.store.clone();
        tokio::spawn(async move { store.release(&held).await })
    };
    let pid = place.waiting_for("transactionid").await;
    dropped.abort();
    assert!(dropped.await.expect_err("it was dropped").is_cancelled());

    let asked = Instant::now();
    place.store.find(op.id).await.expect("the connection again");
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    let sessions = format!(
        "SELECT pid FROM pg_stat_activity WHERE application_name = '{}'",
        place.schema
    );
    let rows = place.other.query(&sessions, &[]).await;
    let pids: Vec<i32> = (rows.expect("the server answers").iter())
        .map(|row| row.get(0))
        .collect();
    assert_eq!(pids, [pid]);
    place.unlock().await;
}

/// A pooler gives the question that is put behind the statement the same session.
#[tokio::test]
async fn a_call_that_is_dropped_behind_a_pooler_poisons_no_connection() {
    let url = shared(Shared::PgBouncer);
    let mut place = Place::at(&url, |builder| {
        builder.with_max_connections(1).behind_transaction_pooler()
    })
    .await;
    // Whoever looks keeps statements in his session.
    place.other = crate::common::client(&shared(Shared::Postgres)).await;
    let op = Op::now();
    let held = claimed(place.store.acquire(&op.wish()).await.expect("it is free"));
    place.lock().await;
    let dropped = {
        let store = place.store.clone();
        tokio::spawn(async move { store.release(&held).await })
    };
    place.waiting_for("transactionid").await;
    dropped.abort();
    assert!(dropped.await.expect_err("it was dropped").is_cancelled());
    let asked = Instant::now();
    place.store.find(op.id).await.expect("the connection again");
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    place.unlock().await;
}
