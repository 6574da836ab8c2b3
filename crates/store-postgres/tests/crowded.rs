//! The whole contract, with claims and completions that share their statements with others.

mod common;

use std::time::Duration;

use common::{Stage, crowd::Crowd};
use counterfoil_servers::{Shared, shared};
use counterfoil_store_postgres::PostgresStoreBuilder;
use counterfoil_testkit::{conformance::Harness, lockstep};

async fn crowded(builder: PostgresStoreBuilder) -> Harness {
    let (stage, builder) = Stage::new(common::patient(builder), &shared(Shared::Postgres)).await;
    Harness::new(Crowd::connect(builder).await, move |by| {
        let stage = stage.clone();
        async move { stage.advance(by).await }
    })
    .with_call_limit(Duration::from_secs(60))
}

mod postgres {
    use super::*;

    async fn harness() -> Harness {
        crowded(common::builder(&shared(Shared::Postgres))).await
    }

    counterfoil_testkit::conformance!(harness);
}

mod pgbouncer {
    use super::*;

    async fn harness() -> Harness {
        crowded(common::builder(&shared(Shared::PgBouncer)).behind_transaction_pooler()).await
    }

    counterfoil_testkit::conformance!(harness);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_answers_as_the_reference_does() {
    let harness = crowded(common::builder(&shared(Shared::Postgres))).await;
    lockstep::check(&harness.with_unit(Duration::from_secs(600)), 100, 3).await;
}
