//! Many callers at once.

use std::time::Duration;

use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{conformance::Harness, races};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_callers_for_1000_operations_one_claims_each_and_all_get_its_result() {
    let harness = Harness::new(MemoryStore::new(), |_: Duration| std::future::ready(()));
    races::exactly_one(harness, 64, 1_000).await;
}
