//! Listing and purging where there are very many records.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use counterfoil_core::{
    OperationId, Subject,
    lifecycle::State,
    store::{Completion, Listing, Store},
};
use counterfoil_servers::Redis as Server;
use counterfoil_store_redis::RedisStore;

use crate::{
    common::{
        client::{Redis, key},
        config, keys, prefix,
    },
    op::{LONG, Op, RETENTION, claimed, done},
};

const MANY: u64 = 120_000;

/// Copies what is under the first key to keys that are made of a number, as records that nobody asks for.
const COPY: &str = "local value = redis.call('GET', ARGV[2])
for number = ARGV[3], ARGV[4] do
  redis.call('SET', ARGV[1] .. '{' .. string.format('%032x', number) .. '}', value)
end
return 1";

struct Crowd {
    _server: Server,
    redis: Redis,
    store: RedisStore,
    ahead: Arc<AtomicU64>,
}

impl Crowd {
    /// Many records that have ended, on a server of their own.
    async fn new() -> Self {
        let server = Server::start().expect("a server");
        let prefix = prefix();
        let config = config(server.url());
        let config = config.with_prefix(&prefix).expect("a valid prefix");
        let ahead = Arc::new(AtomicU64::new(0));
        let store = RedisStore::with_clock_ahead(config, keys(), Arc::clone(&ahead))
            .await
            .expect("the server is there");
        let redis = Redis::connect(server.url()).await;
        let op = Op::new();
        op.reach(&store, State::Done).await;
        let one = key(&prefix, op.id);
        for from in (1..=MANY).step_by(1_000) {
            let (from, to) = (from.to_string(), (from + 999).to_string());
            let words = [COPY, "0", &prefix, &one, &from, &to];
            assert_eq!(redis.ask::<i64>("EVAL", &words).await, 1);
        }
        assert_eq!(redis.ask::<u64>("DBSIZE", &[]).await, MANY + 1);
        redis.ask::<String>("CONFIG", &["RESETSTAT"]).await;
        Self {
            _server: server,
            redis,
            store,
            ahead,
        }
    }

    async fn list(&self, listing: &Listing) -> BTreeSet<OperationId> {
        let page = self.store.list(listing).await.expect("in time");
        assert!(!page.more);
        page.records.iter().map(|record| record.id).collect()
    }

    /// How often scripts ran since the last look. They kept the server for no more than a moment: half of them, since the
    /// machine that runs the tests has much else to do.
    async fn scripts(&self) -> u64 {
        let calls = self.redis.calls("evalsha").await;
        let time = self.redis.median_time("evalsha").await;
        assert!(time < 2_000.0, "{time} µs");
        self.redis.ask::<String>("CONFIG", &["RESETSTAT"]).await;
        calls
    }
}

/// Far fewer scripts than there are records, since a walk of one by one would take more than its time.
const FEW: u64 = MANY / 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_few_that_are_unknown_are_found_among_very_many() {
    let crowd = Crowd::new().await;
    let mut unknown = BTreeSet::new();
    let doubt = Completion::Unknown {
        reason: "the connection broke".to_owned(),
    };
    for _ in 0..5 {
        let op = Op::new();
        let held = op.claim(&crowd.store).await;
        crowd
            .store
            .complete(&held, &doubt)
            .await
            .expect("completed");
        unknown.insert(op.id);
    }
    let mut theirs = Op::new();
    theirs.identity.subject = Subject::new("umbrella", "agent-7").expect("a short subject");
    let mut wish = theirs.wish();
    wish.claim.lease = Duration::from_secs(30);
    claimed(crowd.store.acquire(&wish).await.expect("an answer"));
    crowd.scripts().await;

    let listing = Listing::new(State::Unknown);
    assert_eq!(crowd.list(&listing).await, unknown);
    assert!(crowd.scripts().await < FEW);

    // One whose lease has lapsed reads as unknown, although nothing was written.
    crowd.ahead.store(60_000, Ordering::SeqCst);
    let all: BTreeSet<_> = unknown.iter().copied().chain([theirs.id]).collect();
    assert_eq!(crowd.list(&listing).await, all);
    let ours = listing.clone().with_tenant("acme");
    assert_eq!(crowd.list(&ours).await, unknown);
    let others = listing.clone().with_tenant("umbrella");
    assert_eq!(crowd.list(&others).await, [theirs.id].into());
    let first = listing.clone().with_limit(2);
    let page = crowd.store.list(&first).await.expect("in time");
    assert!(page.more && page.records.len() == 2);
    assert!(crowd.scripts().await < 4 * FEW);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_few_that_are_over_are_dropped_among_very_many() {
    let crowd = Crowd::new().await;
    for _ in 0..5 {
        let op = Op::new();
        let mut wish = op.wish();
        (wish.claim.exp, wish.retention) = (None, Duration::ZERO);
        let held = claimed(crowd.store.acquire(&wish).await.expect("an answer"));
        let paid = done("paid");
        crowd.store.complete(&held, &paid).await.expect("completed");
    }
    crowd.scripts().await;
    assert_eq!(crowd.store.purge(10).await.expect("in time"), 0);
    crowd.ahead.store(600_000, Ordering::SeqCst);
    assert_eq!(crowd.store.purge(3).await.expect("in time"), 3);
    assert_eq!(crowd.store.purge(10).await.expect("in time"), 2);
    assert_eq!(crowd.store.purge(10).await.expect("in time"), 0);
    assert!(crowd.scripts().await < 4 * FEW);
    // And all that are over, as many as are asked for.
    let hours = (LONG + RETENTION) * 2;
    crowd
        .ahead
        .store(hours.as_millis() as u64, Ordering::SeqCst);
    assert_eq!(crowd.store.purge(2_000).await.expect("in time"), 2_000);
}
