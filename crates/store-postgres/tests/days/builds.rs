//! The index that a day is judged by: it is built while others are in the way, cut short, and left behind.

use std::{sync::Arc, time::Duration};

use counterfoil_core::store::{Completed, Store};
use counterfoil_servers::{PgBouncer, Postgres};

use crate::{
    common::{self, Stage, builder, client, done, patient},
    stage::{BOUND, DAY, DAYS, OldDay, cleared, dropped, until},
};

/// Builds that are under way, by anybody on the server.
const BUILDING: &str =
    "SELECT count(*) FROM pg_stat_progress_create_index WHERE phase ~ 'waiting for old snapshots'";

/// One, if nobody builds.
const NONE_BUILDING: &str =
    "SELECT count(*) WHERE NOT EXISTS (SELECT FROM pg_stat_progress_create_index)";

/// Indexes of a build that did not come to its end.
const BROKEN: &str = "SELECT count(*) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE NOT i.indisvalid AND c.relnamespace = '{schema}'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index AS p WHERE p.relid = i.indrelid)";

/// Those who wait for a table.
const HELD_UP: &str = "SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND NOT granted";

/// A transaction that sees the database as it is now, and touches none of our tables: a build waits for its end.
async fn snapshot(url: &str) -> tokio_postgres::Client {
    let other = client(url).await;
    let look = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current()";
    other.batch_execute(look).await.expect("it looks");
    other
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_that_was_cancelled_or_killed_is_cleared_up_by_the_next_call() {
    let day = OldDay::alone().await;
    day.ended(100).await;
    let (_, held) = day.running(day.stage.now().await).await;
    day.stage.advance(DAYS).await;
    for end in ["pg_cancel_backend", "pg_terminate_backend"] {
        let other = snapshot(&day.url).await;
        let janitor = day.another().await;
        let call = tokio::spawn(async move { janitor.drop_days().await });
        until(&day.stage, BUILDING).await;
        let kill = format!("SELECT count({end}(pid)) FROM pg_stat_progress_create_index");
        assert_eq!(day.stage.count(&kill).await, 1);
        until(&day.stage, BROKEN).await;
        other.batch_execute("COMMIT").await.expect("it ends");
        let answer = tokio::time::timeout(BOUND, call).await.expect("it ends");
        match answer.expect("it does not panic") {
            Ok(report) => assert_eq!(report.busy, 1, "{end}: {report:?}"),
            Err(error) => assert_eq!(end, "pg_terminate_backend", "{error}"),
        }
        assert_eq!(day.stage.count(BROKEN).await, 1, "{end}");
        assert_eq!((day.rows().await, day.in_default().await), (101, 0));
    }

    let report = dropped(&day).await;
    assert_eq!((report.records, report.moved), (100, 1));
    assert_eq!(day.left_behind().await, 0);
    let answer = day.store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
}

/// One limit for all of a call; what still runs then is ended, so that nobody waits for it and nothing holds a session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_stays_open_costs_a_call_its_time_and_no_more() {
    let day = OldDay::alone().await;
    day.ended(100).await;
    day.stage.advance(DAYS).await;
    let other = snapshot(&day.url).await;
    let limit = Duration::from_secs(2);
    let short = day.builder.clone().with_scan(limit).connect().await;
    let short = short.expect("it is fit for it");
    let begun = tokio::time::Instant::now();
    let report = short.drop_days().await.expect("it answers");
    let took = begun.elapsed();
    assert_eq!((report.days, report.busy), (0, 1), "{report:?}");
    assert!(took >= limit && took < limit * 4, "{took:?}");
    until(&day.stage, NONE_BUILDING).await;
    other.batch_execute("COMMIT").await.expect("it ends");

    // It is left for a while, and the days after it are not.
    let report = short.drop_days().await.expect("it answers");
    assert_eq!((report.days, report.busy), (1, 0), "an empty day after it");
    let report = dropped(&day).await;
    assert_eq!((report.days, report.records), (1, 100));
    assert_eq!(day.left_behind().await, 0);
}

/// It waits for locks without end, as a build has to and no other call may.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_session_of_a_build_whose_caller_went_away_serves_nobody_else() {
    let day = OldDay::alone().await;
    day.ended(100).await;
    day.stage.advance(DAYS).await;
    let other = snapshot(&day.url).await;
    let single = day.builder.clone().with_max_connections(1).connect().await;
    let single = Arc::new(single.expect("it is fit for it"));
    let janitor = Arc::clone(&single);
    let call = tokio::spawn(async move { janitor.drop_days().await });
    until(&day.stage, BUILDING).await;
    let builder = "SELECT pid::bigint FROM pg_stat_progress_create_index";
    let builder = day.stage.count(builder).await;
    call.abort();
    assert!(call.await.is_err_and(|error| error.is_cancelled()));
    other.batch_execute("COMMIT").await.expect("it ends");

    // The build comes to its end, and its session is not lent again but closed.
    until(&day.stage, NONE_BUILDING).await;
    let gone = format!(
        "SELECT count(*) WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = {builder})"
    );
    until(&day.stage, &gone).await;
    let op = common::Op::minted(day.stage.now().await);
    common::claimed(single.acquire(&op.wish()).await.expect("it is free"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_a_pooler_a_day_is_dropped_and_a_build_cancelled_too() {
    let server = Postgres::start().expect("it starts");
    let pooler = PgBouncer::start(&server).expect("it starts");
    let pooled = patient(builder(pooler.url())).behind_transaction_pooler();
    let (stage, pooled) = Stage::new(pooled, server.url()).await;
    let connect = || async { pooled.clone().connect().await.expect("it is fit for it") };
    let store = connect().await;
    let op = common::Op::minted(stage.now().await);
    let mut wish = op.wish();
    wish.claim.lease = DAY * 90;
    let held = common::claimed(store.acquire(&wish).await.expect("it is free"));
    stage.advance(DAYS).await;

    let other = snapshot(server.url()).await;
    let short = pooled.clone().with_scan(Duration::from_secs(2)).connect();
    let short = short.await.expect("it is fit for it");
    let report = short.drop_days().await.expect("it answers");
    assert_eq!((report.days, report.busy), (0, 1), "{report:?}");
    until(&stage, NONE_BUILDING).await;
    other.batch_execute("COMMIT").await.expect("it ends");

    let (one, two) = (connect().await, connect().await);
    let (one, two) = tokio::join!(one.drop_days(), two.drop_days());
    let mut moved = one.expect("it answers").moved + two.expect("it answers").moved;
    if moved == 0 {
        // On a busy machine both may have been in each other's way.
        moved = connect().await.drop_days().await.expect("it answers").moved;
    }
    assert_eq!(moved, 1);
    let answer = store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_drop_the_same_day_at_once_drop_it_once() {
    let day = OldDay::alone().await;
    for _ in 0..3 {
        day.ended(20_000).await;
        let (op, held) = day.running(day.stage.now().await).await;
        day.stage.advance(DAYS).await;
        let (one, two) = (day.another().await, day.another().await);
        let before = day.partitions().await;
        // It lets them build, and not drop.
        let other = client(&day.url).await;
        let read = day
            .stage
            .fill("BEGIN; SELECT FROM {schema}.operations LIMIT 1");
        other.batch_execute(&read).await.expect("it reads");
        let one = tokio::spawn(async move { one.drop_days().await });
        let two = tokio::spawn(async move { two.drop_days().await });
        // Until both are held up at a time; one may have given up before.
        for _ in 0..200 {
            if day.stage.count(HELD_UP).await >= 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        other.batch_execute("COMMIT").await.expect("it ends");
        let (one, two) = (one.await.expect("it ends"), two.await.expect("it ends"));
        let (one, two) = (one.expect("it answers"), two.expect("it answers"));
        let gone = i64::try_from(one.days + two.days).expect("few");
        assert_eq!(day.partitions().await, before - gone, "{one:?} {two:?}");
        // Of both, one may have been in the other's way, and the second may have come to the next day, an empty one.
        if one.moved + two.moved == 0 {
            dropped(&day).await;
        }
        let sighting = day.store.find(op.id).await.expect("it answers");
        assert!(sighting.record.is_some());
        let answer = day.store.complete(&held, &done("paid")).await;
        assert_eq!(answer.expect("it is ours"), Completed::Completed);
        cleared(&day).await;
        assert_eq!(day.left_behind().await, 0);
    }
    assert_eq!(day.rows().await, 3);
}

/// One of them is stopped before its commit, while the other comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_for_another_that_drops_the_day_finds_it_gone_or_drops_it() {
    let day = OldDay::alone().await;
    for (end, second) in [("ROLLBACK", "dropped"), ("COMMIT", "none")] {
        cleared(&day).await;
        day.ended(10).await;
        day.running(day.stage.now().await).await;
        let rows = day.rows().await;
        day.stage.advance(DAYS).await;
        let first = "SELECT min(day) FROM {schema}.past_days() AS day";
        let number = day.stage.count(first).await;
        let step = format!("SELECT answer, ddl FROM {{schema}}.drop_day({number})");
        let step = day.stage.fill(&step);
        let (one, two) = (client(&day.url).await, client(&day.url).await);
        let build = one.query_one(&step, &[]).await.expect("it answers");
        one.batch_execute(build.get(1)).await.expect("it is built");

        one.batch_execute("BEGIN").await.expect("it begins");
        let row = one.query_one(&step, &[]).await.expect("it answers");
        assert_eq!(row.get::<_, &str>(0), "dropped");
        // It waits for a moment only, and then says that it could not.
        let waits = tokio::spawn(async move {
            loop {
                let row = two.query_one(&step, &[]).await?;
                if row.get::<_, &str>(0) != "busy" {
                    return Ok::<_, tokio_postgres::Error>(row);
                }
            }
        });
        until(&day.stage, HELD_UP).await;
        one.batch_execute(end).await.expect("it ends");
        let row = waits.await.expect("it ends").expect("it answers");
        assert_eq!(row.get::<_, &str>(0), second, "after {end}");
        assert_eq!(day.rows().await, rows - 10);
        assert_eq!(day.left_behind().await, 0);
    }
}

/// Also one of a day ago.
#[tokio::test]
async fn an_index_that_another_call_left_is_used() {
    let day = OldDay::shared().await;
    day.ended(10).await;
    let (_, held) = day.running(day.stage.now().await).await;
    day.stage.advance(DAYS).await;
    let first = "SELECT min(day) FROM {schema}.past_days() AS day";
    let number = day.stage.count(first).await;
    let step = day.stage.fill(&format!(
        "SELECT answer, ddl FROM {{schema}}.drop_day({number})"
    ));
    let row = day.stage.client.query_one(&step, &[]).await;
    let row = row.expect("it answers");
    assert_eq!(row.get::<_, &str>(0), "run");
    day.stage.run(row.get(1)).await;
    // Since then it has ended: the index knows it, and keeps it.
    let answer = day.store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    day.stage.advance(DAY).await;
    let report = dropped(&day).await;
    assert_eq!((report.records, report.moved), (10, 1));
    assert_eq!(day.left_behind().await, 0);
}
