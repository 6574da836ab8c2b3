//! Very many days: a call looks at its own.

mod common;

use std::time::Duration;

use common::{Op, Stage, builder, claimed, done, patient};
use counterfoil_core::store::{Completed, Store};
use counterfoil_servers::Postgres;

const DAY: Duration = Duration::from_secs(86_400);

/// Partitions that the transaction has locked.
const LOCKED: &str =
    "SELECT count(*) FROM pg_locks AS l JOIN pg_inherits AS i ON i.inhrelid = l.relation
    WHERE l.pid = pg_backend_pid() AND i.inhparent = '{schema}.operations'::regclass";

/// How many partitions a release and a completion lock: one brings its settings along, the other has its session's.
async fn locked(stage: &Stage, store: &counterfoil_store_postgres::PostgresStore) -> [i64; 2] {
    let op = Op::minted(stage.now().await);
    let held = claimed(store.acquire(&op.wish()).await.expect("it is free"));
    let (id, owner) = (op.id, uuid(held.owner.as_bytes()));
    let of = format!("'{id}', '{owner}', {}", held.epoch.as_u64());
    let calls = [
        format!("operations_release({of})"),
        format!("operations_complete({of}, 9::smallint, null, null, null, null, null)"),
    ];
    let mut locked = [0; 2];
    for (call, locked) in calls.iter().zip(&mut locked) {
        let greeting = "SET LOCAL plan_cache_mode = force_generic_plan";
        stage
            .run(&format!("BEGIN; {greeting}; SELECT {{schema}}.{call}"))
            .await;
        *locked = stage.count(LOCKED).await;
        stage.run("ROLLBACK").await;
    }
    let answer = store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    locked
}

fn uuid(bytes: &[u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn make(stage: &Stage, days: std::ops::Range<u64>) {
    let today = stage.now().await.unix_secs() / DAY.as_secs();
    for day in days {
        let make = format!("SELECT {{schema}}.create_partition({})", today - day);
        stage.run(&make).await;
    }
}

#[tokio::test]
async fn with_very_many_days_a_call_locks_its_own_and_with_few_plans_are_kept() {
    // Of its own: so many tables are of no use to other tests.
    let server = Postgres::start().expect("it starts");
    let (stage, builder) = Stage::new(patient(builder(server.url())), server.url()).await;
    let store = builder.connect().await.expect("it is fit for it");
    // Three days and the default partition.
    assert_eq!(locked(&stage, &store).await, [4, 4]);
    make(&stage, 1..61).await;
    assert_eq!(locked(&stage, &store).await, [64, 64]);
    make(&stage, 61..62).await;
    assert_eq!(locked(&stage, &store).await, [1, 1]);

    // The claim of a day that has no partition, and its end.
    let op = Op::minted(stage.now().await - DAY * 400);
    let held = claimed(store.acquire(&op.wish()).await.expect("it is free"));
    let answer = store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);

    let report = store.drop_days().await.expect("it answers");
    assert_eq!(report.days, 1, "{report:?}");
    assert_eq!(locked(&stage, &store).await, [64, 64]);
}
