//! A way to the server that fails: whatever the store said of a claim or a completion is true, every call ends, and the
//! store works again as soon as the way does.

mod common;

use std::{sync::Arc, time::Duration};

use counterfoil_servers::{Postgres, Proxy, Weather};
use counterfoil_store_postgres::PostgresStore;
use counterfoil_testkit::{Tally, Testimony};
use tokio::time::Instant;

const CALL: Duration = Duration::from_secs(1);
/// For waiting, connecting and the reply, on a machine with much else to do.
const LIMIT: Duration = Duration::from_secs(3 + 5);
const BOUND: Duration = Duration::from_secs(20);
const ROUNDS: usize = 5;

struct Wired {
    server: Arc<Postgres>,
    proxy: Proxy,
    store: PostgresStore,
    testimony: Arc<Testimony>,
}

impl Wired {
    async fn new(connections: usize) -> Self {
        let server = Arc::new(Postgres::start().expect("it starts"));
        let proxy = Proxy::start(server.port()).expect("it starts");
        let port = |url: &str| url.replace(&server.port().to_string(), &proxy.port().to_string());
        let builder = common::builder(&port(server.url()))
            .with_schema(common::fresh_schema())
            .with_max_connections(connections)
            .with_wait(CALL)
            .with_connect(CALL)
            .with_call(CALL);
        builder.migrate().await.expect("it can be migrated");
        let store = builder.connect().await.expect("it is fit for it");
        let testimony = Arc::new(Testimony::new(LIMIT));
        Self {
            server,
            proxy,
            store,
            testimony,
        }
    }

    async fn claim(&self) -> Option<usize> {
        self.testimony.claim(&self.store).await
    }

    async fn complete(&self, number: usize) -> bool {
        self.testimony.complete(&self.store, number).await
    }

    /// Waits until a call goes well, so that its connection stands and has seen its statements.
    async fn recover(&self) {
        let end = Instant::now() + BOUND;
        while !self.testimony.claim_and_complete(&self.store).await {
            assert!(Instant::now() < end, "it works again in clear weather");
        }
    }

    /// A claim in this weather, and the completion of one that was claimed before it.
    async fn rounds(&self, weather: Weather) -> Tally {
        for _ in 0..ROUNDS {
            self.recover().await;
            self.proxy.set(weather);
            assert_eq!(self.claim().await, None);
            self.proxy.set(Weather::Clear);
            self.recover().await;
            let claimed = self.claim().await.expect("in clear weather");
            self.proxy.set(weather);
            assert!(!self.complete(claimed).await);
            self.proxy.set(Weather::Clear);
        }
        self.recover().await;
        self.testimony.hold(&self.store).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reply_that_is_lost_is_in_doubt_and_was_applied() {
    let wired = Wired::new(1).await;
    let tally = wired.rounds(Weather::RepliesLost).await;
    assert_eq!(tally.claims.lost_and_applied, ROUNDS, "{tally:?}");
    assert_eq!(tally.completions.lost_and_applied, ROUNDS, "{tally:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_that_is_lost_is_never_told_as_done_and_was_not_applied() {
    let wired = Wired::new(1).await;
    let tally = wired.rounds(Weather::RequestsLost).await;
    for words in [tally.claims, tally.completions] {
        assert_eq!(words.lost_and_applied, 0, "{tally:?}");
        assert_eq!(
            words.lost_and_not_applied + words.not_applied,
            ROUNDS,
            "{tally:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reply_that_never_comes_is_in_doubt_within_the_time_of_a_call() {
    let wired = Wired::new(1).await;
    wired.recover().await;
    wired.proxy.set(Weather::RepliesSwallowed);
    let began = Instant::now();
    assert_eq!(wired.claim().await, None);
    assert!(began.elapsed() >= CALL, "the reply was waited for");
    wired.proxy.set(Weather::Clear);
    wired.recover().await;
    let tally = wired.testimony.hold(&wired.store).await;
    assert_eq!(tally.claims.lost_and_applied, 1, "{tally:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_frozen_way_or_server_keeps_no_caller_and_the_store_works_again_after_it() {
    let wired = Arc::new(Wired::new(4).await);
    for way in [true, false] {
        // All connections stand and are asked, and more callers wait than there are connections.
        many(&wired, 32).await;
        wired.recover().await;
        if way {
            wired.proxy.set(Weather::Frozen);
        } else {
            wired.server.freeze().expect("it runs");
        }
        many(&wired, 32).await;
        if way {
            wired.proxy.set(Weather::Clear);
        } else {
            wired.server.thaw().expect("it is frozen");
        }
        wired.recover().await;
        let well = many(&wired, 32).await;
        assert_eq!(well, 32, "the pool has its connections back");
    }
    let tally = wired.testimony.hold(&wired.store).await;
    assert!(tally.claims.indeterminate() >= 2, "{tally:?}");
    assert!(tally.claims.not_applied >= 2, "{tally:?}");
}

/// So many claims and completions at once; how many went well.
async fn many(wired: &Arc<Wired>, callers: usize) -> usize {
    let calls: Vec<_> = (0..callers)
        .map(|_| {
            let wired = Arc::clone(wired);
            tokio::spawn(async move { wired.testimony.claim_and_complete(&wired.store).await })
        })
        .collect();
    let mut well = 0;
    for call in calls {
        well += usize::from(call.await.expect("no caller was told anything untrue"));
    }
    well
}
