//! Signing keys, and what is confidential.

use serde_json::json;
use tests::{Gateway, transfer, with};

use crate::{KEY, OTHER_KEY, forge};

#[tokio::test]
async fn the_first_key_signs_and_the_others_verify() {
    // What was signed before the change of keys is good after it: the memory store then says that it forgot.
    let old = format!("old={OTHER_KEY}");
    let before = {
        let gateway = Gateway::start(&["--store", "memory:", "--keys", &old]);
        gateway.caller("acme/agent-7").preview(&transfer(1)).await
    };
    assert!(before.fingerprint.starts_with("fp1.old."));
    let both = format!("new={KEY},{old}");
    let gateway = Gateway::start(&["--store", "memory:", "--keys", &both]);
    let agent = gateway.caller("acme/agent-7");
    let after = agent.preview(&transfer(1)).await;
    assert!(after.fingerprint.starts_with("fp1.new."));
    after.confirm().await.assert_told(201, "completed");
    let reply = agent
        .confirm_bytes(&before.fingerprint, before.params.to_string())
        .await;
    reply.assert_answer(202, "outcome_unknown", "unknown");

    let without = Gateway::start_with_keys_in_env(&format!("new={KEY}"));
    let agent = without.caller("acme/agent-7");
    let signed = agent.preview(&transfer(1)).await;
    assert!(signed.fingerprint.starts_with("fp1.new."));
    let reply = agent
        .confirm_bytes(&before.fingerprint, before.params.to_string())
        .await;
    reply.assert_answer(403, "fingerprint_invalid", "unknown");
}

#[tokio::test]
async fn nothing_confidential_is_logged_whatever_happens() {
    // Fingerprints, keys and bearers are looked for in every test; this one adds what is in the params.
    let gateway = Gateway::start(&["--keys", &format!("k1={KEY}")]);
    let agent = gateway.caller("acme/agent-7");
    for canary in [
        "canary-payee",
        "canary-account",
        "canary-order",
        "canary-note",
        "canary-wrong",
        "7391.55",
    ] {
        gateway.must_not_log(canary);
    }
    let params = json!({
        "amount": "7391.55", "currency": "EUR", "payee_id": "canary-payee", "source_account": "canary-account",
        "purchase_order": "canary-order", "note": "canary-note",
    });
    for chaos in [
        "delay=1",
        "status=500",
        "fail=402",
        "refuse=503",
        "panic-before",
        "panic-after",
        "break=1",
    ] {
        let previewed = agent.preview(&params).await;
        drop(previewed.try_confirm_chaos(chaos).await);
        previewed.confirm().await;
        previewed
            .confirm_with(&with(&params, "payee_id", "canary-wrong"))
            .await;
        previewed
            .confirm_with(&with(&params, "currency", "canary-wrong"))
            .await;
        previewed
            .confirm_with(&with(&params, "canary-wrong", "canary-wrong"))
            .await;
        gateway
            .caller("acme/agent-8")
            .confirm_bytes(&previewed.fingerprint, params.to_string())
            .await;
        agent
            .confirm_bytes(&forge(&previewed.fingerprint), params.to_string())
            .await;
        agent
            .confirm_bytes("canary-wrong", params.to_string())
            .await;
        agent.status_by(&previewed.fingerprint).await;
        previewed.cancel().await;
    }
    let log = gateway.log();
    assert!(log.contains("counterfoil::security"), "{log}");
    assert!(!log.contains('\u{1b}'), "no escape codes in a log");
}
