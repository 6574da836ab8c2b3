//! Redis: a claim, a completion and a replay, each beside the least that such a call can cost through the same client.
//!
//! That is a bare script which is sent as many bytes in as many arguments, reads and writes records as large, and answers
//! with as much, and whose Lua does nothing but that. So the ratio is what judging costs, and what sealing costs, and not
//! what the bytes cost on their way.

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
    types::Value,
};

use crate::{
    measure::{Aim, Figure, Line, Load, in_turns, sample},
    operations::{self, Supply},
    print,
};

/// Short rounds and many of them: what else the machine does then falls into a few, and not into the median.
const ROUNDS: usize = 25;
const ALONE: Load = Load {
    callers: 1,
    calls: 600,
};

/// Bytes of a result.
const RESULT: usize = 200;
/// Bytes of a record in Redis, before and after it has ended with such a result. Checked against the store's own.
const OPEN: usize = 202;
const ENDED: usize = OPEN + WORD;
/// Bytes of a claim's arguments: an echo, and a head, slots and a lease; of a completion's: owner and epoch, a state, a word.
const CLAIM: [usize; 4] = [24, 28, 148, 5];
const COMPLETION: [usize; 4] = [24, 24, 1, WORD];
/// Tag, key's id, state, length and flags, and the result with its format.
const WORD: usize = 22 + 6 + 6 + RESULT;

pub(crate) async fn measure() {
    let server = Redis::start().expect("a server");
    let store = Arc::new(store(server.url()).await);
    let floor = Arc::new(Floor::new(server.url()).await);
    floor.is_of_a_size_with(&store).await;

    let (bare, claiming) = (Arc::clone(&floor), Arc::clone(&store));
    let rounds = in_turns(
        ROUNDS,
        ALONE,
        move || {
            let bare = Arc::clone(&bare);
            async move {
                bare.claim().await;
            }
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
        let (keys, leases) = (Supply::new(), Supply::new());
        for _ in 0..ALONE.calls {
            keys.put([floor.claim().await]).await;
            leases.put([operations::claim(&*store).await.1]).await;
        }
        let bare = Arc::clone(&floor);
        let below = sample(ALONE, move || {
            let (bare, keys) = (Arc::clone(&bare), keys.clone());
            async move { bare.complete(keys.take().await).await }
        })
        .await;
        let completing = Arc::clone(&store);
        let above = sample(ALONE, move || {
            let (store, leases) = (Arc::clone(&completing), leases.clone());
            async move {
                let lease = leases.take().await;
                let completed = store.complete(&lease, &operations::done(RESULT)).await;
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
        Aim::Nothing,
        &rounds,
    ));

    let again = Arc::new(operations::finished(&*store, RESULT).await);
    let key = floor.claim().await;
    floor.complete(key.clone()).await;
    let rounds = in_turns(
        ROUNDS,
        ALONE,
        move || {
            let (bare, key) = (Arc::clone(&floor), key.clone());
            async move { bare.replay(key).await }
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
    print(&Line::of(
        "Redis replay",
        READ,
        Figure::P50,
        Aim::Nothing,
        &rounds,
    ));
}

const WRITE: &str = "bare EVALSHA of as many bytes: GET, TIME, SET";
const READ: &str = "bare EVALSHA of as many bytes: GET, TIME";

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
    /// By their hashes.
    claim: String,
    complete: String,
    replay: String,
}

impl Floor {
    async fn new(url: &str) -> Self {
        let config = Config::from_url(url).expect("a URL");
        let client = Builder::from_config(config).build().expect("a client");
        client.init().await.expect("a connection");
        // What is written is a constant of the script: even to put it together would be work.
        let (open, ended) = ("7".repeat(OPEN), "7".repeat(ENDED));
        let read = "local value = redis.call('GET', KEYS[1]) redis.call('TIME') ";
        let load = async |rest: String| {
            let script = client.script_load(format!("{read}{rest}")).await;
            script.expect("it loads")
        };
        Self {
            claim: load(format!(
                "redis.call('SET', KEYS[1], '{open}') return {{ARGV[1], 'claimed', 1}}"
            ))
            .await,
            // What has ended expires, so that it must be told when.
            complete: load(format!(
                "redis.call('SET', KEYS[1], '{ended}', 'PXAT', '9999999999999') return {{ARGV[1], 'completed', 1}}"
            ))
            .await,
            replay: load("return {ARGV[1], 'found', 1, value}".to_owned()).await,
            client,
        }
    }

    /// Under a key that it gives.
    async fn claim(&self) -> String {
        let key = key(&operations::fresh());
        let said = self.call(&self.claim, key.clone(), CLAIM).await;
        assert_eq!(said, 3);
        key
    }

    async fn complete(&self, key: String) {
        let said = self.call(&self.complete, key, COMPLETION).await;
        assert_eq!(said, 3);
    }

    async fn replay(&self, key: String) {
        let said = self.call(&self.replay, key, CLAIM).await;
        assert_eq!(said, 4);
    }

    /// How many elements the answer had.
    async fn call<const N: usize>(&self, script: &str, key: String, args: [usize; N]) -> usize {
        let args: Vec<&[u8]> = args.iter().map(|len| &BYTES[..*len]).collect();
        let said: Result<Vec<Value>, _> = self.client.evalsha(script, key, args).await;
        said.expect("it runs").len()
    }

    /// Whether what it writes is as large as what the store writes.
    async fn is_of_a_size_with(&self, store: &RedisStore) {
        let (request, lease) = operations::claim(store).await;
        let under = key(&request);
        let written = async || {
            let script = "return #redis.call('GET', KEYS[1])";
            let len: Result<usize, _> = self
                .client
                .eval(script, under.clone(), Vec::<&[u8]>::new())
                .await;
            len.expect("it runs")
        };
        assert_eq!(written().await, OPEN);
        let completed = store.complete(&lease, &operations::done(RESULT)).await;
        completed.expect("it completes");
        assert_eq!(written().await, ENDED);
    }
}

static BYTES: [u8; ENDED] = [b'7'; ENDED];

/// Where the store has it.
fn key(request: &counterfoil::store::Acquire) -> String {
    format!("{}{{{}}}", RedisConfig::DEFAULT_PREFIX, request.id.simple())
}
