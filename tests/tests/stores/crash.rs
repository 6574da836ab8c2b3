//! The process crashes at each point of a run, over Postgres, and another one takes its place.

use counterfoil_servers::{Shared, shared};
use tests::{Caller, Gateway, Previewed, Scratch, transfer, until};

use crate::{KEYS, confirm, settled};

/// Longer than another process takes to start, so that a retry meets it; and short, so that its end can be waited for.
const LEASE: &str = "5s";

struct Crashed {
    gateway: Gateway,
    previewed: Previewed,
    _ledger: Scratch,
}

impl Crashed {
    /// Lets a gateway crash in the middle of a confirm, and starts the next one over the same store and ledger.
    async fn at(chaos: &str) -> Self {
        let (store, ledger) = (shared(Shared::Postgres), Scratch::new("ledger.jsonl"));
        let arguments = [
            "--store",
            &store,
            "--keys",
            KEYS,
            "--lease",
            LEASE,
            "--ledger",
            ledger.as_str(),
        ];
        let mut gateway = Gateway::start(&arguments);
        let agent = gateway.caller("acme/agent-7");
        let previewed = agent.preview(&transfer("120.50")).await;
        let cut = previewed.try_confirm_chaos(chaos).await;
        assert!(cut.is_err(), "{chaos}: {cut:#?}");
        assert_eq!(gateway.ended().await, None, "{chaos}: a signal ended it");
        drop(gateway);
        let gateway = Gateway::start(&arguments);
        Self {
            gateway,
            previewed,
            _ledger: ledger,
        }
    }

    fn agent(&self) -> Caller {
        self.gateway.caller("acme/agent-7")
    }

    async fn effects(&self) -> usize {
        self.agent().effects(Some(&self.previewed.id)).await.len()
    }

    /// It reads as running until its lease is over, and then as unknown, for good.
    async fn assert_becomes_unknown(&self, effects: usize) {
        let agent = self.agent();
        let first = confirm(&agent, &self.previewed).await;
        first.assert_answer(202, "in_progress", "pending");
        until("the end of the lease", || async {
            let reply = confirm(&agent, &self.previewed).await;
            match reply.word() {
                "in_progress" => None,
                _ => Some(reply),
            }
        })
        .await
        .assert_answer(202, "outcome_unknown", "unknown");
        for _ in 0..3 {
            let retry = confirm(&agent, &self.previewed).await;
            retry.assert_answer(202, "outcome_unknown", "unknown");
        }
        assert_eq!(self.effects().await, effects);
    }
}

#[tokio::test]
async fn a_crash_before_the_claim_leaves_nothing_and_a_retry_runs_it_once() {
    let crashed = Crashed::at("exit-before-claim").await;
    let agent = crashed.agent();
    assert_eq!(crashed.effects().await, 0);
    let first = settled(&agent, &crashed.previewed).await;
    let second = settled(&agent, &crashed.previewed).await;
    assert_eq!((first.ran, second.ran), (true, false));
    assert_eq!(first.result, second.result);
    assert_eq!(crashed.effects().await, 1);
}

#[tokio::test]
async fn a_crash_after_the_claim_is_an_unknown_outcome_once_its_lease_is_over() {
    let crashed = Crashed::at("exit-after-claim").await;
    crashed.assert_becomes_unknown(0).await;
}

#[tokio::test]
async fn a_crash_after_the_effect_is_an_unknown_outcome_once_its_lease_is_over() {
    let crashed = Crashed::at("exit-after-effect").await;
    crashed.assert_becomes_unknown(1).await;
}

#[tokio::test]
async fn a_crash_after_the_completion_loses_the_answer_and_no_result() {
    let crashed = Crashed::at("exit-after-complete").await;
    let agent = crashed.agent();
    let first = settled(&agent, &crashed.previewed).await;
    let second = settled(&agent, &crashed.previewed).await;
    assert_eq!((first.ran, second.ran), (false, false));
    assert_eq!(first.result, second.result);
    assert_eq!(crashed.effects().await, 1);
}
