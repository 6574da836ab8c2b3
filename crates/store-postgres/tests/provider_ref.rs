//! Downstream's reference is on record when the handler is told so, whoever is killed right after.

mod common;

use counterfoil_core::{OperationId, lifecycle::State, store::Store};
use counterfoil_servers::{Postgres, Shared, shared};
use counterfoil_store_postgres::PostgresStore;
use counterfoil_testkit::killed::{NOTED, kill_after_its_note, note_and_stall};

/// Which server, and which schema of it, the process that dies is on.
const URL: &str = "COUNTERFOIL_TEST_KILLED_URL";
const SCHEMA: &str = "COUNTERFOIL_TEST_KILLED_SCHEMA";

async fn open(url: &str, schema: &str) -> PostgresStore {
    let builder = common::patient(common::builder(url)).with_schema(schema);
    builder.migrate().await.expect("it can be migrated");
    builder.connect().await.expect("it is fit for it")
}

async fn kill(url: &str, schema: &str) -> OperationId {
    let variables = [
        (URL.to_owned(), url.to_owned()),
        (SCHEMA.to_owned(), schema.to_owned()),
    ];
    let killed = tokio::task::spawn_blocking(move || {
        let variables = variables
            .each_ref()
            .map(|(name, value)| (&**name, &**value));
        kill_after_its_note("the_process_that_dies", &variables)
    });
    killed.await.expect("it said its word")
}

async fn assert_noted(store: &PostgresStore, id: OperationId) {
    let record = store.find(id).await.expect("it can be read").record;
    let record = record.expect("the claim is on record");
    assert_eq!(record.provider_ref.as_deref(), Some(NOTED));
    assert_eq!(record.life.state, State::InFlight);
}

#[tokio::test]
#[ignore = "the process that the other tests here start and kill"]
async fn the_process_that_dies() {
    let of = |name| std::env::var(name).expect("the test that starts it says where");
    note_and_stall(open(&of(URL), &of(SCHEMA)).await).await;
}

#[tokio::test]
async fn a_reference_survives_its_process_killed_right_after() {
    let (url, schema) = (shared(Shared::Postgres), common::fresh_schema());
    let store = open(&url, &schema).await;
    for _ in 0..5 {
        let id = kill(&url, &schema).await;
        assert_noted(&store, id).await;
    }
}

#[tokio::test]
async fn a_reference_survives_process_and_server_killed_right_after() {
    let server = Postgres::start().expect("it starts");
    let schema = common::fresh_schema();
    drop(open(server.url(), &schema).await);
    let id = kill(server.url(), &schema).await;
    server.kill().expect("it is killed");
    server.restart().expect("it comes back");
    let store = open(server.url(), &schema).await;
    assert_noted(&store, id).await;
}
