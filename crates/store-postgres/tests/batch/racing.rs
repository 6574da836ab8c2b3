//! Many callers at once, on ids that they share.

use std::{collections::HashMap, sync::Arc, time::Duration};

use counterfoil_core::{
    OperationId, Owner,
    store::{Acquired, Store as _},
};
use counterfoil_servers::{Shared, shared};
use tokio::{task::JoinSet, time::timeout};

use crate::common::{self, Stage, ask};

const BOUND: Duration = Duration::from_secs(120);

/// Claims the ids, all at once, in an order of its own; gives the owners that won.
async fn claim_all(
    store: counterfoil_store_postgres::PostgresStore,
    ids: Arc<Vec<OperationId>>,
    from: usize,
) -> Vec<(OperationId, Owner)> {
    let mut calls = JoinSet::new();
    for n in 0..ids.len() {
        // Neither in the order of the ids nor in that of anybody else.
        let id = ids[(n * 7_919 + from * 613) % ids.len()];
        let store = store.clone();
        calls.spawn(async move {
            let asked = ask::claim(id);
            match store.acquire(&asked).await {
                Ok(Acquired::Claimed(claimed)) => {
                    assert_eq!(claimed.lease.owner, asked.claim.owner);
                    Some((id, asked.claim.owner))
                }
                Ok(Acquired::Found(record)) => {
                    assert_ne!(record.life.owner, Some(asked.claim.owner));
                    None
                }
                other => panic!("{other:?}"),
            }
        });
    }
    let mut won = Vec::new();
    while let Some(answer) = calls.join_next().await {
        won.extend(answer.expect("no caller panics"));
    }
    won
}

/// Every id has one winner, and that is who is on record.
async fn check(stage: &Stage, ids: &[OperationId], won: &[(OperationId, Owner)]) {
    let winners: HashMap<_, _> = won.iter().copied().collect();
    assert_eq!(won.len(), winners.len(), "an id was claimed twice");
    assert_eq!(winners.len(), ids.len(), "an id was claimed by nobody");
    let sql = stage.fill("SELECT operation_id::text, owner::text FROM {schema}.operations");
    let rows = stage.client.query(&sql, &[]).await.expect("it can be read");
    assert_eq!(rows.len(), ids.len());
    for row in rows {
        let id: OperationId = row.get::<_, &str>(0).parse().expect("it is an id");
        let owner: OperationId = row.get::<_, &str>(1).parse().expect("it is as long as one");
        assert_eq!(winners[&id].as_bytes(), owner.as_bytes());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_callers_that_race_for_1000_ids_each_exactly_one_claims_each() {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(common::patient(common::builder(&url)), &url).await;
    let store = builder.connect().await.expect("it is fit for it");
    let now = stage.now().await;
    let ids: Vec<_> = (0..1_000).map(|_| OperationId::mint(now)).collect();

    let mut callers = JoinSet::new();
    for caller in 0..64 {
        let (store, ids) = (store.clone(), ids.clone());
        callers.spawn(async move {
            let mut won = Vec::new();
            for n in 0..ids.len() {
                // They meet again and again, and none has the others' order.
                let asked = ask::claim(ids[(n + caller % 8) % ids.len()]);
                match store.acquire(&asked).await.expect("it is answered") {
                    Acquired::Claimed(_) => won.push((asked.id, asked.claim.owner)),
                    Acquired::Found(_) => {}
                    other => panic!("{other:?}"),
                }
            }
            won
        });
    }
    let mut won = Vec::new();
    while let Some(more) = timeout(BOUND, callers.join_next()).await.expect("it ends") {
        won.extend(more.expect("no caller panics"));
    }
    check(&stage, &ids, &won).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_of_eight_stores_on_the_same_ids_do_not_deadlock() {
    let url = shared(Shared::Postgres);
    // A deadlock is looked for long before a batch gives up its wait, so that none goes unseen.
    let eager = format!("{url}?options=-c%20deadlock_timeout%3D5ms");
    let (stage, builder) = Stage::new(common::patient(common::builder(&eager)), &url).await;
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    let before = stage.count(deadlocks).await;
    let now = stage.now().await;
    let mut pools = Vec::new();
    for _ in 0..8 {
        pools.push(builder.clone().connect().await.expect("it is fit for it"));
    }
    for _ in 0..8 {
        let ids: Arc<Vec<_>> = Arc::new((0..500).map(|_| OperationId::mint(now)).collect());
        let mut stores = JoinSet::new();
        for (number, store) in pools.iter().enumerate() {
            stores.spawn(claim_all(store.clone(), Arc::clone(&ids), number));
        }
        let mut won = Vec::new();
        while let Some(more) = timeout(BOUND, stores.join_next()).await.expect("it ends") {
            won.extend(more.expect("no caller panics"));
        }
        check(&stage, &ids, &won).await;
        stage.run("DELETE FROM {schema}.operations").await;
    }
    // A session reports what it counted when it ends, or is idle for a second.
    stage.run("SELECT pg_sleep(1.2)").await;
    assert_eq!(stage.count(deadlocks).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_claims_of_one_id_in_one_statement_one_wins() {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(common::patient(common::builder(&url)), &url).await;
    let store = builder.with_statements_at_once(1).connect().await;
    let store = store.expect("it is fit for it");
    let now = stage.now().await;
    for _ in 0..20 {
        let ids = Arc::new(vec![OperationId::mint(now); 40]);
        // It has the only statement while the others gather.
        let other = ask::claim(OperationId::mint(now));
        let (_, won) = tokio::join!(
            store.acquire(&other),
            claim_all(store.clone(), Arc::clone(&ids), 0)
        );
        stage
            .run(&format!(
                "DELETE FROM {{schema}}.operations WHERE operation_id = '{}'",
                other.id
            ))
            .await;
        check(&stage, &ids[..1], &won).await;
        stage.run("DELETE FROM {schema}.operations").await;
    }
}
