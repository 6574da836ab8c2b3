//! A disk that is full.

mod common;

use std::time::Duration;

use counterfoil_core::store::{Store, StoreErrorKind};
use counterfoil_servers::Postgres;
use counterfoil_testkit::Testimony;

use common::{Op, client};

const DISK: u32 = 16;

/// The tables are on a disk of their own, and the log of the server is not: with no room for that one, the server ends, which
/// is another test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a user namespace, which not every system allows: `cargo xtask test` tries"]
async fn on_a_full_disk_nothing_is_told_as_done_that_is_not_and_with_room_again_all_goes_on() {
    let server = Postgres::starter().small_disk(DISK).start();
    let server = server.expect("it starts");
    let other = client(server.url()).await;
    let place = server.small_disk();
    let place = place.to_str().expect("it is plain");
    let make = format!("CREATE TABLESPACE small LOCATION '{place}'");
    let made = other.batch_execute(&make).await;
    made.expect("there is room");

    let url = format!("{}?options=-c%20default_tablespace%3Dsmall", server.url());
    let builder = common::patient(common::builder(&url)).with_schema(common::fresh_schema());
    builder.migrate().await.expect("it can be migrated");
    let store = builder.connect().await.expect("it is fit for it");
    let testimony = Testimony::new(Duration::from_secs(60));
    let mut claimed = Vec::new();
    for _ in 0..50 {
        claimed.push(testimony.claim(&store).await.expect("there is room"));
    }

    // Whatever there is left is taken, down to the last page.
    let fill = "CREATE TABLE filler (filling text) TABLESPACE small";
    other.batch_execute(fill).await.expect("there is room");
    for size in [400, 40, 1] {
        let more =
            format!("INSERT INTO filler SELECT repeat('x', 6000) FROM generate_series(1, {size})");
        let full = loop {
            if let Err(error) = other.batch_execute(&more).await {
                break error;
            }
        };
        let code = full.code().map(tokio_postgres::error::SqlState::code);
        assert_eq!(code, Some("53100"), "{full:?}");
    }

    // A page has room for some more records.
    let refused = loop {
        if let Err(error) = store.acquire(&Op::now().wish()).await {
            break error;
        }
    };
    assert_eq!(refused.kind(), StoreErrorKind::NotApplied);
    let told = std::error::Error::source(&refused).map(ToString::to_string);
    assert!(
        told.as_deref().is_some_and(|told| told.contains("53100")),
        "{told:?}"
    );
    for _ in 0..20 {
        assert!(!testimony.claim_and_complete(&store).await);
    }
    for number in claimed {
        testimony.complete(&store, number).await;
    }

    other
        .batch_execute("DROP TABLE filler")
        .await
        .expect("it may");
    for _ in 0..50 {
        assert!(
            testimony.claim_and_complete(&store).await,
            "there is room again"
        );
    }
    let tally = testimony.hold(&store).await;
    assert_eq!(tally.claims.acknowledged, 100, "{tally:?}");
    assert_eq!(tally.claims.not_applied, 20, "{tally:?}");
}
