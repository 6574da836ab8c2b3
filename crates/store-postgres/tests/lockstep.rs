//! The store beside the reference, step by step, on sequences that nobody wrote.

mod common;

use std::time::Duration;

use counterfoil_servers::{Shared, shared};
use counterfoil_testkit::lockstep;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_answers_as_the_reference_does() {
    let url = shared(Shared::Postgres);
    let harness = common::harness(common::builder(&url), &url).await;
    lockstep::check(
        &harness.with_unit(Duration::from_secs(600)),
        150,
        20_261_130,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_answers_as_the_reference_does_through_a_pooler() {
    let url = shared(Shared::PgBouncer);
    let builder = common::builder(&url).behind_transaction_pooler();
    let harness = common::harness(builder, &shared(Shared::Postgres)).await;
    lockstep::check(&harness.with_unit(Duration::from_secs(600)), 40, 1).await;
}
