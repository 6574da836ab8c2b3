//! A server, or a way to it, that fails: whatever the store said of a claim or a completion is true, every call ends, and
//! the store works again afterwards.
//!
//! A server without persistence is empty after a kill: what it had acknowledged is gone, and an id reads as absent. That is
//! the risk of Redis alone, and the only thing that these tests allow it.

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use counterfoil_servers::{Proxy, Redis, Weather};
use counterfoil_store_redis::{ALostWriteMayBeRepeated, RedisStore};
use counterfoil_testkit::{Tally, Testimony};
use tokio::time::{Instant, timeout};

const CALL: Duration = Duration::from_millis(500);
/// How much later than its deadline a call may end on a machine with much else to do.
const MARGIN: Duration = Duration::from_secs(4);
const BOUND: Duration = Duration::from_secs(20);
const CALLERS: usize = 64;
const ROUNDS: usize = 5;

struct Wired {
    server: Arc<Redis>,
    proxy: Proxy,
    store: RedisStore,
    testimony: Testimony,
    ended: AtomicUsize,
}

impl Wired {
    async fn new() -> Arc<Self> {
        let server = Arc::new(Redis::start().expect("it starts"));
        let proxy = Proxy::start(server.port()).expect("it starts");
        let config = common::config(&format!("redis://127.0.0.1:{}", proxy.port()))
            .with_command_timeout(CALL)
            .expect("a valid configuration");
        let store = RedisStore::alone(config, common::keys(), ALostWriteMayBeRepeated)
            .await
            .expect("the server is there");
        Arc::new(Self {
            server,
            proxy,
            store,
            testimony: Testimony::new(CALL + MARGIN),
            ended: AtomicUsize::new(0),
        })
    }

    async fn claim(&self) -> Option<usize> {
        self.testimony.claim(&self.store).await
    }

    async fn complete(&self, number: usize) -> bool {
        self.testimony.complete(&self.store, number).await
    }

    /// Waits until a call goes well, so that there is a connection which knows the scripts.
    async fn recover(&self) {
        let end = Instant::now() + BOUND;
        while !self.testimony.claim_and_complete(&self.store).await {
            assert!(Instant::now() < end, "it works again");
        }
    }

    /// Lets callers work until one call of each has failed, or they are told to stop.
    fn load(self: &Arc<Self>, stop: &Arc<AtomicBool>) -> Vec<tokio::task::JoinHandle<()>> {
        let work = |_| {
            let (wired, stop) = (Arc::clone(self), Arc::clone(stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst)
                    && wired.testimony.claim_and_complete(&wired.store).await
                {
                    wired.ended.fetch_add(1, Ordering::SeqCst);
                }
            })
        };
        (0..CALLERS).map(work).collect()
    }

    /// Does harm while callers work, and waits until each of them was told.
    async fn under_load(self: &Arc<Self>, harm: impl FnOnce()) {
        let stop = Arc::new(AtomicBool::new(false));
        let goal = self.ended.load(Ordering::SeqCst) + CALLERS;
        let callers = self.load(&stop);
        let working = async {
            while self.ended.load(Ordering::SeqCst) < goal {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(BOUND, working).await.expect("the callers work");
        harm();
        // Where the connection is made again at once, some callers see no failure.
        tokio::time::sleep(CALL).await;
        stop.store(true, Ordering::SeqCst);
        for caller in callers {
            caller.await.expect("no caller was told anything untrue");
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
    let tally = Wired::new().await.rounds(Weather::RepliesLost).await;
    assert_eq!(tally.claims.lost_and_applied, ROUNDS, "{tally:?}");
    assert_eq!(tally.completions.lost_and_applied, ROUNDS, "{tally:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_that_is_lost_is_never_told_as_done_and_was_not_applied() {
    let tally = Wired::new().await.rounds(Weather::RequestsLost).await;
    for words in [tally.claims, tally.completions] {
        let lost = words.lost_and_not_applied + words.not_applied;
        assert_eq!((words.lost_and_applied, lost), (0, ROUNDS), "{tally:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_connection_that_is_cut_under_load_makes_no_word_untrue() {
    let wired = Wired::new().await;
    for _ in 0..ROUNDS {
        wired.under_load(|| wired.proxy.cut()).await;
        wired.recover().await;
    }
    let tally = wired.testimony.hold(&wired.store).await;
    assert_eq!(tally.gone, 0, "{tally:?}");
    let (claims, completions) = (tally.claims, tally.completions);
    assert!(
        claims.indeterminate() + completions.indeterminate() >= ROUNDS,
        "{tally:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_frozen_server_keeps_no_caller_and_answers_again_when_it_thaws() {
    let wired = Wired::new().await;
    for _ in 0..2 {
        wired
            .under_load(|| wired.server.freeze().expect("it runs"))
            .await;
        // Whoever comes now is told in time, too.
        assert_eq!(wired.claim().await, None);
        wired.server.thaw().expect("it is frozen");
        wired.recover().await;
    }
    let tally = wired.testimony.hold(&wired.store).await;
    assert_eq!(tally.gone, 0, "{tally:?}");
    let (claims, completions) = (tally.claims, tally.completions);
    assert!(
        claims.indeterminate() + completions.indeterminate() >= CALLERS,
        "{tally:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_server_forgets_and_the_store_says_nothing_else_that_is_untrue() {
    let wired = Wired::new().await;
    for _ in 0..ROUNDS {
        wired
            .under_load(|| wired.server.kill().expect("it runs"))
            .await;
        let down = wired.claim().await;
        assert_eq!(down, None, "nobody is there to acknowledge it");
        wired.testimony.all_may_be_gone();
        wired.server.restart().expect("it starts again");
        wired.recover().await;
    }
    let tally = wired.testimony.hold(&wired.store).await;
    assert!(tally.gone >= CALLERS, "{tally:?}");
    assert!(tally.claims.not_applied >= 2, "{tally:?}");
    assert!(
        tally.claims.indeterminate() + tally.completions.indeterminate() >= ROUNDS,
        "{tally:?}"
    );
}
