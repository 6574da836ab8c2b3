//! The whole conformance suite, directly and through a transaction pooler.

mod common;

mod postgres {
    use counterfoil_servers::{Shared, shared};
    use counterfoil_testkit::conformance::Harness;

    use crate::common;

    async fn harness() -> Harness {
        let url = shared(Shared::Postgres);
        common::harness(common::builder(&url), &url).await
    }

    counterfoil_testkit::conformance!(harness);
}

mod pgbouncer {
    use counterfoil_servers::{Shared, shared};
    use counterfoil_testkit::conformance::Harness;

    use crate::common;

    async fn harness() -> Harness {
        let url = shared(Shared::PgBouncer);
        let builder = common::builder(&url).behind_transaction_pooler();
        common::harness(builder, &shared(Shared::Postgres)).await
    }

    counterfoil_testkit::conformance!(harness);
}
