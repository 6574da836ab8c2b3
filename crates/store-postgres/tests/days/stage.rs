//! A day that is over, and what the tests look at.

use std::time::Duration;

use counterfoil_core::{
    OperationId, Timestamp,
    store::{Lease, Store as _},
};
use counterfoil_servers::{Postgres, Shared, shared};
use counterfoil_store_postgres::{DroppedDays, PostgresStore, PostgresStoreBuilder};

use crate::common::{self, Op, Stage, claimed, done};

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// After so long a day and its records are past their time.
pub(crate) const DAYS: Duration = Duration::from_secs(3 * 86_400);

/// How long a test waits for what must come.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

const PARTITIONS: &str =
    "SELECT count(*) FROM pg_inherits WHERE inhparent = '{schema}.operations'::regclass";

/// Whatever is left of the dropping of days: indexes, and tables that nobody has.
const LEFT_BEHIND: &str = "SELECT count(*) FROM pg_class AS c
    WHERE c.relnamespace = '{schema}'::regnamespace AND (
        c.relname ~ '_stay_' OR c.relkind IN ('r', 'i') AND c.relname ~ '^operations_[0-9]'
            AND NOT EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhrelid = c.oid))";

/// A schema with a clock, on a server that other tests share or on one of its own.
pub(crate) struct OldDay {
    pub(crate) stage: Stage,
    pub(crate) builder: PostgresStoreBuilder,
    pub(crate) store: PostgresStore,
    pub(crate) url: String,
    _server: Option<Postgres>,
}

impl OldDay {
    /// Where others may hold snapshots for a moment.
    pub(crate) async fn shared() -> Self {
        Self::on(shared(Shared::Postgres), None).await
    }

    /// For a test that measures, or that holds others up.
    pub(crate) async fn alone() -> Self {
        let server = Postgres::start().expect("it starts");
        Self::on(server.url().to_owned(), Some(server)).await
    }

    async fn on(url: String, server: Option<Postgres>) -> Self {
        let builder = common::patient(common::builder(&url)).with_max_connections(8);
        let (stage, builder) = Stage::new(builder, &url).await;
        let store = builder.clone().connect().await.expect("it is fit for it");
        Self {
            stage,
            builder,
            store,
            url,
            _server: server,
        }
    }

    /// A store of another process: it remembers nothing of what the others met.
    pub(crate) async fn another(&self) -> PostgresStore {
        let store = self.builder.clone().connect().await;
        store.expect("it is fit for it")
    }

    pub(crate) async fn partitions(&self) -> i64 {
        self.stage.count(PARTITIONS).await
    }

    pub(crate) async fn left_behind(&self) -> i64 {
        self.stage.count(LEFT_BEHIND).await
    }

    pub(crate) async fn rows(&self) -> i64 {
        let rows = "SELECT count(*) FROM {schema}.operations";
        self.stage.count(rows).await
    }

    pub(crate) async fn in_default(&self) -> i64 {
        let rows = "SELECT count(*) FROM {schema}.operations_default";
        self.stage.count(rows).await
    }

    /// So many operations of this moment that have ended, and will be past their time.
    pub(crate) async fn ended(&self, count: u32) -> Op {
        let op = Op::minted(self.stage.now().await);
        let held = claimed(self.store.acquire(&op.wish()).await.expect("it is free"));
        let answer = self.store.complete(&held, &done("paid")).await;
        answer.expect("it is ours");
        self.copy(op.id, count - 1).await;
        op
    }

    /// So many more rows like one, with ids of the same moment.
    pub(crate) async fn copy(&self, id: OperationId, count: u32) {
        let copied = format!(
            "CREATE TEMP TABLE copies AS SELECT n, o.* FROM {{schema}}.operations AS o, generate_series(1, {count}) AS n
                 WHERE operation_id = '{id}';
             UPDATE copies SET operation_id = (left('{id}', 24) || lpad(to_hex(n), 12, '0'))::uuid;
             ALTER TABLE copies DROP COLUMN n;
             INSERT INTO {{schema}}.operations SELECT * FROM copies;
             DROP TABLE copies"
        );
        self.stage.run(&copied).await;
    }

    /// An operation that runs, and goes on running.
    pub(crate) async fn running(&self, at: Timestamp) -> (Op, Lease) {
        let op = Op::minted(at);
        let mut wish = op.wish();
        wish.claim.lease = DAY * 90;
        let held = claimed(self.store.acquire(&wish).await.expect("it is free"));
        (op, held)
    }
}

/// Drops the oldest day, by as many processes as it takes: on a busy machine one may give up.
pub(crate) async fn dropped(day: &OldDay) -> DroppedDays {
    let drop = async {
        loop {
            let report = day.another().await.drop_days().await.expect("it answers");
            if report.days > 0 {
                return report;
            }
        }
    };
    let report = tokio::time::timeout(BOUND, drop).await;
    report.expect("the day goes, whoever is busy")
}

/// Drops what is over already, so that the next day to go is the one that is filled now.
pub(crate) async fn cleared(day: &OldDay) {
    let clear = async {
        loop {
            let report = day.another().await.drop_days().await.expect("it answers");
            if report.days + report.busy == 0 {
                return;
            }
        }
    };
    tokio::time::timeout(BOUND, clear).await.expect("they go");
}

/// Asks until it is so.
pub(crate) async fn until(stage: &Stage, question: &str) {
    let ask = async {
        while stage.count(question).await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let asked = tokio::time::timeout(BOUND, ask).await;
    asked.unwrap_or_else(|_| panic!("it never was so: {question}"));
}
