//! What an owner says arrives late: it lay in the socket of a server that stood still, and another took over before.

use std::{fs, sync::Arc, time::Duration};

use counterfoil_core::{
    lifecycle::{State, Verdict},
    store::{
        Acquire, Annotated, Annotation, Completed, Completion, Lease, Record, Released, Renewed,
        Resolved, Store, StoreErrorKind,
    },
};
use counterfoil_servers::{Proxy, Redis as Server, RedisSentinel, Weather};
use counterfoil_store_redis::RedisStore;

use crate::{
    common::{client::Redis, config, prefix},
    lost_replies::make_every_call,
    op::{LONG, Op, alone, claimed, done, seen},
    outages::{quick, until_it_answers},
};

/// Two processes on one server.
struct Bench {
    server: Server,
    old: Arc<RedisStore>,
    new: Arc<RedisStore>,
    prefix: String,
}

impl Bench {
    async fn new() -> Self {
        let server = Server::start().expect("a server");
        let prefix = prefix();
        let on = || alone(config(server.url()).with_prefix(&prefix).expect("valid"));
        let (old, new) = (Arc::new(on().await), Arc::new(on().await));
        // The server knows every script, so that what waits in its sockets is the very call.
        make_every_call(&old).await;
        Self {
            server,
            old,
            new,
            prefix,
        }
    }

    /// Lets the server stand still, and go on once the takeover waits in one socket and the call behind it in another.
    async fn behind_a_takeover<T: Send + 'static>(
        &self,
        takeover: Acquire,
        call: impl Future<Output = T> + Send + 'static,
    ) -> (Lease, T) {
        self.freeze().await;
        let new = Arc::clone(&self.new);
        let takeover = tokio::spawn(async move { new.acquire(&takeover).await });
        self.until_unread(1).await;
        let call = tokio::spawn(call);
        self.until_unread(2).await;
        self.server.thaw().expect("thawed");
        let taken = takeover.await.expect("it ends").expect("an answer");
        (claimed(taken), call.await.expect("it ends"))
    }

    /// Lets the server stand still. It will read its sockets in the order in which they had something to read, but for the
    /// one that it read last and has not yet looked at again: so that is the one which the takeover comes by.
    async fn freeze(&self) {
        let nothing = self.new.find(Op::new().id).await.expect("an answer");
        assert_eq!(nothing.record, None);
        self.server.freeze().expect("frozen");
    }

    /// Waits until so many connections have something that the server has not read.
    async fn until_unread(&self, count: usize) {
        until(|| unread(self.server.port()) == count).await;
    }
}

async fn until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting)
        .await
        .expect("in time");
}

/// The connections to this port that have something unread at the server, as the kernel lists them.
fn unread(port: u16) -> usize {
    let all = fs::read_to_string("/proc/net/tcp").expect("linux");
    let local = format!(":{port:04X}");
    let is_unread = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let queue = fields.get(4)?.split_once(':')?.1;
        // Established, and not the port that listens.
        let counts = fields[1].ends_with(&local) && fields[3] == "01";
        (counts && queue != "00000000").then_some(())
    };
    all.lines().filter_map(is_unread).count()
}

/// An operation whose outcome its owner doubts, so that another may take it over.
async fn doubted(store: &RedisStore) -> (Op, Lease, Acquire) {
    let op = Op::new();
    let held = op.claim(store).await;
    let doubt = Completion::Unknown {
        reason: "the connection broke".to_owned(),
    };
    store.complete(&held, &doubt).await.expect("completed");
    let mut wish = op.wish().with_seen(seen(&op.record(store).await));
    wish.claim.takeover_within = Some(LONG);
    (op, held, wish)
}

/// The takeover stands, and nothing of what was said late but the evidence.
fn stands(record: &Record, taken: &Lease, evidence: usize) {
    assert_eq!(record.life.state, State::InFlight);
    assert!(record.life.is_held_by(taken.owner, taken.epoch));
    assert_eq!((record.attempts, record.evidence.len()), (2, evidence));
    assert_eq!((&record.result, &record.result_ref), (&None, &None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_completion_that_arrives_after_a_takeover_is_evidence() {
    let bench = Bench::new().await;
    let (op, held, takeover) = doubted(&bench.old).await;
    let old = Arc::clone(&bench.old);
    let late = async move { old.complete(&held, &done("paid")).await };
    let (taken, late) = bench.behind_a_takeover(takeover, late).await;
    assert_eq!(late.expect("an answer"), Completed::NotOwner);
    stands(&op.record(&bench.new).await, &taken, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_that_arrives_after_a_takeover_frees_nothing() {
    let bench = Bench::new().await;
    let (op, held, takeover) = doubted(&bench.old).await;
    let old = Arc::clone(&bench.old);
    let late = async move { old.release(&held).await };
    let (taken, late) = bench.behind_a_takeover(takeover, late).await;
    assert_eq!(late.expect("an answer"), Released::NotOwner);
    stands(&op.record(&bench.new).await, &taken, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_or_a_note_that_arrives_after_a_takeover_changes_nothing() {
    let bench = Bench::new().await;
    let (op, held, takeover) = doubted(&bench.old).await;
    let old = Arc::clone(&bench.old);
    let late = async move { old.renew(&held, LONG * 2).await };
    let (taken, late) = bench.behind_a_takeover(takeover, late).await;
    assert_eq!(late.expect("an answer"), Renewed::NotOwner);
    stands(&op.record(&bench.new).await, &taken, 0);

    let (op, held, takeover) = doubted(&bench.old).await;
    let old = Arc::clone(&bench.old);
    let mut note = Annotation::default();
    note.result_ref = Some("INV-1".to_owned());
    let late = async move { old.annotate(&held, &note).await };
    let (taken, late) = bench.behind_a_takeover(takeover, late).await;
    assert_eq!(late.expect("an answer"), Annotated::NotOwner);
    stands(&op.record(&bench.new).await, &taken, 0);
}

/// A resolution reads before it writes: here it has read what stood before the takeover.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resolution_that_arrives_after_a_takeover_settles_nothing() {
    let bench = Bench::new().await;
    let (op, _, takeover) = doubted(&bench.old).await;
    let proxy = Proxy::start(bench.server.port()).expect("a free port");
    let by_proxy = config(&format!("redis://127.0.0.1:{}", proxy.port()));
    let by_proxy = by_proxy.with_prefix(&bench.prefix).expect("valid");
    let reconciler = alone(by_proxy).await;
    let redis = Redis::connect(bench.server.url()).await;
    let resolution = op.resolution(&op.record(&bench.old).await, Verdict::NotExecuted);

    // What it reads is on its way back for so long that the server stands still before it goes on.
    let before = redis.calls("evalsha").await;
    proxy.set(Weather::Slow(Duration::from_millis(700)));
    let late = tokio::spawn(async move { reconciler.resolve(&resolution).await });
    let read = async {
        while redis.calls("evalsha").await == before {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), read)
        .await
        .expect("it reads");
    proxy.set(Weather::Clear);
    let (taken, late) = bench.behind_a_takeover(takeover, late).await;
    let late = late.expect("it ends").expect("an answer");
    assert!(matches!(late, Resolved::Refused(Some(_))), "{late:?}");
    stands(&op.record(&bench.new).await, &taken, 0);
}

/// Whoever said it has gone meanwhile, and the server reads it all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_completion_of_a_process_that_is_gone_is_evidence_too() {
    let bench = Bench::new().await;
    let (op, held, takeover) = doubted(&bench.old).await;
    bench.freeze().await;
    let Bench {
        server, old, new, ..
    } = bench;
    let taking = Arc::clone(&new);
    let taking = tokio::spawn(async move { taking.acquire(&takeover).await });
    until(|| unread(server.port()) == 1).await;
    let late = tokio::spawn(async move { old.complete(&held, &done("paid")).await });
    until(|| unread(server.port()) == 2).await;
    // Its task held the last handle of the store: the connection ends with it.
    late.abort();
    assert!(late.await.expect_err("it is gone").is_cancelled());
    server.thaw().expect("thawed");
    let taken = claimed(taking.await.expect("it ends").expect("an answer"));
    let mut record = op.record(&new).await;
    let read = async {
        while record.evidence.is_empty() {
            record = op.record(&new).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), read)
        .await
        .expect("the server reads it");
    stands(&record, &taken, 1);
}

/// The word lies in the socket of a master that stands still, and runs on it when it wakes up; by then another is the
/// master, and an owner that took over is known there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_replaced_master_reads_late_changes_nothing_behind_sentinels() {
    let servers = RedisSentinel::start().expect("servers");
    let config = quick(servers.url());
    let (old, new) = (alone(config.clone()).await, alone(config).await);
    make_every_call(&old).await;
    let (op, held, takeover) = doubted(&old).await;
    let master = servers.master_port().expect("a master");
    let redis = Redis::connect(&format!("redis://127.0.0.1:{master}")).await;
    assert_eq!(redis.ask::<String>("PING", &[]).await, "PONG");
    assert_eq!(redis.ask::<i64>("WAIT", &["1", "4000"]).await, 1);

    assert_eq!(servers.freeze_master().expect("frozen"), master);
    let paid = done("paid");
    let error = old
        .complete(&held, &paid)
        .await
        .expect_err("it stands still");
    assert_eq!(error.kind(), StoreErrorKind::Indeterminate);
    servers
        .wait_for_failover(master, Duration::from_secs(30))
        .expect("another is the master");
    let taken = claimed(until_it_answers(|| new.acquire(&takeover)).await);
    until_it_answers(|| old.find(op.id)).await;
    servers.thaw(master).expect("thawed");

    let late = until_it_answers(|| old.complete(&held, &paid)).await;
    assert_eq!(late, Completed::NotOwner);
    stands(&op.record(&new).await, &taken, 1);
}
