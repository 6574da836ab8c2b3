//! What several tests need: a schema of a test's own, and a clock in it that the test moves.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod ask;
pub(crate) mod crowd;
pub(crate) mod place;

use std::{sync::Arc, time::Duration};

use counterfoil_core::{
    Clock, OperationId, Owner, ParamHash, Scope, Subject, SystemClock, Timestamp,
    lifecycle::{Claim, Ending, Seen},
    store::{Acquire, Acquired, Completion, Identity, Lease, Record, StoredResult},
};
use counterfoil_store_postgres::{PostgresStore, PostgresStoreBuilder};
use counterfoil_testkit::conformance::Harness;
use tokio_postgres::{Client, NoTls};

/// A machine that also builds is slow: no test is about the defaults of these.
pub(crate) fn patient(builder: PostgresStoreBuilder) -> PostgresStoreBuilder {
    builder
        .with_wait(Duration::from_secs(20))
        .with_connect(Duration::from_secs(20))
        .with_call(Duration::from_secs(20))
}

/// A name that no other test uses.
pub(crate) fn fresh_schema() -> String {
    let random = u128::from_le_bytes(*Owner::mint().as_bytes());
    format!("test_{random:032x}")
}

/// A connection of the test's own.
pub(crate) async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls)
        .await
        .expect("the server of the tests answers");
    tokio::spawn(connection);
    client
}

/// A schema of one's own, and its clock, which stands still until it is moved.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) client: Arc<Client>,
    pub(crate) schema: String,
}

impl Stage {
    /// Migrates a fresh schema, and replaces its clock.
    pub(crate) async fn new(
        builder: PostgresStoreBuilder,
        url: &str,
    ) -> (Self, PostgresStoreBuilder) {
        let schema = fresh_schema();
        let builder = builder.with_schema(&schema);
        builder.migrate().await.expect("it can be migrated");
        let stage = Self {
            client: Arc::new(client(url).await),
            schema,
        };
        stage
            .run(
                "CREATE TABLE {schema}.test_clock (now_ms bigint NOT NULL);
                 INSERT INTO {schema}.test_clock SELECT {schema}.now_ms();
                 CREATE OR REPLACE FUNCTION {schema}.now_ms() RETURNS bigint LANGUAGE sql VOLATILE
                 AS 'SELECT now_ms FROM {schema}.test_clock'",
            )
            .await;
        (stage, builder)
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.client
            .batch_execute(&self.fill(sql))
            .await
            .expect("the server does as the test says");
    }

    pub(crate) async fn count(&self, sql: &str) -> i64 {
        let row = self.client.query_one(&self.fill(sql), &[]).await;
        row.expect("the server does as the test says").get(0)
    }

    pub(crate) fn fill(&self, sql: &str) -> String {
        sql.replace("{schema}", &self.schema)
    }

    pub(crate) async fn now(&self) -> Timestamp {
        let ms = self.count("SELECT now_ms FROM {schema}.test_clock").await;
        Timestamp::from_unix_ms(ms.unsigned_abs())
    }

    pub(crate) async fn set(&self, now: Timestamp) {
        let set = format!(
            "UPDATE {{schema}}.test_clock SET now_ms = {}",
            now.unix_ms()
        );
        self.run(&set).await;
    }

    pub(crate) async fn advance(&self, by: Duration) {
        let on = format!(
            "UPDATE {{schema}}.test_clock SET now_ms = now_ms + {}",
            by.as_millis()
        );
        self.run(&on).await;
    }
}

/// A store in a schema of its own, whose clock the harness moves.
pub(crate) async fn harness(builder: PostgresStoreBuilder, url: &str) -> Harness {
    let (stage, builder) = Stage::new(patient(builder), url).await;
    let store = builder.connect().await.expect("it is fit for it");
    Harness::new(store, move |by| {
        let stage = stage.clone();
        async move { stage.advance(by).await }
    })
    .with_call_limit(Duration::from_secs(60))
}

/// A builder on a server that the tests share.
pub(crate) fn builder(url: &str) -> PostgresStoreBuilder {
    PostgresStore::builder(url).expect("it is a URL")
}

/// An operation, minted at a time, and how it is claimed and ended.
#[derive(Clone)]
pub(crate) struct Op {
    pub(crate) id: OperationId,
    pub(crate) identity: Identity,
}

impl Op {
    pub(crate) fn minted(at: Timestamp) -> Self {
        Self {
            id: OperationId::mint(at),
            identity: Identity {
                subject: Subject::new("acme", "agent-7").expect("a short subject"),
                scope: Scope::new("payments.transfer"),
                hash: ParamHash::from_bytes([7; 32]),
            },
        }
    }

    pub(crate) fn now() -> Self {
        Self::minted(SystemClock.now())
    }

    /// One whose id carries no time, such as one made from a client's key.
    pub(crate) fn keyed() -> Self {
        let mut op = Self::now();
        let mut bytes = *Owner::mint().as_bytes();
        bytes[6] = 0x80 | (bytes[6] & 0x0f);
        op.id = OperationId::from_bytes(bytes);
        op
    }

    /// A claim by a fresh owner, for ten minutes.
    pub(crate) fn wish(&self) -> Acquire {
        let claim = Claim::new(Owner::mint(), Duration::from_secs(600));
        Acquire::new(
            self.id,
            self.identity.clone(),
            claim,
            Duration::from_secs(3_600),
        )
    }
}

pub(crate) fn done(result: &'static str) -> Completion {
    Completion::Ended {
        ending: Ending::Done,
        result: Some(StoredResult::json(result.into())),
        result_ref: None,
    }
}

pub(crate) fn claimed(answer: Acquired) -> Lease {
    match answer {
        Acquired::Claimed(claimed) => claimed.lease,
        other => panic!("not claimed: {other:?}"),
    }
}

pub(crate) fn found(answer: Acquired) -> Record {
    match answer {
        Acquired::Found(record) => *record,
        other => panic!("not found: {other:?}"),
    }
}

pub(crate) fn seen(record: &Record) -> Seen {
    Seen {
        state: record.life.state,
        epoch: record.life.epoch,
    }
}
