//! Postgres: a claim beside a plain insert of the same row, and a completion beside a plain update of it.

use std::sync::Arc;

use counterfoil::{postgres::PostgresStore, store::Store};
use counterfoil_servers::Postgres;
use tokio::task::JoinSet;

use crate::{
    floor::Floor,
    measure::{Aim, Figure, Line, Load, Sample, sample},
    operations::{self, Supply},
    print,
};

/// Short rounds and many of them: a checkpoint or a vacuum then falls into a few, and not into the median.
const ALONE: (usize, Load) = (
    25,
    Load {
        callers: 1,
        calls: 300,
    },
);
const MANY: (usize, Load) = (
    7,
    Load {
        callers: 64,
        calls: 300,
    },
);

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
    let floor = Arc::new(Floor::new(server.url(), 1).await);
    for (call, name) in [(Call::Acquire, "acquire"), (Call::Complete, "complete")] {
        let rounds = rounds(ALONE, &floor, &store, call).await;
        let what = format!("Postgres {name}, 1 caller");
        print(&Line::of(
            &what,
            call.floor(),
            Figure::P50,
            Aim::AtMost(1.2),
            &rounds,
        ));
    }
}

async fn many(server: &Postgres, note: &str, aim: Aim) {
    let store = store(server.url()).await;
    let floor = Arc::new(Floor::new(server.url(), MANY.1.callers).await);
    for (call, name) in [(Call::Acquire, "acquire"), (Call::Complete, "complete")] {
        let rounds = rounds(MANY, &floor, &store, call).await;
        let what = format!("Postgres {name}, 64 callers, pool of 4{note}");
        let beside = format!("{}, 64 connections", call.floor());
        print(&Line::of(&what, &beside, Figure::Rate, aim, &rounds));
    }
}

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

impl Call {
    const fn floor(self) -> &'static str {
        match self {
            Self::Acquire => "plain INSERT",
            Self::Complete => "plain UPDATE",
        }
    }
}

async fn rounds(
    (rounds, load): (usize, Load),
    floor: &Arc<Floor>,
    store: &Arc<PostgresStore>,
    call: Call,
) -> Vec<(Sample, Sample)> {
    let mut samples = Vec::with_capacity(rounds);
    // The first one warms up.
    for round in 0..=rounds {
        let below = match call {
            Call::Acquire => inserts(load, floor).await,
            Call::Complete => updates(load, floor).await,
        };
        let above = match call {
            Call::Acquire => acquires(load, store).await,
            Call::Complete => completes(load, store).await,
        };
        if round > 0 {
            samples.push((below, above));
        }
    }
    samples
}

async fn inserts(load: Load, floor: &Arc<Floor>) -> Sample {
    let floor = Arc::clone(floor);
    sample(load, move || {
        let floor = Arc::clone(&floor);
        async move {
            floor.insert().await;
        }
    })
    .await
}

async fn updates(load: Load, floor: &Arc<Floor>) -> Sample {
    let supply = Supply::new();
    let mut inserts = JoinSet::new();
    for _ in 0..load.callers {
        let (floor, supply) = (Arc::clone(floor), supply.clone());
        inserts.spawn(async move {
            for _ in 0..load.calls {
                supply.put([floor.insert().await]).await;
            }
        });
    }
    inserts.join_all().await;
    let floor = Arc::clone(floor);
    sample(load, move || {
        let (floor, supply) = (Arc::clone(&floor), supply.clone());
        async move { floor.update(supply.take().await).await }
    })
    .await
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
