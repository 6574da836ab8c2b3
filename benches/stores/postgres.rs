//! Postgres: a claim and a completion beside a plain insert of one row.

use std::sync::Arc;

use counterfoil::{postgres::PostgresStore, store::Store};
use counterfoil_servers::Postgres;
use tokio::{sync::Mutex, task::JoinSet};
use tokio_postgres::{Client, NoTls, Statement};

use crate::{
    measure::{Aim, Figure, Line, Load, Sample, sample},
    operations::{self, Supply},
    print,
};

const ROUNDS: usize = 7;
const ALONE: Load = Load {
    callers: 1,
    calls: 1_000,
};
const MANY: Load = Load {
    callers: 64,
    calls: 300,
};

pub(crate) async fn many_callers() {
    let server = Postgres::start().expect("a server");
    many(&server, "", Aim::AtLeast(3.0)).await;
    drop(server);
    // The leader of each group commit waits so long before it flushes, as for a disk that takes 3 ms.
    let slow = Postgres::starter()
        .setting("commit_delay", "3000")
        .setting("commit_siblings", "0")
        .start()
        .expect("a server");
    many(&slow, ", commits of 3 ms", Aim::AtLeast(0.8)).await;
}

pub(crate) async fn one_caller() {
    let server = Postgres::start().expect("a server");
    let store = store(server.url()).await;
    let floor = Floor::new(server.url(), 1).await;
    for (call, name) in [(Call::Acquire, "acquire"), (Call::Complete, "complete")] {
        let rounds = rounds(ALONE, &floor, &store, call).await;
        let what = format!("Postgres {name}, 1 caller");
        print(&Line::of(
            &what,
            INSERT,
            Figure::P50,
            Aim::AtMost(1.2),
            &rounds,
        ));
    }
}

async fn many(server: &Postgres, note: &str, aim: Aim) {
    let store = store(server.url()).await;
    let floor = Floor::new(server.url(), MANY.callers).await;
    for (call, name) in [(Call::Acquire, "acquire"), (Call::Complete, "complete")] {
        let rounds = rounds(MANY, &floor, &store, call).await;
        let what = format!("Postgres {name}, 64 callers, pool of 4{note}");
        let beside = "plain INSERT, 64 connections";
        print(&Line::of(&what, beside, Figure::Rate, aim, &rounds));
    }
}

const INSERT: &str = "plain INSERT";

/// A store with the pool that it has by default.
pub(crate) async fn store(url: &str) -> Arc<PostgresStore> {
    let builder = PostgresStore::builder(url).expect("a URL");
    builder.migrate().await.expect("a schema");
    Arc::new(builder.connect().await.expect("a store"))
}

#[derive(Clone, Copy)]
enum Call {
    Acquire,
    Complete,
}

async fn rounds(
    load: Load,
    floor: &Arc<Floor>,
    store: &Arc<PostgresStore>,
    call: Call,
) -> Vec<(Sample, Sample)> {
    let mut rounds = Vec::new();
    // The first one warms up.
    for round in 0..=ROUNDS {
        let below = {
            let floor = Arc::clone(floor);
            sample(load, move || {
                let floor = Arc::clone(&floor);
                async move { floor.insert().await }
            })
            .await
        };
        let above = match call {
            Call::Acquire => acquires(load, store).await,
            Call::Complete => completes(load, store).await,
        };
        if round > 0 {
            rounds.push((below, above));
        }
    }
    rounds
}

async fn acquires(load: Load, store: &Arc<PostgresStore>) -> Sample {
    let store = Arc::clone(store);
    sample(load, move || {
        let store = Arc::clone(&store);
        async move {
            operations::claim(&*store).await;
        }
    })
    .await
}

async fn completes(load: Load, store: &Arc<PostgresStore>) -> Sample {
    let supply = Supply::new();
    let mut claims = JoinSet::new();
    for _ in 0..load.callers {
        let (store, supply) = (Arc::clone(store), supply.clone());
        claims.spawn(async move {
            for _ in 0..load.calls {
                supply.put([operations::claim(&*store).await.1]).await;
            }
        });
    }
    claims.join_all().await;
    let store = Arc::clone(store);
    sample(load, move || {
        let (store, supply) = (Arc::clone(&store), supply.clone());
        async move {
            let lease = supply.take().await;
            let completed = store.complete(&lease, &operations::done(200)).await;
            completed.expect("it completes");
        }
    })
    .await
}

/// One row in one statement and one commit, of the size of a record; each caller has a connection.
struct Floor {
    connections: Mutex<Vec<(Client, Statement)>>,
}

impl Floor {
    async fn new(url: &str, connections: usize) -> Arc<Self> {
        let mut open = Vec::new();
        for _ in 0..connections {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("one");
            tokio::spawn(connection);
            client
                .batch_execute(
                    "SET client_min_messages = warning; CREATE TABLE IF NOT EXISTS floor (id uuid PRIMARY KEY, content bytea NOT NULL)",
                )
                .await
                .expect("a table");
            let insert = "INSERT INTO floor VALUES ($1::text::uuid, $2)";
            let statement = client.prepare(insert).await.expect("a statement");
            open.push((client, statement));
        }
        Arc::new(Self {
            connections: Mutex::new(open),
        })
    }

    async fn insert(&self) {
        let (client, statement) = {
            let mut connections = self.connections.lock().await;
            connections.pop().expect("as many as callers")
        };
        // The same ids, from the same source: where rows land in the index is part of the cost.
        let id = operations::fresh().id.to_string();
        let id = id.strip_prefix("op_").unwrap_or(&id);
        client
            .execute(&statement, &[&id, &&[7_u8; 200][..]])
            .await
            .expect("it inserts");
        self.connections.lock().await.push((client, statement));
    }
}
