//! Rows that others hold, and owners that have lost: what they do to the other calls of a statement.

use std::{sync::Arc, time::Duration};

use counterfoil_core::{
    OperationId, Owner,
    store::{Acquire, Acquired, Completed, Completion, Lease, Store as _, StoreErrorKind},
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_postgres::PostgresStore;
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::common::{self, Stage, ask, seen};

const BOUND: Duration = Duration::from_secs(120);
/// Between what a batch waits for a row, 100 ms, and what a call alone does, 500 ms.
const BATCH_AT_MOST: Duration = Duration::from_millis(400);
/// A busy machine is late now and then, and not each time. What waits for 500 ms is quicker never.
const ROUNDS: usize = 8;

/// When the batch had ended, by when its callers were told: the first of them all had a statement of its own.
fn batch_took(mut told: Vec<Duration>) -> Duration {
    told.sort_unstable();
    told[1]
}

/// A store with one statement at a time, and records that were released, which the next claim of each has to write.
async fn released(count: usize) -> (String, Stage, PostgresStore, Vec<Acquire>) {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(common::patient(common::builder(&url)), &url).await;
    let store = builder.with_statements_at_once(1).connect().await;
    let store = store.expect("it is fit for it");
    let now = stage.now().await;
    let mut wishes = Vec::new();
    for _ in 0..count {
        let wish = ask::claim(OperationId::mint(now));
        let held = ask::lease(&store.acquire(&wish).await);
        store.release(&held).await.expect("it is ours");
        let Ok(Acquired::Found(record)) = store.acquire(&ask::claim(wish.id)).await else {
            panic!("it is released");
        };
        wishes.push(ask::claim(wish.id).with_seen(seen(&record)));
    }
    (url, stage, store, wishes)
}

async fn hold(client: &tokio_postgres::Client, stage: &Stage, id: OperationId) {
    let lock =
        format!("BEGIN; SELECT FROM {{schema}}.operations WHERE operation_id = '{id}' FOR UPDATE");
    let locked = client.batch_execute(&stage.fill(&lock)).await;
    locked.expect("the record is free");
}

/// Tasks begin in their order here, so that the held row's is not the first, which goes alone.
#[tokio::test]
async fn a_held_row_delays_the_claims_beside_it_by_the_time_of_a_batch_and_no_more() {
    let (url, stage, store, mut wishes) = released(20 * ROUNDS).await;
    let other = common::client(&url).await;
    let mut quickest = Duration::MAX;
    for _ in 0..ROUNDS {
        let round = wishes.split_off(wishes.len() - 20);
        let held = round[11].id;
        hold(&other, &stage, held).await;
        let begun = Instant::now();
        let mut calls = JoinSet::new();
        for wish in round {
            let store = store.clone();
            calls.spawn(async move { (wish.id, store.acquire(&wish).await, begun.elapsed()) });
        }
        let mut told = Vec::new();
        while let Some(answer) = timeout(BOUND, calls.join_next()).await.expect("it ends") {
            let (id, answer, took) = answer.expect("no caller panics");
            if id == held {
                let error = answer.expect_err("it is held");
                assert_eq!(error.kind(), StoreErrorKind::NotApplied);
            } else {
                assert!(matches!(answer, Ok(Acquired::Claimed(_))), "{answer:?}");
                told.push(took);
            }
        }
        quickest = quickest.min(batch_took(told));
        other.batch_execute("ROLLBACK").await.expect("it ends");
    }
    assert!(quickest < BATCH_AT_MOST, "{quickest:?}");
}

/// Their rows are locked by their own calls, after the batch, so that nobody waits for them who has nothing to do with them.
#[tokio::test]
async fn a_held_row_of_a_lost_owner_delays_no_completion_beside_it() {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(common::patient(common::builder(&url)), &url).await;
    let store = builder.with_statements_at_once(1).connect().await;
    let store = store.expect("it is fit for it");
    let now = stage.now().await;
    let other = common::client(&url).await;
    let mut quickest = Duration::MAX;
    for _ in 0..ROUNDS {
        let mut leases = Vec::new();
        for _ in 0..20 {
            let wish = ask::claim(OperationId::mint(now));
            leases.push(ask::lease(&store.acquire(&wish).await));
        }
        let lost = Lease {
            owner: Owner::mint(),
            ..leases[11]
        };
        leases[11] = lost;
        hold(&other, &stage, lost.id).await;
        let begun = Instant::now();
        let mut calls = JoinSet::new();
        for held in leases {
            let store = store.clone();
            calls.spawn(async move {
                let answer = store.complete(&held, &ask::done(b"1".to_vec())).await;
                (held, answer, begun.elapsed())
            });
        }
        let mut told = Vec::new();
        while let Some(answer) = timeout(BOUND, calls.join_next()).await.expect("it ends") {
            let (held, answer, took) = answer.expect("no caller panics");
            if held == lost {
                let error = answer.expect_err("it is held");
                assert_eq!(error.kind(), StoreErrorKind::NotApplied);
            } else {
                assert!(matches!(answer, Ok(Completed::Completed)), "{answer:?}");
                told.push(took);
            }
        }
        quickest = quickest.min(batch_took(told));
        other.batch_execute("ROLLBACK").await.expect("it ends");
    }
    assert!(quickest < BATCH_AT_MOST, "{quickest:?}");
}

/// Each of the writers holds every eighth record, and has lost the others. What it says of those is kept as evidence, for
/// which it locks what the others hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_of_eight_writers_that_have_lost_crosswise_do_not_deadlock() {
    const WRITERS: usize = 8;
    let url = shared(Shared::Postgres);
    // A deadlock is looked for long before a batch gives up its wait, so that none goes unseen.
    let eager = format!("{url}?options=-c%20deadlock_timeout%3D5ms");
    let (stage, builder) = Stage::new(common::patient(common::builder(&eager)), &url).await;
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    let before = stage.count(deadlocks).await;
    let now = stage.now().await;
    let mut stores = Vec::new();
    for _ in 0..WRITERS {
        stores.push(builder.clone().connect().await.expect("it is fit for it"));
    }
    let mut leases = Vec::new();
    for _ in 0..64 {
        let wish = ask::claim(OperationId::mint(now));
        leases.push(ask::lease(&stores[0].acquire(&wish).await));
    }
    let leases = Arc::new(leases);
    let mut writers = JoinSet::new();
    for (writer, store) in stores.into_iter().enumerate() {
        let leases = Arc::clone(&leases);
        writers.spawn(async move {
            for round in 0..10 {
                let mut calls = JoinSet::new();
                for n in 0..leases.len() {
                    let place = (n * 7_919 + writer * 613) % leases.len();
                    let (store, mut held) = (store.clone(), leases[place]);
                    let is_ours = place % WRITERS == writer;
                    if !is_ours {
                        held.owner = Owner::mint();
                    }
                    // It leaves the record open, so that it can be said again.
                    let reason = format!("round {round}");
                    let doubt = Completion::Unknown { reason };
                    calls.spawn(async move {
                        let expected = if is_ours {
                            Completed::Completed
                        } else {
                            Completed::NotOwner
                        };
                        let answer = store.complete(&held, &doubt).await;
                        assert_eq!(answer.expect("nothing is in its way"), expected);
                    });
                }
                while let Some(call) = calls.join_next().await {
                    call.expect("no caller panics");
                }
            }
        });
    }
    while let Some(writer) = timeout(BOUND, writers.join_next()).await.expect("it ends") {
        writer.expect("no writer panics");
    }
    // A session reports what it counted when it ends, or is idle for a second.
    stage.run("SELECT pg_sleep(1.2)").await;
    assert_eq!(stage.count(deadlocks).await, before);
}
