//! How much room a record takes, and how many completions are HOT.

use counterfoil::store::Store;
use counterfoil_servers::{Postgres, Redis};
use fred::{
    clients::Client,
    interfaces::ClientLike,
    prelude::{Builder, Config},
    types::{CustomCommand, FromValue},
};
use tokio_postgres::NoTls;

use crate::{operations, postgres, redis};

const RECORDS: usize = 20_000;
/// Claims that are open while others complete, as in a busy service.
const IN_FLIGHT: usize = 64;

pub(crate) async fn measure() {
    in_postgres().await;
    in_redis().await;
}

async fn in_postgres() {
    let server = Postgres::start().expect("a server");
    let store = postgres::store(server.url()).await;
    let mut open = Vec::new();
    for _ in 0..RECORDS {
        open.push(operations::claim(&*store).await.1);
        if open.len() > IN_FLIGHT {
            let lease = open.remove(0);
            let done = store.complete(&lease, &operations::done(0)).await;
            done.expect("it completes");
        }
    }
    let (client, connection) = tokio_postgres::connect(server.url(), NoTls)
        .await
        .expect("a connection");
    tokio::spawn(connection);
    // What counters of other sessions hold back is told within a second or so, and at their end.
    drop(store);
    let hot = "SELECT sum(n_tup_upd)::bigint, sum(n_tup_hot_upd)::bigint FROM pg_stat_user_tables WHERE schemaname = 'counterfoil'";
    let size = "SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables WHERE schemaname = 'counterfoil' AND n_tup_ins > 0 AND relname LIKE 'operations%'";
    let expected = i64::try_from(RECORDS - IN_FLIGHT).expect("a small number");
    let (updates, hot) = loop {
        let row = client.query_one(hot, &[]).await.expect("counters");
        let (updates, hot): (i64, i64) = (row.get(0), row.get(1));
        if updates >= expected {
            break (updates, hot);
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    let bytes: i64 = client.query_one(size, &[]).await.expect("a size").get(0);
    let each = bytes / i64::try_from(RECORDS).expect("a small number");
    println!(
        "| Postgres, a record without result | | {each} B, heap and index | ≤ 450 B | {} | |",
        yes(each <= 450)
    );
    let percent = 100 * hot / updates;
    println!(
        "| Postgres, completions that are HOT | | {percent} of 100 | ≥ 95 | {} | |",
        yes(percent >= 95)
    );
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
