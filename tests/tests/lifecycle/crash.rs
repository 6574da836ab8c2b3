//! What a crash or a restart leaves behind.

use serde_json::Value;
use tests::{Call, Gateway, Scratch, transfer};

use crate::{KEYS, operations_in};

/// What forgets on restart, whatever the other tests of the run keep operations in.
const MEMORY: &[&str] = &["--store", "memory:"];

#[tokio::test]
async fn a_crash_over_memory_is_an_unknown_outcome_that_never_runs_again() {
    for (chaos, effects) in [
        ("exit-before-claim", 0),
        ("exit-after-claim", 0),
        ("exit-after-effect", 1),
        ("exit-after-complete", 1),
        ("delay=10;exit-after-effect", 1),
    ] {
        let ledger = Scratch::new("ledger.jsonl");
        let arguments = [MEMORY, &["--ledger", ledger.as_str(), "--keys", KEYS]].concat();
        let mut gateway = Gateway::start(&arguments);
        let previewed = gateway
            .caller("acme/agent-7")
            .preview(&transfer("120.50"))
            .await;
        let cut = previewed.try_confirm_chaos(chaos).await;
        assert!(cut.is_err(), "{chaos}: {cut:#?}");
        assert_eq!(gateway.ended().await, None, "{chaos}: a signal ended it");
        assert_eq!(operations_in(&ledger).len(), effects, "{chaos}");
        drop(gateway);

        // The next process remembers the ledger and forgot the operation: it may have happened, and it must not run.
        let gateway = Gateway::start(&arguments);
        let agent = gateway.caller("acme/agent-7");
        for _ in 0..2 {
            let retry = agent
                .confirm_bytes(&previewed.fingerprint, previewed.params.to_string())
                .await;
            retry.assert_answer(202, "outcome_unknown", "unknown");
        }
        let status = agent.status_by(&previewed.fingerprint).await;
        status.assert_answer(200, "outcome_unknown", "unknown");
        agent
            .status(&previewed.id)
            .await
            .assert_answer(200, "outcome_unknown", "unknown");
        assert_eq!(
            agent.effects(Some(&previewed.id)).await.len(),
            effects,
            "{chaos}"
        );
        assert_eq!(operations_in(&ledger).len(), effects, "{chaos}");
        // What is new runs.
        agent
            .preview(&transfer(1))
            .await
            .confirm()
            .await
            .assert_told(201, "completed");
    }
}

#[tokio::test]
async fn a_restarted_memory_knows_that_it_forgot() {
    let gateway = Gateway::start(&[MEMORY, &["--keys", KEYS]].concat());
    let agent = gateway.caller("acme/agent-7");
    let done = agent.preview(&transfer(1)).await;
    let unconfirmed = agent.preview(&transfer(2)).await;
    done.confirm().await.assert_told(201, "completed");
    drop(gateway);

    let gateway = Gateway::start(&[MEMORY, &["--keys", KEYS]].concat());
    let agent = gateway.caller("acme/agent-7");
    for previewed in [&done, &unconfirmed] {
        let reply = agent
            .confirm_bytes(&previewed.fingerprint, previewed.params.to_string())
            .await;
        reply.assert_answer(202, "outcome_unknown", "unknown");
        let changed = agent
            .confirm_bytes(&previewed.fingerprint, transfer(3).to_string())
            .await;
        changed.assert_answer(422, "params_changed", "unknown");
        let cancel = Call::post(format!("/v1/operations/{}/cancel", previewed.id), "")
            .header("counterfoil-fingerprint", &previewed.fingerprint);
        assert_ne!(
            agent.send(cancel).await.word(),
            "cancelled",
            "what may have happened can't be called off"
        );
    }
    assert_eq!(agent.effects(None).await, Vec::<Value>::new());
}
