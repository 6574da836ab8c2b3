//! The process crashes while it files a ticket, over Postgres. The client has nothing but its key, and asks another
//! process.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
};

use counterfoil_servers::{Shared, shared};
use tests::{Call, Caller, Gateway, Reply, Scratch, until};

const TICKET: &str = r#"{"project":"printers","title":"Printer on fire"}"#;

struct Crashed {
    program: Caller,
    key: String,
    _gateway: Gateway,
    _ledger: Scratch,
}

impl Crashed {
    /// Lets a gateway crash in the middle of a request, and starts the next one over the same store and ledger. No
    /// signing key is shared: a key needs none.
    async fn at(chaos: &str) -> Self {
        let (store, ledger) = (shared(Shared::Postgres), Scratch::new("ledger.jsonl"));
        let arguments = [
            "--store",
            &store,
            "--lease",
            "5s",
            "--ledger",
            ledger.as_str(),
        ];
        let part = || RandomState::new().build_hasher().finish();
        let key = format!("{:016x}{:016x}", part(), part());
        let mut gateway = Gateway::start(&arguments);
        let call = file(&key).header("x-chaos", chaos);
        let cut = gateway.caller("acme/billing").try_send(call).await;
        assert!(cut.is_err(), "{chaos}: {cut:#?}");
        assert_eq!(gateway.ended().await, None, "{chaos}: a signal ended it");
        drop(gateway);
        let gateway = Gateway::start(&arguments);
        Self {
            program: gateway.caller("acme/billing"),
            key,
            _gateway: gateway,
            _ledger: ledger,
        }
    }

    async fn send(&self) -> Reply {
        self.program.send(file(&self.key)).await
    }

    async fn status(&self) -> Reply {
        let call = Call::get("/v1/operation").header("idempotency-key", &self.key);
        self.program.send(call).await
    }

    async fn effects(&self) -> usize {
        let id = self.status().await.text("operation_id");
        self.program.effects(Some(&id)).await.len()
    }

    /// It reads as running until its lease is over, and then as unknown, for good.
    async fn assert_becomes_unknown(&self, effects: usize) {
        self.send().await.assert_told(409, "in_progress");
        until("the end of the lease", || async {
            let reply = self.send().await;
            (reply.word() != "in_progress").then_some(reply)
        })
        .await
        .assert_told(409, "outcome_unknown");
        self.send().await.assert_told(409, "outcome_unknown");
        self.status()
            .await
            .assert_answer(200, "outcome_unknown", "unknown");
        assert_eq!(self.effects().await, effects);
    }
}

fn file(key: &str) -> Call {
    Call::post("/v1/tickets", TICKET).header("idempotency-key", key)
}

#[tokio::test]
async fn a_crash_before_the_claim_leaves_nothing_and_a_retry_runs_it_once() {
    let crashed = Crashed::at("exit-before-claim").await;
    crashed
        .status()
        .await
        .assert_answer(200, "not_started", "unknown");
    crashed.send().await.assert_told(201, "completed");
    crashed.send().await.assert_told(201, "already_completed");
    assert_eq!(crashed.effects().await, 1);
}

#[tokio::test]
async fn a_crash_after_the_claim_is_an_unknown_outcome_once_its_lease_is_over() {
    Crashed::at("exit-after-claim")
        .await
        .assert_becomes_unknown(0)
        .await;
}

#[tokio::test]
async fn a_crash_after_the_effect_is_an_unknown_outcome_once_its_lease_is_over() {
    Crashed::at("exit-after-effect")
        .await
        .assert_becomes_unknown(1)
        .await;
}

#[tokio::test]
async fn a_crash_after_the_completion_loses_the_answer_and_the_key_has_it() {
    let crashed = Crashed::at("exit-after-complete").await;
    let replay = crashed.send().await;
    replay.assert_told(201, "already_completed");
    assert_eq!(replay.header("idempotent-replayed"), "true");
    let id = replay.text("ticket_id");
    assert_eq!(replay.header("location"), format!("/v1/tickets/{id}"));
    // The ticket itself is in the ledger that the next process read.
    let shown = crashed
        .program
        .send(Call::get(replay.header("location")))
        .await;
    assert_eq!((shown.status, &shown.body), (200, &replay.body));
    assert_eq!(crashed.effects().await, 1);
}
