//! Days that come: an id is one id through midnight, whatever day its clock was at, and has one place at a time.

mod common;

use std::time::Duration;

use common::{Op, Stage, builder, claimed, done, found, patient};
use counterfoil_core::{
    OperationId, Timestamp,
    lifecycle::State,
    store::{Acquired, Completed, Lease, Renewed, Store},
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_postgres::PostgresStore;
use tokio::task::JoinSet;

const DAY: Duration = Duration::from_secs(86_400);

/// How many partitions have rows, the default one among them.
const PLACES: &str = "SELECT count(DISTINCT tableoid) FROM {schema}.operations";

const IN_DEFAULT: &str = "SELECT count(*) FROM {schema}.operations_default";

async fn stage() -> (Stage, PostgresStore) {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(patient(builder(&url)), &url).await;
    let builder = builder.with_max_connections(8);
    (stage, builder.connect().await.expect("it is fit for it"))
}

fn midnight_after(now: Timestamp) -> Timestamp {
    Timestamp::from_unix_secs((now.unix_secs() / DAY.as_secs() + 1) * DAY.as_secs())
}

/// The name of a day's partition, as the schema makes it.
async fn partition(stage: &Stage, at: Timestamp) -> String {
    let name = format!(
        "SELECT {}.partition_of({})",
        stage.schema,
        at.unix_secs() / DAY.as_secs()
    );
    let row = stage.client.query_one(&name, &[]).await;
    row.expect("the server answers").get(0)
}

/// Waits until the day of `at` has a partition.
async fn until_made(stage: &Stage, at: Timestamp) {
    let name = partition(stage, at).await;
    let made = format!(
        "SELECT count(*) FROM pg_class WHERE relname = '{name}' AND relnamespace = '{{schema}}'::regnamespace"
    );
    for _ in 0..2_000 {
        if stage.count(&made).await > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{name} was not made");
}

#[tokio::test]
async fn an_id_is_unique_before_and_after_midnight() {
    let (stage, store) = stage().await;
    let midnight = midnight_after(stage.now().await);
    stage.set(midnight - Duration::from_millis(1)).await;
    let op = Op::minted(stage.now().await);
    let wish = op.wish();
    let held = claimed(store.acquire(&wish).await.expect("it is free"));

    stage.set(midnight).await;
    let stands = found(store.acquire(&op.wish()).await.expect("it answers"));
    assert_eq!(stands.life.state, State::InFlight);
    assert_eq!(
        claimed(store.acquire(&wish).await.expect("it is ours")),
        held
    );
    let today = Op::minted(midnight);
    claimed(store.acquire(&today.wish()).await.expect("it is free"));
    assert_eq!(stage.count(PLACES).await, 2, "each day has its place");
    assert_eq!(stage.count(IN_DEFAULT).await, 0);

    let answer = store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    stage.advance(DAY).await;
    let stands = found(store.acquire(&op.wish()).await.expect("it answers"));
    assert_eq!(stands.life.state, State::Done);
    let rows = "SELECT count(*) FROM {schema}.operations";
    assert_eq!(stage.count(rows).await, 2);
}

#[tokio::test]
async fn an_id_from_a_clock_that_is_days_off_is_as_good_as_any() {
    let (stage, store) = stage().await;
    let now = stage.now().await;
    for at in [
        Timestamp::from_unix_ms(0),
        now - DAY * 400,
        now - DAY * 2,
        now + DAY * 5,
        now + DAY * 4_000,
    ] {
        let op = Op::minted(at);
        let held = claimed(store.acquire(&op.wish()).await.expect("it is free"));
        let stands = found(store.acquire(&op.wish()).await.expect("it answers"));
        assert!(stands.life.is_held_by(held.owner, held.epoch));
        let answer = store.complete(&held, &done("paid")).await;
        assert_eq!(answer.expect("it is ours"), Completed::Completed);
        let stands = found(store.acquire(&op.wish()).await.expect("it answers"));
        assert_eq!(stands.life.state, State::Done);
    }
    assert_eq!(stage.count(IN_DEFAULT).await, 5);
}

#[tokio::test]
async fn a_day_has_its_partition_before_it_begins() {
    let (stage, store) = stage().await;
    for _ in 0..6 {
        let now = stage.now().await;
        claimed(
            store
                .acquire(&Op::minted(now).wish())
                .await
                .expect("it is free"),
        );
        until_made(&stage, now + DAY).await;
        stage.advance(DAY).await;
    }
    assert_eq!(stage.count(IN_DEFAULT).await, 0);
    assert_eq!(stage.count(PLACES).await, 6);
}

/// Owners and duplicates go on while their records are moved from the default partition, and miss nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_moved_to_its_day_is_never_missing() {
    let (stage, store) = stage().await;
    for _ in 0..5 {
        let day = midnight_after(stage.now().await) + DAY * 4;
        let ops = claim_many(&store, day).await;
        assert_eq!(stage.count(IN_DEFAULT).await, 200);

        // The next claim shows that this day is near.
        stage.set(day - DAY).await;
        go_on(&store, ops).join_all().await;
        until_made(&stage, day).await;
        assert_eq!(stage.count(IN_DEFAULT).await, 0);
    }
}

/// And while a day is dropped that some of them outlive.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_outlives_its_day_is_never_missing() {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(patient(builder(&url)), &url).await;
    let builder = builder.with_max_connections(8);
    let store = builder.clone().connect().await.expect("it is fit for it");
    for _ in 0..5 {
        // The days in between are empty.
        while store.drop_days().await.expect("it answers").days > 0 {}
        let day = stage.now().await;
        let ops = claim_many(&store, day).await;
        stage.advance(DAY * 3).await;
        let calls = go_on(&store, ops);
        let mut dropped = 0;
        for _ in 0..100 {
            // A process that gave the day up leaves it for a while; another one does not.
            let janitor = builder.clone().connect().await.expect("it is fit for it");
            dropped += janitor.drop_days().await.expect("it answers").days;
            if dropped > 0 {
                break;
            }
        }
        assert_eq!(dropped, 1, "the day goes, whoever is busy");
        calls.join_all().await;
    }
}

/// Operations of a day, with owners whose leases outlast the test.
async fn claim_many(store: &PostgresStore, day: Timestamp) -> Vec<(Op, Lease)> {
    let mut ops = Vec::new();
    for _ in 0..200 {
        let op = Op::minted(day);
        let mut wish = op.wish();
        wish.claim.lease = DAY * 90;
        let held = claimed(store.acquire(&wish).await.expect("it is free"));
        ops.push((op, held));
    }
    ops
}

/// Each is looked for, met by a duplicate, renewed, and completed at last; none is ever missing.
fn go_on(store: &PostgresStore, ops: Vec<(Op, Lease)>) -> JoinSet<()> {
    let mut calls = JoinSet::new();
    for (op, held) in ops {
        let store = store.clone();
        calls.spawn(async move {
            for _ in 0..3 {
                let sighting = store.find(op.id).await.expect("it answers");
                assert!(sighting.record.is_some(), "it was not found");
                match store.acquire(&op.wish()).await.expect("it answers") {
                    Acquired::Found(_) => {}
                    other => panic!("{other:?}"),
                }
                let renewed = store.renew(&held, DAY * 90).await;
                assert_eq!(renewed.expect("it answers"), Renewed::Renewed);
            }
            let answer = store.complete(&held, &done("paid")).await;
            assert_eq!(answer.expect("it is ours"), Completed::Completed);
        });
    }
    calls
}

/// Moving very many would make all calls wait for long: they stay where they are, and their day with them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_with_very_many_early_records_stays_in_the_default_partition() {
    let (stage, store) = stage().await;
    let day = midnight_after(stage.now().await) + DAY * 4;
    let first = OperationId::mint(day);
    let op = Op {
        id: first,
        ..Op::minted(day)
    };
    let held = claimed(store.acquire(&op.wish()).await.expect("it is free"));
    let copies = format!(
        "INSERT INTO {{schema}}.operations SELECT c.* FROM generate_series(1, 1000) AS n,
         LATERAL (SELECT (jsonb_populate_record(o, jsonb_build_object('operation_id',
             left('{first}', 24) || lpad(to_hex(n), 12, '0')))).* FROM {{schema}}.operations AS o
             WHERE o.operation_id = '{first}') AS c"
    );
    stage.run(&copies).await;
    stage.set(day - DAY).await;
    let made = stage
        .client
        .query_one(
            &stage.fill(&format!(
                "SELECT {{schema}}.create_partition({})",
                day.unix_secs() / DAY.as_secs()
            )),
            &[],
        )
        .await
        .expect("it is no error");
    assert!(!made.get::<_, bool>(0));
    assert_eq!(stage.count(IN_DEFAULT).await, 1_001);
    let answer = store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
}

/// Whatever is in the way of one day is not in that of the next.
#[tokio::test]
async fn a_day_that_cannot_be_made_keeps_no_other_from_being_made_and_is_tried_again() {
    let (stage, store) = stage().await;
    let today = stage.now().await + DAY * 7;
    stage.set(today).await;
    let name = partition(&stage, today).await;
    let obstacle = format!("CREATE DOMAIN {{schema}}.{name} AS integer");
    stage.run(&obstacle).await;
    claimed(
        store
            .acquire(&Op::minted(today).wish())
            .await
            .expect("it is free"),
    );
    until_made(&stage, today + DAY).await;
    until_made(&stage, today + DAY * 2).await;
    assert_eq!(stage.count(IN_DEFAULT).await, 1);

    let removed = format!("DROP DOMAIN {{schema}}.{name}");
    stage.run(&removed).await;
    stage.advance(Duration::from_secs(600)).await;
    claimed(
        store
            .acquire(&Op::minted(today).wish())
            .await
            .expect("it is free"),
    );
    until_made(&stage, today).await;
    assert_eq!(stage.count(IN_DEFAULT).await, 0);
}

#[tokio::test]
async fn where_the_days_are_not_told_they_are_asked_for_again() {
    let (stage, store) = stage().await;
    let next_days = "CREATE OR REPLACE FUNCTION {schema}.next_days(OUT day bigint, OUT is_made boolean)
        RETURNS SETOF record LANGUAGE sql VOLATILE AS $$ SELECT d, false FROM generate_series(1, 0) AS d $$";
    let before = "SELECT pg_get_functiondef('{schema}.next_days'::regproc)";
    let row = stage.client.query_one(&stage.fill(before), &[]).await;
    let before: String = row.expect("it answers").get(0);
    stage.run(next_days).await;
    stage.advance(DAY * 7).await;
    let now = stage.now().await;
    claimed(
        store
            .acquire(&Op::minted(now).wish())
            .await
            .expect("it is free"),
    );
    // It has looked by now, or looks later and finds them: either way it comes to look again.
    tokio::task::yield_now().await;
    stage.run(&before).await;
    for _ in 0..3 {
        stage.advance(Duration::from_secs(600)).await;
        claimed(
            store
                .acquire(&Op::minted(now).wish())
                .await
                .expect("it is free"),
        );
    }
    until_made(&stage, now).await;
}

/// The server reads all of it while calls wait.
#[tokio::test]
async fn no_day_is_made_while_the_default_partition_is_too_large_to_be_read_unless_a_person_says_so()
 {
    let (stage, store) = stage().await;
    let far = stage.now().await + DAY * 100;
    claimed(
        store
            .acquire(&Op::minted(far).wish())
            .await
            .expect("it is free"),
    );
    let day = far.unix_secs() / DAY.as_secs();
    for (after, readable, made) in [(1, "8191", false), (2, "8192", true), (3, "NULL", true)] {
        let make = format!(
            "SELECT {{schema}}.create_partition({day} + {after}, {readable})::integer::bigint"
        );
        assert_eq!(stage.count(&make).await == 1, made, "{readable}");
    }
}
