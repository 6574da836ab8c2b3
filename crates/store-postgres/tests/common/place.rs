//! A store, and somebody else at the same server who gets in its way.

use std::time::Duration;

use counterfoil_core::store::{StoreError, StoreErrorKind};
use counterfoil_store_postgres::{PostgresStore, PostgresStoreBuilder};
use tokio_postgres::Client;

use crate::common::{builder, client, fresh_schema, patient};

/// For what must not wait: far more than a call takes, and far less than its limits.
pub(crate) const SOON: Duration = Duration::from_secs(3);

pub(crate) struct Place {
    pub(crate) store: PostgresStore,
    pub(crate) schema: String,
    /// Looks, and does what a test says.
    pub(crate) other: Client,
    /// Holds locks. Within its transaction it would see the server's activity as it was at its first look.
    locker: Client,
}

impl Place {
    pub(crate) async fn at(
        url: &str,
        with: impl Fn(PostgresStoreBuilder) -> PostgresStoreBuilder,
    ) -> Self {
        let schema = fresh_schema();
        let named = format!("{url}?application_name={schema}");
        let builder = with(patient(builder(&named))).with_schema(&schema);
        builder.migrate().await.expect("it can be migrated");
        Self {
            store: builder.connect().await.expect("it is fit for it"),
            schema,
            other: client(url).await,
            locker: client(url).await,
        }
    }

    /// Takes every record's lock, in a transaction that `unlock` ends.
    pub(crate) async fn lock(&self) {
        let lock = format!(
            "BEGIN; SELECT FROM {0}.operations FOR UPDATE; SELECT FROM {0}.keyed_operations FOR UPDATE",
            self.schema
        );
        let locked = self.locker.batch_execute(&lock).await;
        locked.expect("the records are locked");
    }

    pub(crate) async fn unlock(&self) {
        let unlocked = self.locker.batch_execute("ROLLBACK").await;
        unlocked.expect("the records are free");
    }

    pub(crate) async fn run(&self, sql: &str) {
        let done = self.other.batch_execute(sql).await;
        done.expect("the server does as the test says");
    }

    /// The process of the store's session that waits for `event`, once there is one.
    pub(crate) async fn waiting_for(&self, event: &str) -> i32 {
        let pid = format!(
            "SELECT pid FROM pg_stat_activity WHERE application_name = '{}' AND wait_event = '{event}'",
            self.schema
        );
        for _ in 0..2_000 {
            let row = self.other.query_opt(&pid, &[]).await;
            if let Some(row) = row.expect("the server answers") {
                return row.get(0);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("nobody came to wait for {event}");
    }
}

pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> StoreErrorKind {
    answer.expect_err("something is in its way").kind()
}
