//! A record that moves between the reading and the writing of one call.

use std::time::Duration;

use counterfoil_core::{
    Owner,
    lifecycle::{Ending, State},
    store::{Cancellation, Cancelled, Completion, FenceRequest, Fenced, Receipt, Received, Store},
};
use counterfoil_servers::{Proxy, Shared, Weather, shared};
use counterfoil_store_redis::RedisStore;

use crate::{
    common::{config, prefix},
    op::{LONG, Op, alone, claimed, done, seen, stored},
};

struct Bench {
    proxy: Proxy,
    /// Behind the proxy.
    slow: RedisStore,
    /// On the same records, past the proxy.
    quick: RedisStore,
}

async fn bench() -> Bench {
    let url = shared(Shared::Redis);
    let port = url.rsplit_once(':').expect("an address with a port").1;
    let proxy = Proxy::start(port.parse().expect("a port")).expect("a free port");
    let prefix = prefix();
    let on = |url: String| alone(config(&url).with_prefix(&prefix).expect("a valid prefix"));
    let slow = on(format!("redis://127.0.0.1:{}", proxy.port())).await;
    Bench {
        slow,
        quick: on(url).await,
        proxy,
    }
}

impl Bench {
    /// Makes a call, and the change while what the call has read is on its way back to it.
    async fn while_it_reads<T>(&self, call: impl Future<Output = T>, change: impl Future) -> T {
        self.proxy.set(Weather::Slow(Duration::from_millis(200)));
        let late = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            change.await;
        };
        let (answer, ()) = futures_util::future::join(call, late).await;
        self.proxy.set(Weather::Clear);
        answer
    }
}

fn doubt(reason: &str) -> Completion {
    Completion::Unknown {
        reason: reason.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fence_keeps_what_was_said_last() {
    let bench = bench().await;
    let op = Op::new();
    let held = op.claim(&bench.quick).await;
    let (first, last) = (doubt("the connection broke"), doubt("no answer came"));
    bench
        .quick
        .complete(&held, &first)
        .await
        .expect("completed");
    let request = FenceRequest {
        id: op.id,
        owner: Owner::mint(),
        seen: held.epoch,
        hold: LONG,
    };
    let fence = bench.slow.fence(&request);
    let answer = bench
        .while_it_reads(fence, bench.quick.complete(&held, &last))
        .await;
    let Ok(Fenced::Fenced(record)) = answer else {
        panic!("not fenced: {answer:?}");
    };
    assert_eq!(record.reason.as_deref(), Some("no answer came"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_keeps_the_result_of_an_acceptance_that_came_meanwhile() {
    let bench = bench().await;
    let op = Op::new();
    let held = op.claim(&bench.quick).await;
    let accepted = Completion::Accepted {
        deadline: None,
        result: Some(stored("handed on")),
        result_ref: None,
    };
    let receipt = Receipt {
        id: op.id,
        epoch: held.epoch,
        ending: Ending::Done,
        result: None,
        result_ref: None,
    };
    let answer = bench
        .while_it_reads(
            bench.slow.receive(&receipt),
            bench.quick.complete(&held, &accepted),
        )
        .await;
    assert_eq!(answer.expect("an answer"), Received::Received);
    let record = op.record(&bench.quick).await;
    assert_eq!(record.life.state, State::Done);
    assert_eq!(record.result, Some(stored("handed on")));
}

/// Whoever was faster decides, and what stands can be read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancellation_comes_too_late_for_a_claim_that_came_meanwhile() {
    let bench = bench().await;
    let op = Op::new();
    let held = op.claim(&bench.quick).await;
    bench.quick.release(&held).await.expect("released");
    let wish = op.wish().with_seen(seen(&op.record(&bench.quick).await));
    let cancellation = Cancellation {
        id: op.id,
        subject: op.identity.subject.clone(),
        tombstone: None,
        reason: None,
    };
    let claim_and_release = async {
        let held = claimed(bench.quick.acquire(&wish).await.expect("an answer"));
        bench.quick.release(&held).await.expect("released");
    };
    let answer = bench
        .while_it_reads(bench.slow.cancel(&cancellation), claim_and_release)
        .await;
    assert!(matches!(answer, Ok(Cancelled::Cancelled(_))), "{answer:?}");
    let record = op.record(&bench.quick).await;
    assert_eq!((record.life.state, record.attempts), (State::Cancelled, 2));

    let op = Op::new();
    let held = op.claim(&bench.quick).await;
    bench.quick.release(&held).await.expect("released");
    let wish = op.wish().with_seen(seen(&op.record(&bench.quick).await));
    let cancellation = Cancellation {
        id: op.id,
        ..cancellation
    };
    let claim_and_complete = async {
        let held = claimed(bench.quick.acquire(&wish).await.expect("an answer"));
        let paid = done("paid");
        bench.quick.complete(&held, &paid).await.expect("completed");
    };
    let answer = bench
        .while_it_reads(bench.slow.cancel(&cancellation), claim_and_complete)
        .await;
    assert!(matches!(answer, Ok(Cancelled::TooLate(_))), "{answer:?}");
}
