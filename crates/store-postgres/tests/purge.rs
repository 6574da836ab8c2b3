//! Dropping what is past its time, over more records than one look takes in.

mod common;

use std::time::Duration;

use common::{Op, Stage, builder, claimed, done, found, patient};
use counterfoil_core::{
    Timestamp,
    store::{RETENTION_SKEW, Store},
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_postgres::PostgresStore;

/// What `Op` asks for.
const RETENTION: Duration = Duration::from_secs(3_600);

const ROWS: &str = "SELECT (SELECT count(*) FROM {schema}.operations) + (SELECT count(*) FROM {schema}.keyed_operations)";

async fn stage() -> (Stage, PostgresStore) {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(patient(builder(&url)), &url).await;
    (stage, builder.connect().await.expect("it is fit for it"))
}

/// An ended operation, and so many like it in its table, with ids of the same day.
async fn many(stage: &Stage, store: &PostgresStore, op: &Op, table: &str, copies: u32) {
    let held = claimed(store.acquire(&op.wish()).await.expect("it is free"));
    let answer = store.complete(&held, &done("paid")).await;
    answer.expect("it is ours");
    let id = op.id;
    let copied = format!(
        "CREATE TEMP TABLE copies AS
             SELECT n, o.* FROM {{schema}}.{table} AS o, generate_series(1, {copies} - 1) AS n WHERE operation_id = '{id}';
         UPDATE copies SET operation_id = (left('{id}', 24) || lpad(to_hex(n), 12, '0'))::uuid;
         ALTER TABLE copies DROP COLUMN n;
         INSERT INTO {{schema}}.{table} SELECT * FROM copies;
         DROP TABLE copies"
    );
    stage.run(&copied).await;
}

/// Calls until nothing more is dropped; how many were.
async fn purge(store: &PostgresStore, limit: usize) -> usize {
    let mut dropped = 0;
    loop {
        match store.purge(limit).await.expect("it answers") {
            0 => return dropped,
            some => {
                assert!(some <= limit, "{some}");
                dropped += some;
            }
        }
    }
}

#[tokio::test]
async fn a_purge_goes_through_everything_and_keeps_what_is_open() {
    let (stage, store) = stage().await;
    let op = Op::minted(stage.now().await);
    many(&stage, &store, &op, "operations", 25_000).await;
    many(&stage, &store, &Op::keyed(), "keyed_operations", 15_000).await;
    let open = Op::minted(stage.now().await);
    claimed(store.acquire(&open.wish()).await.expect("it is free"));
    assert_eq!(stage.count(ROWS).await, 40_001);

    assert_eq!(purge(&store, 1_000).await, 0, "nothing is due");
    stage
        .advance(RETENTION + RETENTION_SKEW - Duration::from_millis(1))
        .await;
    assert_eq!(purge(&store, 1_000).await, 0, "nothing is due yet");
    stage.advance(Duration::from_millis(1)).await;
    assert_eq!(store.purge(0).await.expect("it answers"), 0);
    assert_eq!(store.purge(12_345).await.expect("it answers"), 12_345);
    assert_eq!(purge(&store, 7_000).await, 40_000 - 12_345);
    assert_eq!(stage.count(ROWS).await, 1);
    found(
        store
            .acquire(&open.wish())
            .await
            .expect("it is still there"),
    );
}

/// An id is no clock: whatever day it names, its record is kept by the times that the store wrote.
#[tokio::test]
async fn ids_of_days_that_never_have_a_partition_are_purged_like_all_others() {
    let (stage, store) = stage().await;
    // 1980, 2100, and the ends of what an id can say.
    for ms in [0, 315_532_800_000, 4_102_444_800_000, (1 << 48) - 1] {
        let op = Op::minted(Timestamp::from_unix_ms(ms));
        let held = claimed(store.acquire(&op.wish()).await.expect("it is free"));
        let answer = store.complete(&held, &done("paid")).await;
        answer.expect("it is ours");
        let open = Op::minted(Timestamp::from_unix_ms(ms));
        claimed(store.acquire(&open.wish()).await.expect("it is free"));
    }
    assert_eq!(purge(&store, 100).await, 0, "nothing is due");
    stage.advance(RETENTION + RETENTION_SKEW).await;
    assert_eq!(purge(&store, 100).await, 4);
    assert_eq!(stage.count(ROWS).await, 4, "what is open stays");
}

/// A call that was stopped by its limit goes on from there; what has become due behind it meanwhile is not forgotten.
#[tokio::test]
async fn what_becomes_due_behind_a_walk_is_dropped_by_the_next() {
    let (stage, store) = stage().await;
    let early = Op::minted(stage.now().await - Duration::from_secs(60));
    let mut kept_longer = early.wish();
    kept_longer.retention = RETENTION * 2;
    let held = claimed(store.acquire(&kept_longer).await.expect("it is free"));
    let answer = store.complete(&held, &done("paid")).await;
    answer.expect("it is ours");
    let op = Op::minted(stage.now().await);
    many(&stage, &store, &op, "operations", 30_000).await;

    stage.advance(RETENTION + RETENTION_SKEW).await;
    assert_eq!(store.purge(25_000).await.expect("it answers"), 25_000);
    stage.advance(RETENTION).await;
    assert_eq!(store.purge(100_000).await.expect("it answers"), 5_001);
    assert_eq!(stage.count(ROWS).await, 0);
}

/// Asking often costs little: after a whole walk none is begun before something can be due. What ends is kept for the skew
/// at least, so that a record which is due already, behind the store's back, is not looked for until then.
#[tokio::test]
async fn a_walk_is_not_repeated_before_something_can_be_due() {
    let (stage, store) = stage().await;
    let op = Op::minted(stage.now().await);
    many(&stage, &store, &op, "operations", 10).await;
    assert_eq!(purge(&store, 1_000).await, 0);
    stage
        .run("UPDATE {schema}.operations SET updated = 0, exp = 0")
        .await;
    stage
        .advance(RETENTION_SKEW - Duration::from_millis(1))
        .await;
    assert_eq!(purge(&store, 1_000).await, 0, "it walks again and again");
    stage.advance(Duration::from_millis(1)).await;
    assert_eq!(purge(&store, 1_000).await, 10);
}

/// However much is due in one table, the other gets its turn.
#[tokio::test]
async fn neither_table_keeps_the_other_waiting() {
    let (stage, store) = stage().await;
    let op = Op::minted(stage.now().await);
    many(&stage, &store, &op, "operations", 100).await;
    many(&stage, &store, &Op::keyed(), "keyed_operations", 100).await;
    stage.advance(RETENTION + RETENTION_SKEW).await;
    for _ in 0..2 {
        assert_eq!(store.purge(10).await.expect("it answers"), 10);
    }
    for table in ["operations", "keyed_operations"] {
        let rows = format!("SELECT count(*) FROM {{schema}}.{table}");
        assert_eq!(stage.count(&rows).await, 90, "{table}");
    }
}

/// Several processes may purge at a time: each record is dropped once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_purge_at_once_drop_each_record_once() {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(patient(builder(&url)), &url).await;
    let one = builder.clone().connect().await.expect("it is fit for it");
    let two = builder.connect().await.expect("it is fit for it");
    let op = Op::minted(stage.now().await);
    many(&stage, &one, &op, "operations", 20_000).await;
    stage.advance(RETENTION + RETENTION_SKEW).await;
    let (first, second) = tokio::join!(purge(&one, 500), purge(&two, 500));
    let rest = purge(&one, 500).await;
    assert_eq!(first + second + rest, 20_000);
    assert_eq!(stage.count(ROWS).await, 0);
}
