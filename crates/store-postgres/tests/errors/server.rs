//! Servers that freeze, die, turn read-only, or acknowledge what a standby may not have.

use std::time::{Duration, Instant};

use counterfoil_core::store::{Completed, Store, StoreErrorKind};
use counterfoil_servers::Postgres;

use crate::{
    common::{Op, claimed, done},
    place::{Place, SOON, refused},
};

const LIMIT: Duration = Duration::from_millis(800);

#[tokio::test]
async fn a_frozen_server_leaves_a_call_in_doubt_in_time() {
    let server = Postgres::start().expect("Postgres starts");
    let place = Place::at(server.url(), |builder| {
        builder
            .with_max_connections(1)
            .with_wait(LIMIT)
            .with_call(LIMIT)
            .with_connect(LIMIT)
    })
    .await;
    let op = Op::now();
    let wish = op.wish();
    // The connection stands, and knows the statement.
    claimed(
        place
            .store
            .acquire(&Op::now().wish())
            .await
            .expect("it is free"),
    );

    server.freeze().expect("it freezes");
    let asked = Instant::now();
    let kind = refused(place.store.acquire(&wish).await);
    assert_eq!(kind, StoreErrorKind::Indeterminate);
    // Its statement may still run, so that its connection keeps its place, and there is no other one: nothing is sent.
    let kind = refused(place.store.acquire(&wish).await);
    assert_eq!(kind, StoreErrorKind::NotApplied);
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());

    server.thaw().expect("it goes on");
    // The first call was carried out, or is now; its owner gets the claim, and nobody else does.
    let held = claimed(place.store.acquire(&wish).await.expect("it answers"));
    let answer = place.store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it answers"), Completed::Completed);
}

#[tokio::test]
async fn a_session_that_is_ended_in_a_call_leaves_it_in_doubt() {
    let server = Postgres::start().expect("Postgres starts");
    let place = Place::at(server.url(), |builder| builder).await;
    let op = Op::now();
    let wish = op.wish();
    let held = claimed(place.store.acquire(&wish).await.expect("it is free"));
    place.lock().await;
    let call = {
        let store = place.store.clone();
        tokio::spawn(async move { store.complete(&held, &done("paid")).await })
    };
    let pid = place.waiting_for("transactionid").await;
    place
        .run(&format!("SELECT pg_terminate_backend({pid})"))
        .await;
    let kind = refused(call.await.expect("no panic"));
    assert_eq!(kind, StoreErrorKind::Indeterminate);
    place.unlock().await;
    let answer = place.store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("another connection"), Completed::Completed);
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_leaves_it_in_doubt_and_is_found_again() {
    let server = Postgres::start().expect("Postgres starts");
    let place = Place::at(server.url(), |builder| builder).await;
    let op = Op::now();
    let wish = op.wish();
    let held = claimed(place.store.acquire(&wish).await.expect("it is free"));
    place.lock().await;
    let call = {
        let store = place.store.clone();
        tokio::spawn(async move { store.complete(&held, &done("paid")).await })
    };
    place.waiting_for("transactionid").await;
    server.kill().expect("it dies");
    let kind = refused(call.await.expect("no panic"));
    assert_eq!(kind, StoreErrorKind::Indeterminate);
    let kind = refused(place.store.find(op.id).await);
    assert_eq!(kind, StoreErrorKind::NotApplied);

    server.restart().expect("it recovers");
    let again = claimed(place.store.acquire(&wish).await.expect("it answers"));
    assert_eq!(again, held);
}

/// A statement that the server cancels is rolled back, which is known.
#[tokio::test]
async fn a_call_that_the_server_cancels_is_not_applied() {
    let server = Postgres::start().expect("Postgres starts");
    let place = Place::at(server.url(), |builder| builder).await;
    let op = Op::now();
    let held = claimed(place.store.acquire(&op.wish()).await.expect("it is free"));
    place.lock().await;
    let call = {
        let store = place.store.clone();
        tokio::spawn(async move { store.complete(&held, &done("paid")).await })
    };
    let pid = place.waiting_for("transactionid").await;
    place.run(&format!("SELECT pg_cancel_backend({pid})")).await;
    let kind = refused(call.await.expect("no panic"));
    assert_eq!(kind, StoreErrorKind::NotApplied);
    place.unlock().await;
}

#[tokio::test]
async fn a_server_that_turns_read_only_applies_nothing() {
    let server = Postgres::start().expect("Postgres starts");
    let place = Place::at(server.url(), |builder| builder).await;
    let op = Op::now();
    let held = claimed(place.store.acquire(&op.wish()).await.expect("it is free"));
    let turn = |value| {
        format!(
            "SET default_transaction_read_only = off; ALTER SYSTEM SET default_transaction_read_only = {value}"
        )
    };
    for statement in turn("on").split("; ") {
        place.run(statement).await;
    }
    place.run("SELECT pg_reload_conf()").await;
    // The sessions take it up one after another.
    let mut kind = None;
    for _ in 0..2_000 {
        match place.store.acquire(&Op::now().wish()).await {
            Ok(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            Err(error) => {
                kind = Some(error);
                break;
            }
        }
    }
    let error = kind.expect("it is read-only");
    assert_eq!(error.kind(), StoreErrorKind::NotApplied);
    assert!(error.to_string().contains("read-only"), "{error}");
    let kind = refused(place.store.complete(&held, &done("paid")).await);
    assert_eq!(kind, StoreErrorKind::NotApplied);
}

/// A commit that waits for a synchronous standby can be cut short. The server then acknowledges it, with a warning that the
/// standby may not have it: after a failover it may never have been.
#[tokio::test]
async fn a_commit_that_a_standby_may_not_have_is_in_doubt() {
    let server = Postgres::start().expect("Postgres starts");
    let place = Place::at(server.url(), |builder| builder).await;
    place
        .run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        .await;
    place.run("SELECT pg_reload_conf()").await;
    // The server takes it up after a moment; up to then a claim waits for nobody.
    let (wish, call, pid) = loop {
        let wish = Op::now().wish();
        let mut call = {
            let (store, wish) = (place.store.clone(), wish.clone());
            tokio::spawn(async move { store.acquire(&wish).await })
        };
        tokio::select! {
            pid = place.waiting_for("SyncRep") => break (wish, call, pid),
            _ = &mut call => {}
        }
    };
    place.run(&format!("SELECT pg_cancel_backend({pid})")).await;
    let kind = refused(call.await.expect("no panic"));
    assert_eq!(kind, StoreErrorKind::Indeterminate);

    place
        .run("ALTER SYSTEM RESET synchronous_standby_names")
        .await;
    place.run("SELECT pg_reload_conf()").await;
    let answer = place.store.acquire(&wish).await;
    claimed(answer.expect("confirmed by a write that nobody cut short"));
}
