//! Tiered: a replay from the cache beside a bare GET, and what a cache that is dead or frozen costs.

use std::{sync::Arc, time::Duration};

use counterfoil::{
    postgres::PostgresStore,
    redis::{RedisCache, RedisConfig},
    store::{Acquire, Acquired, Store},
    tiered::TieredStore,
};
use counterfoil_servers::{Postgres, Redis};
use fred::{
    clients::Client,
    interfaces::{ClientLike, KeysInterface},
    prelude::{Builder, Config},
};

use crate::{
    measure::{Aim, Figure, Line, Load, in_turns},
    operations, postgres, print,
};

const ROUNDS: usize = 15;
const REPLAYS: Load = Load {
    callers: 1,
    calls: 1_000,
};
const BESIDE_POSTGRES: Load = Load {
    callers: 1,
    calls: 150,
};
const RESULT: usize = 200;

pub(crate) async fn measure() {
    let (truth, cache) = (
        Postgres::start().expect("one"),
        Redis::start().expect("one"),
    );
    let alone = postgres::store(truth.url()).await;
    let tiered = Arc::new(tiered(&truth, &cache).await);

    let again = Arc::new(operations::finished(&*tiered, RESULT).await);
    // The first replay fills the cache.
    replay(&*tiered, &again).await;
    tiered.settled().await;
    let floor = Arc::new(bare_get(&cache).await);
    let (store, request) = (Arc::clone(&tiered), Arc::clone(&again));
    let rounds = in_turns(
        ROUNDS,
        REPLAYS,
        move || {
            let floor = Arc::clone(&floor);
            async move {
                let found: Option<Vec<u8>> = floor.get(BARE).await.expect("it answers");
                assert!(found.is_some());
            }
        },
        move || {
            let (store, request) = (Arc::clone(&store), Arc::clone(&request));
            async move { replay(&*store, &request).await }
        },
    )
    .await;
    let beside = "bare GET of as many bytes";
    print(&Line::of(
        "tiered replay, warm",
        beside,
        Figure::P50,
        Aim::AtMost(1.3),
        &rounds,
    ));

    cache.freeze().expect("it freezes");
    beside_postgres("frozen", &alone, &tiered).await;
    cache.thaw().expect("it thaws");
    cache.kill().expect("it ends");
    beside_postgres("dead", &alone, &tiered).await;
}

/// First runs and replays through Postgres alone, and through the tiers after the breaker has opened.
async fn beside_postgres(state: &str, alone: &Arc<PostgresStore>, tiered: &Arc<TieredStore>) {
    while tiered.is_cache_in_use() {
        operations::finished(&**tiered, RESULT).await;
    }
    let (floor, subject) = (Arc::clone(alone), Arc::clone(tiered));
    let rounds = in_turns(
        ROUNDS,
        BESIDE_POSTGRES,
        move || {
            let floor = Arc::clone(&floor);
            async move {
                operations::finished(&*floor, RESULT).await;
            }
        },
        move || {
            let subject = Arc::clone(&subject);
            async move {
                operations::finished(&*subject, RESULT).await;
            }
        },
    )
    .await;
    let (what, beside) = (format!("tiered first run, cache {state}"), "Postgres alone");
    print(&Line::of(
        &what,
        beside,
        Figure::P50,
        Aim::AtMost(1.1),
        &rounds,
    ));

    let again = Arc::new(operations::finished(&**alone, RESULT).await);
    let (floor, request) = (Arc::clone(alone), Arc::clone(&again));
    let subject = Arc::clone(tiered);
    let rounds = in_turns(
        ROUNDS,
        BESIDE_POSTGRES,
        move || {
            let (floor, request) = (Arc::clone(&floor), Arc::clone(&request));
            async move { replay(&*floor, &request).await }
        },
        move || {
            let (subject, request) = (Arc::clone(&subject), Arc::clone(&again));
            async move { replay(&*subject, &request).await }
        },
    )
    .await;
    let what = format!("tiered replay, cache {state}");
    print(&Line::of(
        &what,
        beside,
        Figure::P50,
        Aim::AtMost(1.1),
        &rounds,
    ));
}

async fn tiered(truth: &Postgres, cache: &Redis) -> TieredStore {
    let config = RedisConfig::from_url(cache.url()).expect("a URL");
    let keys = operations::keys().value_keys();
    let front = RedisCache::connect(config, keys).await.expect("a cache");
    let postgres = PostgresStore::builder(truth.url()).expect("a URL");
    let behind = postgres.connect().await.expect("a store");
    // Half-open trials are part of what a dead cache costs, and a second apart as by default.
    TieredStore::new(behind, front).with_breaker(3, Duration::from_secs(1))
}

async fn replay(store: &dyn Store, again: &Acquire) {
    let found = store.acquire(again).await;
    assert!(matches!(found, Ok(Acquired::Found(_))), "{found:?}");
}

const BARE: &str = "bare";

async fn bare_get(cache: &Redis) -> Client {
    let config = Config::from_url(cache.url()).expect("a URL");
    let client = Builder::from_config(config).build().expect("a client");
    client.init().await.expect("a connection");
    // About what a record with its result and its seal takes.
    let value = vec![b'7'; RESULT + 250];
    let () = client
        .set(BARE, value.as_slice(), None, None, false)
        .await
        .expect("it is set");
    client
}
