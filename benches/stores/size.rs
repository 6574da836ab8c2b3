//! How much room a record takes, and how many completions are HOT.

use std::sync::Arc;

use counterfoil::store::Store;
use counterfoil_servers::{Postgres, Redis};
use fred::{
    clients::Client,
    interfaces::ClientLike,
    prelude::{Builder, Config},
    types::{CustomCommand, FromValue},
};
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use crate::{
    operations::{self, Supply},
    postgres, redis,
};

const RECORDS: usize = 20_000;
/// Claims that are open while others complete, as in a busy service.
const IN_FLIGHT: usize = 64;

pub(crate) async fn measure() {
    let (hot, each) = in_postgres(0, 1).await;
    println!(
        "| Postgres, a record without result | | {each} B, heap and index | ≤ 450 B | {} | |",
        yes(each <= 450)
    );
    print_hot("without result", hot);
    print_hot("with 200 B", in_postgres(200, 1).await.0);
    // Many at once share statements, and a statement's old versions go only with its commit.
    print_hot("with 200 B, 64 callers", in_postgres(200, 64).await.0);
    in_redis().await;
}

fn print_hot(which: &str, percent: i64) {
    println!(
        "| Postgres, completions that are HOT, {which} | | {percent} of 100 | ≥ 95 | {} | |",
        yes(percent >= 95)
    );
}

/// How many of 100 completions with so large a result are HOT, and how many bytes a record takes.
async fn in_postgres(result: usize, callers: usize) -> (i64, i64) {
    let server = Postgres::start().expect("a server");
    let store = postgres::store(server.url()).await;
    let open = Arc::new(Supply::new());
    let mut all = JoinSet::new();
    for _ in 0..callers {
        let (store, open) = (Arc::clone(&store), Arc::clone(&open));
        all.spawn(async move {
            for _ in 0..RECORDS / callers {
                open.put([operations::claim(&*store).await.1]).await;
                if let Some(lease) = open.oldest_beyond(IN_FLIGHT).await {
                    let done = store.complete(&lease, &operations::done(result)).await;
                    done.expect("it completes");
                }
            }
        });
    }
    while let Some(caller) = all.join_next().await {
        caller.expect("a caller that panics measures nothing");
    }
    let (client, connection) = tokio_postgres::connect(server.url(), NoTls)
        .await
        .expect("a connection");
    tokio::spawn(connection);
    // What counters of other sessions hold back is told within a second or so, and at their end.
    drop(store);
    let hot = "SELECT sum(n_tup_upd)::bigint, sum(n_tup_hot_upd)::bigint FROM pg_stat_user_tables WHERE schemaname = 'counterfoil'";
    let size = "SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables WHERE schemaname = 'counterfoil' AND n_tup_ins > 0 AND relname LIKE 'operations%'";
    let records = RECORDS / callers * callers;
    let expected = i64::try_from(records - IN_FLIGHT).expect("a small number");
    let (updates, hot) = loop {
        let row = client.query_one(hot, &[]).await.expect("counters");
        let (updates, hot): (i64, i64) = (row.get(0), row.get(1));
        if updates >= expected {
            break (updates, hot);
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    let bytes: i64 = client.query_one(size, &[]).await.expect("a size").get(0);
    let each = bytes / i64::try_from(records).expect("a small number");
    (100 * hot / updates, each)
}

async fn in_redis() {
    let server = Redis::start().expect("a server");
    let store = redis::store(server.url()).await;
    operations::finished(&store, 0).await;
    let config = Config::from_url(server.url()).expect("a URL");
    let client = Builder::from_config(config).build().expect("a client");
    client.init().await.expect("a connection");
    let mut keys: Vec<String> = ask(&client, "KEYS", &["counterfoil:*"]).await;
    let key = keys.pop().expect("the record");
    let each: u64 = ask(&client, "MEMORY", &["USAGE", &key, "SAMPLES", "0"]).await;
    println!(
        "| Redis, a record without result | | {each} B | ≤ 400 B | {} | |",
        yes(each <= 400)
    );
}

async fn ask<T: FromValue>(client: &Client, command: &'static str, args: &[&str]) -> T {
    let command = CustomCommand::new_static(command, None, false);
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    client.custom(command, args).await.expect("it answers")
}

const fn yes(met: bool) -> &'static str {
    if met { "yes" } else { "no" }
}
