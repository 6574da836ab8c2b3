//! Many callers at once, directly and through a transaction pooler.

mod common;

use counterfoil_servers::{Shared, shared};
use counterfoil_testkit::races;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_callers_for_1000_operations_one_claims_each_and_all_get_its_result() {
    let url = shared(Shared::Postgres);
    let harness = common::harness(common::builder(&url), &url).await;
    races::exactly_one(harness, 64, 1_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn through_a_pooler_too() {
    let builder = common::builder(&shared(Shared::PgBouncer)).behind_transaction_pooler();
    let harness = common::harness(builder, &shared(Shared::Postgres)).await;
    races::exactly_one(harness, 64, 1_000).await;
}
