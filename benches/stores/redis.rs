//! Redis: a claim, a completion and a replay beside a bare script that gets and sets as many bytes.

use std::sync::Arc;

use counterfoil::{
    redis::{ALostWriteMayBeRepeated, RedisConfig, RedisStore},
    store::{Acquired, Store},
};
use counterfoil_servers::Redis;
use fred::{
    clients::Client,
    interfaces::{ClientLike, LuaInterface},
    prelude::{Builder, Config},
};

use crate::{
    measure::{Aim, Figure, Line, Load, in_turns, sample},
    operations::{self, Supply},
    print,
};

const ROUNDS: usize = 7;
const ALONE: Load = Load {
    callers: 1,
    calls: 2_000,
};

pub(crate) async fn measure() {
    let server = Redis::start().expect("a server");
    let store = Arc::new(store(server.url()).await);
    let floor = Arc::new(Floor::new(server.url()).await);

    let (bare, claiming) = (Arc::clone(&floor), Arc::clone(&store));
    let rounds = in_turns(
        ROUNDS,
        ALONE,
        move || {
            let bare = Arc::clone(&bare);
            async move { bare.write().await }
        },
        move || {
            let store = Arc::clone(&claiming);
            async move {
                operations::claim(&*store).await;
            }
        },
    )
    .await;
    let aim = Aim::AtMost(1.2);
    print(&Line::of("Redis acquire", WRITE, Figure::P50, aim, &rounds));

    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let bare = Arc::clone(&floor);
        let below = sample(ALONE, move || {
            let bare = Arc::clone(&bare);
            async move { bare.write().await }
        })
        .await;
        let supply = Supply::new();
        for _ in 0..ALONE.calls {
            supply.put([operations::claim(&*store).await.1]).await;
        }
        let completing = Arc::clone(&store);
        let above = sample(ALONE, move || {
            let (store, supply) = (Arc::clone(&completing), supply.clone());
            async move {
                let lease = supply.take().await;
                let completed = store.complete(&lease, &operations::done(200)).await;
                completed.expect("it completes");
            }
        })
        .await;
        if round > 0 {
            rounds.push((below, above));
        }
    }
    print(&Line::of(
        "Redis complete",
        WRITE,
        Figure::P50,
        aim,
        &rounds,
    ));

    let again = Arc::new(operations::finished(&*store, 200).await);
    let rounds = in_turns(
        ROUNDS,
        ALONE,
        move || {
            let bare = Arc::clone(&floor);
            async move { bare.write().await }
        },
        move || {
            let (store, again) = (Arc::clone(&store), Arc::clone(&again));
            async move {
                let found = store.acquire(&again).await;
                assert!(matches!(found, Ok(Acquired::Found(_))), "{found:?}");
            }
        },
    )
    .await;
    print(&Line::of("Redis replay", WRITE, Figure::P50, aim, &rounds));
}

const WRITE: &str = "bare EVALSHA: GET, TIME, SET, a reply of a record's size";

pub(crate) async fn store(url: &str) -> RedisStore {
    let config = RedisConfig::from_url(url).expect("a URL");
    RedisStore::alone(
        config,
        operations::keys().value_keys(),
        ALostWriteMayBeRepeated,
    )
    .await
    .expect("a store")
}

/// The least that a transition in Lua can cost through the same client.
struct Floor {
    client: Client,
    /// By its hash.
    script: String,
}

impl Floor {
    async fn new(url: &str) -> Self {
        let config = Config::from_url(url).expect("a URL");
        let client = Builder::from_config(config).build().expect("a client");
        client.init().await.expect("a connection");
        let text = "redis.call('GET', KEYS[1]) redis.call('TIME') redis.call('SET', KEYS[1], ARGV[1]) return {ARGV[2], ARGV[1]}";
        let script: String = client.script_load(text).await.expect("it loads");
        Self { client, script }
    }

    async fn write(&self) {
        let key = operations::fresh().id.to_string();
        let value = vec![b'7'; 250];
        let nonce = &b"0123456789abcdef"[..];
        let _: Vec<fred::types::Value> = self
            .client
            .evalsha(self.script.as_str(), key, vec![value.as_slice(), nonce])
            .await
            .expect("it runs");
    }
}
