//! What has to stay: it outlives its day as it was, or keeps the day from going.

use std::time::Duration;

use counterfoil_core::{
    Epoch, OperationId, Owner, Timestamp,
    lifecycle::{Ending, State, Verdict},
    store::{
        Annotated, Annotation, Cancellation, Cancelled, Completed, Completion, FenceRequest,
        Fenced, Lease, Receipt, Received, Released, Renewed, Resolution, Resolved, Store,
    },
};

use crate::{
    common::{Op, claimed, client, done, seen},
    stage::{DAY, DAYS, OldDay, cleared, dropped},
};

/// More than may move.
const MANY: u32 = 1_001;

async fn state(day: &OldDay, id: OperationId) -> Option<State> {
    let sighting = day.store.find(id).await.expect("it answers");
    sighting.record.map(|record| record.life.state)
}

async fn unknown(day: &OldDay, at: Timestamp) -> (Op, Lease) {
    let (op, held) = day.running(at).await;
    let doubt = Completion::Unknown {
        reason: "the connection broke".to_owned(),
    };
    let answer = day.store.complete(&held, &doubt).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    (op, held)
}

async fn accepted(day: &OldDay, at: Timestamp) -> (Op, Lease) {
    let (op, held) = day.running(at).await;
    let handed_on = Completion::Accepted {
        deadline: None,
        result: None,
        result_ref: Some("order-7".to_owned()),
    };
    let answer = day.store.complete(&held, &handed_on).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    (op, held)
}

/// It may be claimed again for as long as it is kept.
async fn released(day: &OldDay, at: Timestamp) -> Op {
    let op = Op::minted(at);
    let mut wish = op.wish();
    wish.retention = DAY * 90;
    let held = claimed(day.store.acquire(&wish).await.expect("it is free"));
    let answer = day.store.release(&held).await;
    assert_eq!(answer.expect("it is ours"), Released::Released);
    op
}

#[tokio::test]
async fn what_is_open_or_kept_longer_outlives_its_day_and_every_transition_works_on_it() {
    let day = OldDay::shared().await;
    let then = day.stage.now().await;
    let gone = day.ended(500).await;
    let running = [(); 3];
    let mut runs = Vec::new();
    for () in running {
        runs.push(day.running(then).await);
    }
    let (lapsed, lapsed_lease) = {
        let op = Op::minted(then);
        let held = claimed(day.store.acquire(&op.wish()).await.expect("it is free"));
        (op, held)
    };
    let (doubted, _) = unknown(&day, then).await;
    let (fenced, _) = unknown(&day, then).await;
    let (received, receipt_of) = accepted(&day, then).await;
    let (accepted, _) = accepted(&day, then).await;
    let (again, called_off) = (released(&day, then).await, released(&day, then).await);
    let ids = [
        runs[0].0.id,
        runs[1].0.id,
        runs[2].0.id,
        lapsed.id,
        doubted.id,
        fenced.id,
        received.id,
        accepted.id,
        again.id,
        called_off.id,
    ];
    day.stage.advance(DAYS).await;
    let mut before = Vec::new();
    for id in ids {
        before.push(day.store.find(id).await.expect("it answers").record);
    }

    let report = dropped(&day).await;
    assert_eq!((report.records, report.moved), (500, 10), "{report:?}");
    assert_eq!((day.in_default().await, day.rows().await), (10, 10));
    assert_eq!(state(&day, gone.id).await, None);
    for (id, before) in ids.into_iter().zip(before) {
        let after = day.store.find(id).await.expect("it answers").record;
        assert!(after.is_some() && after == before, "{before:?} {after:?}");
    }

    let store = &day.store;
    let answer = store.renew(&runs[0].1, DAY * 100).await;
    assert_eq!(answer.expect("it answers"), Renewed::Renewed);
    let mut note = Annotation::default();
    note.provider_ref = Some("bank-7".to_owned());
    let answer = store.annotate(&runs[0].1, &note).await;
    assert_eq!(answer.expect("it answers"), Annotated::Annotated);
    let answer = store.complete(&runs[0].1, &done("paid")).await;
    assert_eq!(answer.expect("it answers"), Completed::Completed);
    let answer = store.release(&runs[1].1).await;
    assert_eq!(answer.expect("it answers"), Released::Released);
    let answer = store.complete(&lapsed_lease, &done("late")).await;
    assert_eq!(answer.expect("it answers"), Completed::Completed);

    let receipt = Receipt {
        id: received.id,
        epoch: receipt_of.epoch,
        ending: Ending::Done,
        result: None,
        result_ref: None,
    };
    let answer = store.receive(&receipt).await;
    assert_eq!(answer.expect("it answers"), Received::Received);
    let wrong = Receipt {
        ending: Ending::Failed,
        ..receipt
    };
    let answer = store.receive(&wrong).await;
    assert_eq!(answer.expect("it answers"), Received::NotOwner);
    let record = store.find(received.id).await.expect("it answers").record;
    assert_eq!(record.expect("it stands").evidence.len(), 1);

    let reconciler = Owner::mint();
    let asked = FenceRequest {
        id: fenced.id,
        owner: reconciler,
        seen: Epoch::from_u64(1),
        hold: Duration::from_secs(60),
    };
    let Fenced::Fenced(held) = store.fence(&asked).await.expect("it answers") else {
        panic!("it is not fenced");
    };
    for (id, owner, seen, verdict) in [
        (fenced.id, reconciler, held.life.epoch, Verdict::Done),
        (
            doubted.id,
            Owner::mint(),
            Epoch::from_u64(1),
            Verdict::NotExecuted,
        ),
    ] {
        let found = Resolution {
            id,
            owner,
            seen,
            verdict,
            vouched: true,
            result: None,
            result_ref: None,
            by: None,
            reason: "the bank says so".to_owned(),
        };
        let answer = store.resolve(&found).await.expect("it answers");
        assert!(matches!(answer, Resolved::Resolved(_)), "{answer:?}");
    }

    let record = store.find(again.id).await.expect("it answers").record;
    let wish = again.wish().with_seen(seen(&record.expect("it stands")));
    let held = claimed(store.acquire(&wish).await.expect("it is free"));
    assert_eq!(held.epoch, Epoch::from_u64(2));
    let off = Cancellation {
        id: called_off.id,
        subject: called_off.identity.subject.clone(),
        tombstone: None,
        reason: None,
    };
    let answer = store.cancel(&off).await.expect("it answers");
    assert!(matches!(answer, Cancelled::Cancelled(_)), "{answer:?}");

    for (id, stands) in [
        (runs[0].0.id, State::Done),
        (runs[1].0.id, State::Released),
        (runs[2].0.id, State::InFlight),
        (lapsed.id, State::Done),
        (doubted.id, State::Released),
        (fenced.id, State::Done),
        (received.id, State::Done),
        (accepted.id, State::Accepted),
        (again.id, State::InFlight),
        (called_off.id, State::Cancelled),
    ] {
        assert_eq!(state(&day, id).await, Some(stands));
    }
    assert_eq!(day.rows().await, 10, "each stands once");
}

#[tokio::test]
async fn a_day_of_which_too_many_rows_have_to_stay_is_left_as_it_was_until_they_may_go() {
    let day = OldDay::shared().await;
    day.ended(500).await;
    let (op, held) = day.running(day.stage.now().await).await;
    day.copy(op.id, MANY - 1).await;
    day.stage.advance(DAYS).await;
    let store = day.another().await;
    let partitions = day.partitions().await;
    // The days after it are empty, and go.
    let report = store.drop_days().await.expect("it answers");
    assert_eq!((report.days, report.unripe, report.busy), (1, 1, 0));
    assert_eq!(day.partitions().await, partitions - 1);
    assert_eq!(
        (day.rows().await, day.in_default().await),
        (500 + i64::from(MANY), 0)
    );
    assert_eq!(day.left_behind().await, 0, "no index was built in vain");

    let answer = day.store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    day.stage.advance(DAY).await;
    let report = dropped(&day).await;
    assert_eq!((report.records, report.moved), (501, u64::from(MANY) - 1));
}

/// They came while the index was built, or it is from before they ended.
#[tokio::test]
async fn where_the_index_has_too_many_rows_the_day_stays_and_the_index_goes() {
    let day = OldDay::shared().await;
    day.ended(500).await;
    let (op, _) = day.running(day.stage.now().await).await;
    day.stage.advance(DAYS).await;
    let number = day
        .stage
        .count("SELECT min(day) FROM {schema}.past_days() AS day")
        .await;
    let step = format!("SELECT ddl FROM {{schema}}.drop_day({number})");
    let row = day
        .stage
        .client
        .query_one(&day.stage.fill(&step), &[])
        .await;
    day.stage.run(row.expect("it answers").get(0)).await;
    assert_eq!(day.left_behind().await, 1);
    day.copy(op.id, MANY - 1).await;

    let report = day.another().await.drop_days().await.expect("it answers");
    assert_eq!(report.unripe, 1, "{report:?}");
    assert_eq!(
        (day.rows().await, day.in_default().await),
        (500 + i64::from(MANY), 0)
    );
    assert_eq!(day.left_behind().await, 0);
}

/// A few rows with large results take as long to move as very many.
#[tokio::test]
async fn a_day_whose_few_rows_are_very_large_is_left_too() {
    let day = OldDay::shared().await;
    let (op, _) = day.running(day.stage.now().await).await;
    day.copy(op.id, 99).await;
    let large = "UPDATE {schema}.operations SET result_format = 'json', result = (
        SELECT string_agg(sha256(n::text::bytea), '') FROM generate_series(1, 1400) AS n)";
    day.stage.run(large).await;
    day.stage.advance(DAYS).await;
    let report = day.another().await.drop_days().await.expect("it answers");
    assert_eq!(report.unripe, 1, "{report:?}");
    assert_eq!((day.rows().await, day.in_default().await), (100, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_who_stays_makes_the_drop_give_up_and_it_is_tried_again_later() {
    let day = OldDay::alone().await;
    let (_, held) = day.running(day.stage.now().await).await;
    day.stage.advance(DAYS).await;
    let before = day.partitions().await;
    let other = client(&day.url).await;
    let read = day
        .stage
        .fill("BEGIN; SELECT count(*) FROM {schema}.operations");
    other.batch_execute(&read).await.expect("it reads");
    let report = day.store.drop_days().await.expect("it answers");
    assert_eq!((report.days, report.busy), (0, 1), "{report:?}");
    assert_eq!(day.partitions().await, before);
    other.batch_execute("COMMIT").await.expect("it ends");

    let report = day.store.drop_days().await.expect("it answers");
    assert_eq!(
        (report.days, report.moved),
        (1, 0),
        "the empty day after it"
    );
    let report = dropped(&day).await;
    assert_eq!(report.moved, 1);
    cleared(&day).await;
    assert_eq!(day.left_behind().await, 0);
    let answer = day.store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
}

#[tokio::test]
async fn today_stays() {
    let day = OldDay::shared().await;
    day.ended(10).await;
    let before = day.partitions().await;
    let report = day.store.drop_days().await.expect("it answers");
    assert_eq!(report, Default::default());
    assert_eq!(day.partitions().await, before);
}

/// The index of what stays and the purge of one record mean the same.
#[tokio::test]
async fn what_stays_is_just_what_no_purge_would_drop() {
    let day = OldDay::shared().await;
    let at = 1_000_000;
    let stays = format!("SELECT {}.stays({at})", day.stage.schema);
    let row = day.stage.client.query_one(&stays, &[]).await;
    let stays: String = row.expect("it answers").get(0);
    let judged = format!(
        "SELECT count(*) FILTER (WHERE {stays} IS DISTINCT FROM (purged IS NOT TRUE)) * 1000000
             + count(*) FILTER (WHERE purged)
         FROM (
             SELECT *, {{schema}}.purge_at(state, updated, exp, retention) <= {at} AS purged
             FROM (SELECT n::smallint AS state FROM generate_series(1, 10) AS n) AS states,
                 (VALUES (0::bigint), (699000), (699999), (700000), (700001)) AS updates (updated),
                 (VALUES (NULL::bigint), (0), (699000), (700000), (4000000000000)) AS ends (exp),
                 (VALUES (0::bigint), (1), (1000), (2305843009213693951)) AS kept (retention)
         ) AS all_of_them"
    );
    let judged = day.stage.count(&judged).await;
    assert!(judged > 100, "some are past their time");
    assert!(judged < 1_000_000, "the two differ");
}
