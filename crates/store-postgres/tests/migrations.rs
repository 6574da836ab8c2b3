//! How the schema comes to be, and which ones are refused.

mod common;

use common::{builder, client, fresh_schema, patient};
use counterfoil_core::store::Store;
use counterfoil_servers::{Shared, shared};
use counterfoil_store_postgres::{ConnectError, PostgresStore};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_that_start_at_once_migrate_once() {
    let url = shared(Shared::Postgres);
    let schema = fresh_schema();
    let mut starts = JoinSet::new();
    for _ in 0..20 {
        let builder = patient(builder(&url)).with_schema(&schema);
        starts.spawn(async move {
            builder.migrate().await?;
            builder.with_max_connections(1).connect().await
        });
    }
    for store in starts.join_all().await {
        store.expect("each finds it done, or does it");
    }
    let client = client(&url).await;
    let rows = client
        .query(&format!("SELECT version FROM {schema}.migrations"), &[])
        .await
        .expect("there is a table of versions");
    assert_eq!(rows.len(), 1);
}

#[tokio::test]
async fn migrating_twice_does_nothing() {
    let url = shared(Shared::Postgres);
    let schema = fresh_schema();
    let builder = patient(builder(&url)).with_schema(&schema);
    builder.migrate().await.expect("the first time");
    let client = client(&url).await;
    // The transactions that wrote what there is.
    let writers = format!(
        "SELECT array_agg(DISTINCT xmin::text ORDER BY xmin::text) FROM (
             SELECT xmin FROM pg_class WHERE relnamespace = '{schema}'::regnamespace
             UNION ALL SELECT xmin FROM pg_proc WHERE pronamespace = '{schema}'::regnamespace
             UNION ALL SELECT xmin FROM {schema}.migrations
         ) AS written"
    );
    let mut seen: Vec<Vec<String>> = Vec::new();
    for _ in 0..2 {
        let row = client.query_one(&writers, &[]).await;
        seen.push(row.expect("the server answers").get(0));
        builder.migrate().await.expect("the second time");
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn a_schema_that_nobody_migrated_is_refused() {
    let url = shared(Shared::Postgres);
    let refused = patient(builder(&url))
        .with_schema(fresh_schema())
        .connect()
        .await
        .expect_err("there is no schema");
    assert!(
        matches!(
            refused,
            ConnectError::NotMigrated {
                found: 0,
                needed: 1,
                ..
            }
        ),
        "{refused:?}"
    );
    assert!(refused.to_string().contains("run `migrate` first"));
}

#[tokio::test]
async fn a_schema_of_a_newer_version_is_refused() {
    let url = shared(Shared::Postgres);
    let schema = fresh_schema();
    let builder = patient(builder(&url)).with_schema(&schema);
    builder.migrate().await.expect("it can be migrated");
    client(&url)
        .await
        .batch_execute(&format!("INSERT INTO {schema}.migrations VALUES (99)"))
        .await
        .expect("the server does as the test says");
    for refused in [
        builder.migrate().await.expect_err("it is newer"),
        builder.clone().connect().await.expect_err("it is newer"),
    ] {
        assert!(
            matches!(
                refused,
                ConnectError::SchemaIsNewer {
                    found: 99,
                    known: 1,
                    ..
                }
            ),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_role_that_may_only_use_the_tables_can_connect() {
    let url = shared(Shared::Postgres);
    let schema = fresh_schema();
    let owners = patient(builder(&url)).with_schema(&schema);
    owners.migrate().await.expect("the owner migrates");
    let role = format!("role_{schema}");
    let client = client(&url).await;
    let grants = format!(
        "CREATE ROLE {role} LOGIN;
         GRANT USAGE ON SCHEMA {schema} TO {role};
         GRANT SELECT ON {schema}.migrations TO {role};
         GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.operations, {schema}.keyed_operations TO {role};"
    );
    client.batch_execute(&grants).await.expect("it is granted");
    let mut config: tokio_postgres::Config = url.parse().expect("it is a URL");
    config.user(&role);
    let store = patient(PostgresStore::builder_with(config))
        .with_schema(&schema)
        .connect()
        .await
        .expect("it needs no right to create anything");
    let op = common::Op::now();
    let held = common::claimed(store.acquire(&op.wish()).await.expect("it may write"));
    store
        .complete(&held, &common::done("paid"))
        .await
        .expect("it may write");
    assert_eq!(store.purge(10).await.expect("it may drop"), 0);
    let drop = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    client.batch_execute(&drop).await.expect("it is dropped");
}
