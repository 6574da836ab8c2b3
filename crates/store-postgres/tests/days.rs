//! Days that are over are dropped whole, and what has to stay outlives them.

mod common;

use std::time::Duration;

use common::{
    Stage,
    ask::{claim, done, lease},
};
use counterfoil_core::{
    OperationId,
    store::{Completed, Store},
};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_postgres::PostgresStore;

const DAYS: Duration = Duration::from_secs(3 * 86_400);

const PARTITIONS: &str =
    "SELECT count(*) FROM pg_inherits WHERE inhparent = '{schema}.operations'::regclass";

async fn stage() -> (Stage, PostgresStore) {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(common::patient(common::builder(&url)), &url).await;
    (stage, builder.connect().await.expect("it is fit for it"))
}

#[tokio::test]
async fn a_day_goes_whole_and_its_open_records_stay_what_they_are() {
    let (stage, store) = stage().await;
    let now = stage.now().await;
    let [ended, open] = [(); 2].map(|()| OperationId::mint(now));
    let first = lease(&store.acquire(&claim(ended)).await);
    store
        .complete(&first, &done(b"1".to_vec()))
        .await
        .expect("it answers");
    let held = lease(&store.acquire(&claim(open)).await);
    assert_eq!(
        store.drop_days().await.expect("it answers").days,
        0,
        "today stays"
    );
    let before = stage.count(PARTITIONS).await;

    stage.advance(DAYS).await;
    let report = store.drop_days().await.expect("it answers");
    assert_eq!((report.days, report.records, report.moved), (1, 1, 1));
    assert_eq!(stage.count(PARTITIONS).await, before - 1);
    assert!(
        store
            .find(ended)
            .await
            .expect("it answers")
            .record
            .is_none()
    );
    assert_eq!(
        stage
            .count("SELECT count(*) FROM {schema}.operations_default")
            .await,
        1
    );

    let completed = store.complete(&held, &done(b"2".to_vec())).await;
    assert!(
        matches!(completed, Ok(Completed::Completed)),
        "{completed:?}"
    );
}

#[tokio::test]
async fn a_reader_who_stays_makes_the_drop_give_up_and_two_at_once_drop_a_day_once() {
    let (stage, store) = stage().await;
    let open = OperationId::mint(stage.now().await);
    let held = lease(&store.acquire(&claim(open)).await);
    stage.advance(DAYS).await;
    let other = common::client(&shared(Shared::Postgres)).await;
    let read = stage.fill("BEGIN; SELECT count(*) FROM {schema}.operations");
    other.batch_execute(&read).await.expect("it reads");
    let before = stage.count(PARTITIONS).await;
    let report = store.drop_days().await.expect("it answers");
    assert_eq!(report.days, 0);
    assert!(report.busy > 0);
    assert_eq!(stage.count(PARTITIONS).await, before);
    other.batch_execute("COMMIT").await.expect("it ends");

    let (one, two) = tokio::join!(store.drop_days(), store.drop_days());
    let gone = one.expect("it answers").days + two.expect("it answers").days;
    assert!(gone >= 1);
    assert_eq!(
        stage.count(PARTITIONS).await + i64::try_from(gone).expect("few"),
        before
    );
    let completed = store.complete(&held, &done(b"2".to_vec())).await;
    assert!(
        matches!(completed, Ok(Completed::Completed)),
        "{completed:?}"
    );
}
