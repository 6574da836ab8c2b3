//! What a record takes, and whether a completion touches the index.

mod common;

use std::{collections::VecDeque, time::Duration};

use common::{Op, builder, claimed, client, patient};
use counterfoil_core::{
    lifecycle::Ending,
    store::{Completion, Lease, Store, StoredResult},
};
use counterfoil_servers::Postgres;
use counterfoil_store_postgres::PostgresStore;

/// How many operations are open at a time, as in a busy service.
const OPEN: usize = 64;
const RECORDS: i64 = 6_000;

const COUNTERS: &str = "SELECT sum(n_tup_upd)::bigint, sum(n_tup_hot_upd)::bigint,
        sum(pg_table_size(relid) + pg_indexes_size(relid))::bigint
    FROM pg_stat_user_tables WHERE relname ~ '^operations_[0-9]+$' AND n_tup_ins > 0";

/// Claims and completes with a result of so many bytes, on a server where nobody else keeps old versions alive. How many of 100 completions were HOT, and the bytes of a record in
/// heap and index.
async fn measured(result: usize) -> (i64, i64) {
    let server = Postgres::start().expect("Postgres starts");
    let builder = patient(builder(server.url()));
    builder.migrate().await.expect("it can be migrated");
    let store = builder.connect().await.expect("it is fit for it");
    let mut open = VecDeque::new();
    for _ in 0..RECORDS {
        let claim = store.acquire(&Op::now().wish()).await;
        open.push_back(claimed(claim.expect("it is free")));
        if open.len() > OPEN {
            complete(&store, open.pop_front(), result).await;
        }
    }
    while !open.is_empty() {
        complete(&store, open.pop_front(), result).await;
    }
    // A session tells what it counted at its end.
    drop(store);
    let client = client(server.url()).await;
    for _ in 0..2_000 {
        let row = client.query_one(COUNTERS, &[]).await.expect("it answers");
        if let Some(RECORDS) = row.get(0) {
            let (hot, bytes): (i64, i64) = (row.get(1), row.get(2));
            return (100 * hot / RECORDS, bytes / RECORDS);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the counters were not told");
}

async fn complete(store: &PostgresStore, held: Option<Lease>, result: usize) {
    let held = held.expect("it is open");
    let said = Completion::Ended {
        ending: Ending::Done,
        result: (result > 0).then(|| StoredResult::json(vec![b'x'; result].into())),
        result_ref: None,
    };
    store.complete(&held, &said).await.expect("it is ours");
}

#[tokio::test]
async fn a_record_without_a_result_takes_450_bytes_at_most() {
    let (hot, bytes) = measured(0).await;
    assert!(bytes <= 450, "{bytes} bytes");
    assert!(hot >= 95, "{hot} of 100 completions are HOT");
}

#[tokio::test]
async fn completions_with_a_small_result_are_hot() {
    let (hot, _) = measured(100).await;
    assert!(hot >= 95, "{hot} of 100 completions are HOT");
}
