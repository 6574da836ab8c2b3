//! Many callers at once.

use std::time::Duration;

use counterfoil_servers::{Shared, shared};
use counterfoil_testkit::{conformance::Harness, races};

use crate::world::store;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_callers_for_1000_operations_one_claims_each_and_all_get_its_result() {
    let store = store(&shared(Shared::Postgres), &shared(Shared::Redis)).await;
    let harness = Harness::new(store, |_: Duration| std::future::ready(()));
    races::exactly_one(harness.with_call_limit(Duration::from_secs(60)), 64, 1_000).await;
}
