//! Servers and settings that a store is not made on.

mod common;

use common::{builder, fresh_schema, patient};
use counterfoil_core::store::Store;
use counterfoil_servers::{Postgres, Shared, shared};
use counterfoil_store_postgres::{ConnectError, PostgresStore};
use tokio::task::JoinSet;

#[tokio::test]
async fn a_server_that_can_lose_a_commit_is_refused_unless_a_warning_will_do() {
    for (setting, value) in [
        ("fsync", "off"),
        ("full_page_writes", "off"),
        ("synchronous_commit", "off"),
    ] {
        let server = Postgres::starter()
            .setting(setting, value)
            .start()
            .expect("Postgres starts");
        let builder = patient(builder(server.url()));
        builder.migrate().await.expect("it can be migrated");
        match builder.clone().connect().await {
            Err(ConnectError::NotDurable {
                setting: named,
                value: told,
            }) => assert_eq!((named, &*told), (setting, value)),
            other => panic!("{setting}: {other:?}"),
        }
        builder
            .warn_if_not_durable()
            .connect()
            .await
            .expect("the reader has chosen");
    }
}

#[tokio::test]
async fn a_server_that_only_reads_is_refused() {
    let server = Postgres::start().expect("Postgres starts");
    common::client(server.url())
        .await
        .batch_execute("ALTER ROLE counterfoil SET default_transaction_read_only = on")
        .await
        .expect("the server does as the test says");
    let refused = patient(builder(server.url())).connect().await;
    assert!(
        matches!(
            refused,
            Err(ConnectError::Unfit {
                setting: "transaction_read_only",
                ..
            })
        ),
        "{refused:?}"
    );
}

/// After a failover the first of several hosts may be one that only reads.
#[tokio::test]
async fn of_several_hosts_the_one_that_can_be_written_to_is_found() {
    let [reads, writes] = [(); 2].map(|()| Postgres::start().expect("Postgres starts"));
    common::client(reads.url())
        .await
        .batch_execute("ALTER ROLE counterfoil SET default_transaction_read_only = on")
        .await
        .expect("the server does as the test says");
    let both = format!(
        "postgres://counterfoil@127.0.0.1:{},127.0.0.1:{}/counterfoil",
        reads.port(),
        writes.port()
    );
    let builder = patient(builder(&both));
    builder.migrate().await.expect("it can be migrated");
    let store = builder.connect().await.expect("one is fit for it");
    let answer = store.acquire(&common::Op::now().wish()).await;
    common::claimed(answer.expect("it is written there"));
}

/// Directly, each session is told which isolation to take; behind a pooler that must be the server's default.
#[tokio::test]
async fn another_isolation_is_set_right_or_refused() {
    let server = Postgres::starter()
        .setting("default_transaction_isolation", "repeatable read")
        .start()
        .expect("Postgres starts");
    let builder = patient(builder(server.url()));
    builder.migrate().await.expect("it can be migrated");
    let store = builder.clone().connect().await.expect("it is set right");
    let op = common::Op::now();
    // A duplicate meets what was committed since its transaction began, which a snapshot of its own would hide.
    let calls: JoinSet<_> = (0..32)
        .map(|_| {
            let (store, wish) = (store.clone(), op.wish());
            async move { store.acquire(&wish).await }
        })
        .collect();
    for answer in calls.join_all().await {
        answer.expect("each is told what stands");
    }
    let refused = builder.behind_transaction_pooler().connect().await;
    assert!(
        matches!(
            refused,
            Err(ConnectError::Unfit {
                setting: "default_transaction_isolation",
                ..
            })
        ),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_in_time() {
    // Nothing listens there: the port is below those that a system hands out.
    let refused = builder("postgres://nobody:secret@127.0.0.1:1/none")
        .connect()
        .await
        .expect_err("nothing listens");
    assert!(
        matches!(refused, ConnectError::Database { .. }),
        "{refused:?}"
    );
}

#[tokio::test]
async fn nothing_shows_a_password() {
    let shown = format!("{:?}", builder("postgres://name:s3cret@127.0.0.1:1/none"));
    assert!(shown.contains("127.0.0.1"), "{shown}");
    assert!(!shown.contains("s3cret"), "{shown}");
    for bad in [
        "postgres://name:s3cret@127.0.0.1:x/none",
        "postgres://name:s3cret@127.0.0.1/none?s3cret=1",
        "name s3cret",
    ] {
        let refused = PostgresStore::builder(bad).expect_err("it can't be read");
        let shown = format!("{refused} {refused:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
    let schema = fresh_schema();
    let builder = patient(builder(&shared(Shared::Postgres))).with_schema(&schema);
    builder.migrate().await.expect("it can be migrated");
    let store = builder.connect().await.expect("it is fit for it");
    let shown = format!("{store:?}");
    assert!(shown.contains(&schema), "{shown}");
    assert!(!shown.contains("127.0.0.1"), "{shown}");
}
