//! Claims and completions in a transaction of the caller's: all of it, or nothing.

mod common;

use std::time::{Duration, Instant};

use common::{Op, claimed, done, found};
use counterfoil_core::{
    lifecycle::State,
    store::{Acquired, Completed, Store, StoreErrorKind},
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_postgres::PostgresStore;
use tokio::{sync::Barrier, task::JoinSet};
use tokio_postgres::{Client, IsolationLevel};

/// Shorter than a transition waits for a locked row.
const AT_ONCE: Duration = Duration::from_millis(400);

/// A store, and a table of the business in its schema.
struct Shop {
    store: PostgresStore,
    schema: String,
    url: String,
}

impl Shop {
    async fn open() -> Self {
        let url = shared(Shared::Postgres);
        let schema = common::fresh_schema();
        let builder = common::patient(common::builder(&url)).with_schema(&schema);
        builder.migrate().await.expect("it can be migrated");
        let shop = Self {
            store: builder.connect().await.expect("it is fit for it"),
            schema,
            url,
        };
        let table = format!("CREATE TABLE {}.payments (what text)", shop.schema);
        let client = shop.client().await;
        client.batch_execute(&table).await.expect("a table");
        shop
    }

    async fn client(&self) -> Client {
        common::client(&self.url).await
    }

    fn pay(&self) -> String {
        format!("INSERT INTO {}.payments VALUES ('rent')", self.schema)
    }

    async fn payments(&self) -> i64 {
        let count = format!("SELECT count(*) FROM {}.payments", self.schema);
        let row = self.client().await.query_one(&count, &[]).await;
        row.expect("the server answers").get(0)
    }

    async fn state(&self, op: &Op) -> Option<State> {
        let sighting = self.store.find(op.id).await.expect("it answers");
        sighting.record.map(|record| record.life.state)
    }
}

#[tokio::test]
async fn what_the_business_writes_commits_with_the_claim_and_the_completion() {
    let shop = Shop::open().await;
    for op in [Op::now(), Op::keyed()] {
        let before = shop.payments().await;
        let mut client = shop.client().await;
        let tx = client.transaction().await.expect("it begins");
        let claim = shop.store.acquire_in(&tx, &op.wish()).await;
        let held = claimed(claim.expect("nobody else knows it"));
        tx.batch_execute(&shop.pay()).await.expect("it is paid");
        let answer = shop.store.complete_in(&tx, &held, &done("paid")).await;
        assert_eq!(answer.expect("it is ours"), Completed::Completed);
        assert_eq!(shop.state(&op).await, None, "before the commit");
        shop.store.commit(tx).await.expect("it commits");

        assert_eq!(shop.payments().await, before + 1);
        let stands = found(shop.store.acquire(&op.wish()).await.expect("it answers"));
        assert_eq!(stands.life.state, State::Done);
        assert!(stands.result.is_some());
    }
}

#[tokio::test]
async fn a_rollback_takes_all_of_it_back() {
    let shop = Shop::open().await;
    let op = Op::now();
    let mut client = shop.client().await;
    let tx = client.transaction().await.expect("it begins");
    let claim = shop.store.acquire_in(&tx, &op.wish()).await;
    let held = claimed(claim.expect("nobody else knows it"));
    tx.batch_execute(&shop.pay()).await.expect("it is paid");
    let answer = shop.store.complete_in(&tx, &held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    drop(tx);

    assert_eq!(shop.payments().await, 0);
    assert_eq!(shop.state(&op).await, None);
    claimed(shop.store.acquire(&op.wish()).await.expect("it is free"));
}

#[tokio::test]
async fn of_two_transactions_for_one_operation_the_second_is_told_at_once() {
    let shop = Shop::open().await;
    let op = Op::now();
    let (mut first, mut second) = (shop.client().await, shop.client().await);
    let one = first.transaction().await.expect("it begins");
    let two = second.transaction().await.expect("it begins");
    let claim = shop.store.acquire_in(&one, &op.wish()).await;
    let held = claimed(claim.expect("nobody else knows it"));

    let asked = Instant::now();
    let refused = shop.store.acquire_in(&two, &op.wish()).await;
    let refused = refused.expect_err("there is no record to show yet");
    assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
    assert_eq!(refused.kind(), StoreErrorKind::NotApplied);
    // The error is the store's; the transaction goes on.
    two.batch_execute("SELECT 1").await.expect("it is alive");

    let answer = shop.store.complete_in(&one, &held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    shop.store.commit(one).await.expect("it commits");
    let stands = shop.store.acquire_in(&two, &op.wish()).await;
    assert_eq!(found(stands.expect("it answers")).life.state, State::Done);
}

/// A row that a plain statement holds is waited for, and then told of; the wait ends no transaction.
#[tokio::test]
async fn a_row_that_stays_locked_does_not_end_the_transaction() {
    let shop = Shop::open().await;
    let op = Op::now();
    let held = claimed(shop.store.acquire(&op.wish()).await.expect("it is free"));
    shop.store.release(&held).await.expect("it is ours");
    let released = found(shop.store.acquire(&op.wish()).await.expect("it answers"));
    let (mut other, mut client) = (shop.client().await, shop.client().await);
    let lock = other.transaction().await.expect("it begins");
    lock.batch_execute(&format!(
        "SELECT FROM {}.operations FOR UPDATE",
        shop.schema
    ))
    .await
    .expect("it is locked");

    let tx = client.transaction().await.expect("it begins");
    let unnamed = shop.store.acquire_in(&tx, &op.wish()).await;
    assert_eq!(
        found(unnamed.expect("to read takes no lock")).life.state,
        State::Released
    );
    let wish = op.wish().with_seen(common::seen(&released));
    let refused = shop.store.acquire_in(&tx, &wish).await;
    let refused = refused.expect_err("it can't be claimed, and may be being claimed");
    assert_eq!(refused.kind(), StoreErrorKind::NotApplied);
    drop(lock);
    claimed(shop.store.acquire_in(&tx, &wish).await.expect("it is free"));
    shop.store.commit(tx).await.expect("it was never aborted");
    assert_eq!(shop.state(&op).await, Some(State::InFlight));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_claim_the_same_operations_crosswise_do_not_deadlock() {
    let shop = Shop::open().await;
    for _ in 0..20 {
        let (a, b) = (Op::now(), Op::now());
        let barrier = std::sync::Arc::new(Barrier::new(2));
        let mut both = JoinSet::new();
        for (first, then) in [(a.clone(), b.clone()), (b, a)] {
            let (store, mut client) = (shop.store.clone(), shop.client().await);
            let barrier = barrier.clone();
            both.spawn(async move {
                let tx = client.transaction().await.expect("it begins");
                claimed(
                    store
                        .acquire_in(&tx, &first.wish())
                        .await
                        .expect("it is free"),
                );
                barrier.wait().await;
                let crossed = store.acquire_in(&tx, &then.wish()).await;
                let refused = crossed.expect_err("the other one has it");
                assert_eq!(refused.kind(), StoreErrorKind::NotApplied);
                barrier.wait().await;
                store.commit(tx).await.expect("it was never aborted");
            });
        }
        both.join_all().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_32_transactions_that_race_one_pays() {
    let shop = Shop::open().await;
    let op = Op::now();
    let mut race = JoinSet::new();
    for _ in 0..32 {
        let (store, mut client) = (shop.store.clone(), shop.client().await);
        let (wish, pay) = (op.wish(), shop.pay());
        race.spawn(async move {
            loop {
                let tx = client.transaction().await.expect("it begins");
                match store.acquire_in(&tx, &wish).await {
                    Ok(Acquired::Claimed(claim)) => {
                        tx.batch_execute(&pay).await.expect("it is paid");
                        let said = done("paid");
                        let answer = store.complete_in(&tx, &claim.lease, &said).await;
                        assert_eq!(answer.expect("it is ours"), Completed::Completed);
                        store.commit(tx).await.expect("it commits");
                    }
                    Ok(stands) => return found(stands).life.state,
                    Err(error) => assert_eq!(error.kind(), StoreErrorKind::NotApplied),
                }
            }
        });
    }
    let told = race.join_all().await;
    assert!(told.iter().all(|state| *state == State::Done), "{told:?}");
    assert_eq!(shop.payments().await, 1);
}

#[tokio::test]
async fn another_isolation_is_misuse() {
    let shop = Shop::open().await;
    let op = Op::now();
    let held = claimed(shop.store.acquire(&op.wish()).await.expect("it is free"));
    let mut client = shop.client().await;
    for isolation in [IsolationLevel::RepeatableRead, IsolationLevel::Serializable] {
        let tx = client.build_transaction().isolation_level(isolation);
        let tx = tx.start().await.expect("it begins");
        let claim = shop.store.acquire_in(&tx, &Op::now().wish()).await;
        let claim = claim.expect_err("its snapshot is too old");
        assert_eq!(claim.kind(), StoreErrorKind::Misuse);
        let completion = shop.store.complete_in(&tx, &held, &done("paid")).await;
        let completion = completion.expect_err("its snapshot is too old");
        assert_eq!(completion.kind(), StoreErrorKind::Misuse);
    }
}

/// The driver's own commit would say that all went well.
#[tokio::test]
async fn a_transaction_that_was_aborted_is_not_told_as_committed() {
    let shop = Shop::open().await;
    let op = Op::now();
    let mut client = shop.client().await;
    let tx = client.transaction().await.expect("it begins");
    let claim = shop.store.acquire_in(&tx, &op.wish()).await;
    let held = claimed(claim.expect("nobody else knows it"));
    tx.batch_execute("SELECT 1 / 0")
        .await
        .expect_err("it can't be divided");
    let late = shop.store.complete_in(&tx, &held, &done("paid")).await;
    let late = late.expect_err("the transaction is aborted");
    assert_eq!(late.kind(), StoreErrorKind::NotApplied);
    let refused = shop.store.commit(tx).await.expect_err("it is aborted");
    assert_eq!(refused.kind(), StoreErrorKind::NotApplied);
    assert_eq!(shop.state(&op).await, None);
}

/// What can't commit at its very end, such as for a deferred constraint, is told as not applied.
#[tokio::test]
async fn a_commit_that_the_server_refuses_is_not_applied() {
    let shop = Shop::open().await;
    let op = Op::now();
    let mut client = shop.client().await;
    let unique = format!(
        "ALTER TABLE {}.payments ADD UNIQUE (what) DEFERRABLE INITIALLY DEFERRED",
        shop.schema
    );
    client.batch_execute(&unique).await.expect("a constraint");
    let tx = client.transaction().await.expect("it begins");
    claimed(
        shop.store
            .acquire_in(&tx, &op.wish())
            .await
            .expect("it is free"),
    );
    for _ in 0..2 {
        tx.batch_execute(&shop.pay())
            .await
            .expect("judged at the end");
    }
    let refused = shop.store.commit(tx).await.expect_err("paid twice");
    assert_eq!(refused.kind(), StoreErrorKind::NotApplied);
    assert_eq!(shop.state(&op).await, None);
}

/// Handlers run in tasks.
#[allow(dead_code, reason = "it is compiled, not run")]
fn they_can_be_awaited_in_a_task(store: PostgresStore, mut client: Client) {
    fn is_send(_: impl Send) {}
    is_send(async move {
        let op = Op::now();
        let tx = client.transaction().await?;
        let Ok(Acquired::Claimed(claim)) = store.acquire_in(&tx, &op.wish()).await else {
            return Ok(());
        };
        drop(store.complete_in(&tx, &claim.lease, &done("paid")).await);
        drop(store.commit(tx).await);
        Ok::<_, tokio_postgres::Error>(())
    });
}
