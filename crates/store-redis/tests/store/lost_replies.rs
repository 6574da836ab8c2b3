//! Replies that are lost, come twice, or are another call's.

use std::time::Duration;

use counterfoil_core::{
    Epoch,
    lifecycle::{Ending, State, Verdict},
    store::{
        Acquired, Annotated, Annotation, Cancellation, Cancelled, Completed, Completion,
        FenceRequest, Fenced, Lease, Receipt, Received, Record, Released, Renewed, Resolved, Store,
        StoreError, StoreErrorKind,
    },
};
use counterfoil_servers::{Proxy, Redis as Server, Shared, Weather, shared};
use counterfoil_store_redis::RedisStore;

use crate::{
    common::{client::Redis, config, prefix},
    op::{LONG, Op, alone, claimed, done, seen},
};

struct Bench {
    proxy: Proxy,
    /// Behind the proxy.
    store: RedisStore,
    /// On the same records, past the proxy.
    direct: RedisStore,
}

impl Bench {
    async fn before(port: u16) -> Self {
        let proxy = Proxy::start(port).expect("a free port");
        let prefix = prefix();
        let on = |port| {
            let config = config(&format!("redis://127.0.0.1:{port}"));
            alone(config.with_prefix(&prefix).expect("a valid prefix"))
        };
        let (store, direct) = (on(proxy.port()).await, on(port).await);
        make_every_call(&store).await;
        Self {
            proxy,
            store,
            direct,
        }
    }

    async fn new() -> Self {
        let url = shared(Shared::Redis);
        let port = url.rsplit_once(':').expect("an address with a port").1;
        Self::before(port.parse().expect("a port")).await
    }

    /// Makes a call whose reply is lost: it was applied, and its caller knows only that it may have been. Then the same
    /// call again.
    async fn twice<T, F: Future<Output = Result<T, StoreError>>>(&self, call: impl Fn() -> F) -> T
    where
        T: std::fmt::Debug,
    {
        self.lose(Weather::RepliesLost, &call).await;
        call().await.expect("the wire is clear again")
    }

    /// The same for a call that reads before it writes: its reply is lost once it has been seen to be written.
    async fn twice_once_written<T, F: Future<Output = Result<T, StoreError>>>(
        &self,
        op: &Op,
        written: impl Fn(&Record) -> bool,
        call: impl Fn() -> F,
    ) -> T
    where
        T: std::fmt::Debug,
    {
        self.proxy.set(Weather::Slow(Duration::from_millis(300)));
        let cut = async {
            while !written(&op.record(&self.direct).await) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            self.proxy.cut();
        };
        let (lost, ()) = futures_util::future::join(call(), cut).await;
        let error = lost.expect_err("its reply was lost");
        assert_eq!(error.kind(), StoreErrorKind::Indeterminate, "{error}");
        self.proxy.set(Weather::Clear);
        self.connected().await;
        call().await.expect("the wire is clear again")
    }

    async fn lose<T: std::fmt::Debug, F: Future<Output = Result<T, StoreError>>>(
        &self,
        weather: Weather,
        call: impl Fn() -> F,
    ) {
        self.proxy.set(weather);
        let error = call().await.expect_err("its reply was lost");
        assert_eq!(error.kind(), StoreErrorKind::Indeterminate, "{error}");
        self.proxy.set(Weather::Clear);
        self.connected().await;
    }

    async fn connected(&self) {
        let connected = async {
            while self.store.find(Op::new().id).await.is_err() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let bound = Duration::from_secs(10);
        tokio::time::timeout(bound, connected)
            .await
            .expect("the store connects again");
    }
}

/// So that the server knows the scripts, and each call is one command.
pub(crate) async fn make_every_call(store: &RedisStore) {
    let op = Op::new();
    op.reach_doubt(store).await;
    let resolution = op.resolution(&op.record(store).await, Verdict::Done);
    store.resolve(&resolution).await.expect("an answer");
    let op = Op::new();
    let held = op.reach(store, State::Released).await;
    store.renew(&held, LONG).await.expect("an answer");
    store.receive(&receipt(&held)).await.expect("an answer");
    store.cancel(&cancellation(&op)).await.expect("an answer");
}

fn receipt(held: &Lease) -> Receipt {
    Receipt {
        id: held.id,
        epoch: held.epoch,
        ending: Ending::Done,
        result: None,
        result_ref: None,
    }
}

fn cancellation(op: &Op) -> Cancellation {
    Cancellation {
        id: op.id,
        subject: op.identity.subject.clone(),
        tombstone: None,
        reason: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owners_calls_are_harmless_when_they_are_sent_twice() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let op = Op::new();

    let wish = op.wish();
    let claim = bench.twice(|| store.acquire(&wish)).await;
    let Acquired::Claimed(claim) = claim else {
        panic!("not claimed: {claim:?}");
    };
    assert_eq!((claim.lease.epoch, claim.attempt), (Epoch::FIRST, 1));
    let held = claim.lease;

    assert_eq!(
        bench.twice(|| store.renew(&held, LONG)).await,
        Renewed::Renewed
    );
    let mut note = Annotation::default();
    note.provider_ref = Some("ch_123".to_owned());
    assert_eq!(
        bench.twice(|| store.annotate(&held, &note)).await,
        Annotated::Annotated
    );
    assert_eq!(
        bench.twice(|| store.release(&held)).await,
        Released::Released
    );

    let wish = op.wish().with_seen(seen(&op.record(store).await));
    let held = claimed(bench.twice(|| store.acquire(&wish)).await);
    assert_eq!(op.record(store).await.attempts, 2);
    let said = done("paid");
    assert_eq!(
        bench.twice(|| store.complete(&held, &said)).await,
        Completed::Completed
    );
    let record = op.record(store).await;
    assert_eq!((record.life.state, record.evidence.len()), (State::Done, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_say_is_harmless_when_it_is_sent_twice() {
    let bench = Bench::new().await;
    let store = &bench.store;

    let op = Op::new();
    let held = op.claim(store).await;
    let reason = "the connection broke".to_owned();
    let said = Completion::Unknown { reason };
    assert_eq!(
        bench.twice(|| store.complete(&held, &said)).await,
        Completed::Completed
    );
    let request = FenceRequest {
        id: op.id,
        owner: counterfoil_core::Owner::mint(),
        seen: held.epoch,
        hold: LONG,
    };
    let owner = Some(request.owner);
    let fenced = bench
        .twice_once_written(
            &op,
            |record| record.life.owner == owner,
            || store.fence(&request),
        )
        .await;
    assert!(matches!(fenced, Fenced::Fenced(_)), "{fenced:?}");

    // Whoever resolves looks before sending it again, as the contract has it.
    let mut resolution = op.resolution(&op.record(store).await, Verdict::Done);
    resolution.owner = request.owner;
    let is_done = |record: &Record| record.life.state == State::Done;
    let refused = bench
        .twice_once_written(&op, is_done, || store.resolve(&resolution))
        .await;
    assert!(matches!(refused, Resolved::Refused(Some(_))), "{refused:?}");
    assert_eq!(op.record(store).await.life.state, State::Done);

    let op = Op::new();
    let held = op.claim(store).await;
    let receipt = receipt(&held);
    let received = bench
        .twice_once_written(&op, is_done, || store.receive(&receipt))
        .await;
    assert_eq!(received, Received::Received);

    let op = Op::new();
    let held = op.claim(store).await;
    store.release(&held).await.expect("released");
    let cancellation = cancellation(&op);
    let is_cancelled = |record: &Record| record.life.state == State::Cancelled;
    let cancelled = bench
        .twice_once_written(&op, is_cancelled, || store.cancel(&cancellation))
        .await;
    assert!(
        matches!(cancelled, Cancelled::Cancelled(_)),
        "{cancelled:?}"
    );
}

/// A request that never arrived may have, for all that its caller knows; and asked again it is the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_request_is_asked_again() {
    let bench = Bench::new().await;
    let op = Op::new();
    let wish = op.wish();
    bench
        .lose(Weather::RequestsLost, || bench.store.acquire(&wish))
        .await;
    assert_eq!(
        bench.store.find(op.id).await.expect("an answer").record,
        None
    );
    claimed(bench.store.acquire(&wish).await.expect("an answer"));
}

/// What the caller doesn't send again is not sent again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_again_behind_the_callers_back() {
    let server = Server::start().expect("a server");
    let bench = Bench::before(server.port()).await;
    let redis = Redis::connect(server.url()).await;
    let held = Op::new().claim(&bench.store).await;

    let _: String = redis.ask("CONFIG", &["RESETSTAT"]).await;
    bench.proxy.set(Weather::RepliesLost);
    let lost = bench.store.renew(&held, LONG).await;
    assert!(lost.is_err(), "{lost:?}");
    bench.proxy.set(Weather::Clear);
    bench.connected().await;
    let stats: String = redis.ask("INFO", &["commandstats"]).await;
    // The script writes once each time it runs.
    assert!(stats.contains("cmdstat_set:calls=1,"), "{stats}");
}

/// A connection that is one reply ahead gives each caller another's answer. None is taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_out_of_step_tells_nobody_anothers_record() {
    let bench = Bench::new().await;
    let mut ops = Vec::new();
    for _ in 0..50 {
        let op = Op::new();
        op.reach(&bench.store, State::Done).await;
        ops.push(op);
    }
    let connections = bench.proxy.accepted();
    for stray in ["$2\r\nhi\r\n", ":1\r\n", "+OK\r\n", "$-1\r\n", "*0\r\n"] {
        bench.proxy.inject(stray.as_bytes());
        let mut finds = Vec::new();
        for op in &ops {
            finds.push(bench.store.find(op.id));
        }
        let answers = futures_util::future::join_all(finds).await;
        let mut refused = 0;
        for (op, answer) in ops.iter().zip(answers) {
            match answer {
                Ok(sighting) => assert_eq!(sighting.record.expect("it is done").id, op.id),
                Err(error) => {
                    assert_eq!(error.kind(), StoreErrorKind::Indeterminate, "{error}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 0, "{stray:?} was noticed");
        bench.connected().await;
        for op in &ops {
            assert_eq!(op.record(&bench.store).await.id, op.id);
        }
    }
    assert!(bench.proxy.accepted() >= connections + 5);
}

/// Not even the same operation's: the reply to an earlier call of its own is not the reply to this one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_to_an_earlier_call_is_not_taken() {
    let bench = Bench::new().await;
    let op = Op::new();
    let held = op.claim(&bench.store).await;
    let mut earlier = b"*3\r\n$24\r\n".to_vec();
    earlier.extend_from_slice(op.id.as_bytes());
    earlier.extend_from_slice(&[0; 8]);
    earlier.extend_from_slice(b"\r\n$9\r\ncompleted\r\n:1800000000000\r\n");
    bench.proxy.inject(&earlier);
    let error = bench
        .store
        .complete(&held, &done("paid"))
        .await
        .expect_err("that was another call's");
    assert_eq!(error.kind(), StoreErrorKind::Indeterminate);
    bench.connected().await;
    let completed = bench.store.complete(&held, &done("paid")).await;
    assert_eq!(completed.expect("an answer"), Completed::Completed);
}
