//! What goes wrong for one call of a statement, or for all of them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use counterfoil_core::{
    OperationId,
    lifecycle::State,
    store::{Acquired, Completed, Store as _, StoreErrorKind},
};
use counterfoil_servers::{Postgres, Shared, shared};
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::common::{self, Stage, ask};

const BOUND: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_another_transaction_holds_stops_its_own_caller_only() {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(common::patient(common::builder(&url)), &url).await;
    let store = builder.with_statements_at_once(1).connect().await;
    let store = store.expect("it is fit for it");
    let now = stage.now().await;
    let ids: Vec<_> = (0..40).map(|_| OperationId::mint(now)).collect();
    let held = ids[17];

    // An application claimed one of them in a transaction of its own, which is still open.
    let mut other = common::client(&url).await;
    let transaction = other.transaction().await.expect("it begins");
    let sql = format!(
        "SELECT answer FROM {{schema}}.operations_acquire('{held}', 'tenant', 'principal', 'scope', 'x', \
         gen_random_uuid(), 1000, NULL, 1000, false, NULL, NULL, NULL)"
    );
    transaction
        .batch_execute(&stage.fill(&sql))
        .await
        .expect("it is claimed");

    let begun = Instant::now();
    let mut calls = JoinSet::new();
    for id in ids {
        let store = store.clone();
        calls.spawn(async move { (id, store.acquire(&ask::claim(id)).await, begun.elapsed()) });
    }
    let (mut stopped, mut slowest) = (Duration::ZERO, Duration::ZERO);
    while let Some(answer) = timeout(BOUND, calls.join_next()).await.expect("it ends") {
        let (id, answer, took) = answer.expect("no caller panics");
        if id == held {
            let error = answer.expect_err("it is held");
            assert_eq!(error.kind(), StoreErrorKind::NotApplied);
            stopped = took;
        } else {
            assert!(matches!(answer, Ok(Acquired::Claimed(_))), "{answer:?}");
            slowest = slowest.max(took);
        }
    }
    // All others waited for a part of what the transition itself waits for, which the one that is held did after that.
    assert!(slowest < stopped, "{slowest:?} {stopped:?}");
    transaction.rollback().await.expect("it ends");
    assert!(matches!(
        store.acquire(&ask::claim(held)).await,
        Ok(Acquired::Claimed(_))
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_the_server_refuses_fails_alone() {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(common::patient(common::builder(&url)), &url).await;
    stage
        .run("ALTER TABLE {schema}.operations ADD CONSTRAINT small CHECK (octet_length(result) <> 13)")
        .await;
    let store = builder.with_statements_at_once(1).connect().await;
    let store = store.expect("it is fit for it");
    let now = stage.now().await;
    let mut leases = Vec::new();
    for _ in 0..20 {
        leases.push(ask::lease(
            &store.acquire(&ask::claim(OperationId::mint(now))).await,
        ));
    }
    let mut calls = JoinSet::new();
    for (n, held) in leases.into_iter().enumerate() {
        let store = store.clone();
        calls.spawn(async move { (n, store.complete(&held, &ask::done(vec![b'x'; n])).await) });
    }
    while let Some(answer) = timeout(BOUND, calls.join_next()).await.expect("it ends") {
        match answer.expect("no caller panics") {
            (13, answer) => {
                let error = answer.expect_err("it is refused");
                assert_eq!(error.kind(), StoreErrorKind::NotApplied);
            }
            (n, answer) => assert!(matches!(answer, Ok(Completed::Completed)), "{n} {answer:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_dying_server_leaves_open_its_owner_finds_out() {
    let server = Postgres::start().expect("a server starts");
    let builder = common::builder(server.url()).with_connect(Duration::from_secs(20));
    builder.migrate().await.expect("it can be migrated");
    let store = builder.connect().await.expect("it is fit for it");
    let now = store
        .find(OperationId::from_bytes([1; 16]))
        .await
        .expect("it answers")
        .now;

    let mut callers = JoinSet::new();
    let acknowledged = Arc::new(AtomicUsize::new(0));
    for _ in 0..64 {
        let (store, acknowledged) = (store.clone(), Arc::clone(&acknowledged));
        callers.spawn(async move {
            let (mut done, mut open) = (Vec::new(), Vec::new());
            loop {
                let asked = ask::claim(OperationId::mint(now));
                match store.acquire(&asked).await {
                    Ok(answer) => {
                        done.push(ask::lease(&Ok(answer)));
                        acknowledged.fetch_add(1, Ordering::SeqCst);
                    }
                    Err(error) => {
                        open.push((asked, error.kind()));
                        return (done, open);
                    }
                }
            }
        });
    }
    let under_load = async {
        while acknowledged.load(Ordering::SeqCst) < 1_000 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(BOUND, under_load).await.expect("the store works");
    // Wherever it is, it goes no further. What was answered before is read, and what is sent from here on is cut short.
    server.freeze().expect("it freezes");
    let all_wait = async {
        let mut read = 0;
        while acknowledged.load(Ordering::SeqCst) != read {
            read = acknowledged.load(Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(BOUND, all_wait)
        .await
        .expect("nobody answers any more");
    server.kill().expect("it is killed");
    let (mut done, mut open) = (Vec::new(), Vec::new());
    while let Some(more) = timeout(BOUND, callers.join_next()).await.expect("it ends") {
        let (more_done, more_open) = more.expect("no caller panics");
        done.extend(more_done);
        open.extend(more_open);
    }
    server.restart().expect("it starts again");

    let (mut indeterminate, mut stood) = (0, 0);
    for (asked, kind) in open {
        let record = store.find(asked.id).await.expect("it answers").record;
        match kind {
            StoreErrorKind::Indeterminate => indeterminate += 1,
            StoreErrorKind::NotApplied => assert!(record.is_none(), "it was applied after all"),
            other => panic!("{other:?}"),
        }
        stood += usize::from(record.is_some());
        // The same call again is the same claim, whether it had been applied or not.
        let again = ask::lease(&store.acquire(&asked).await);
        assert_eq!(again.owner, asked.claim.owner);
        assert_eq!(again.epoch.as_u64(), 1);
    }
    assert!(indeterminate > 2, "no statement was cut short");
    // Of what was acknowledged nothing is lost.
    for held in &done {
        let record = store.find(held.id).await.expect("it answers").record;
        let life = record.expect("it stands").life;
        assert_eq!(
            (life.state, life.owner),
            (State::InFlight, Some(held.owner))
        );
    }
    assert!(done.len() > 64, "{} claims, {stood} stood", done.len());
}
