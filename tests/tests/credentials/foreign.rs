//! Another one's fingerprint, and another one's operation.

use serde_json::Value;
use tests::{Call, Gateway, transfer};

use crate::{assert_alike, forge};

#[tokio::test]
async fn a_fingerprint_of_another_principal_tenant_or_key_is_refused_alike() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let forged = forge(&previewed.fingerprint);
    let reference = agent
        .confirm_bytes(&forged, previewed.params.to_string())
        .await;
    reference.assert_answer(403, "fingerprint_invalid", "unknown");

    // Before anything is stored, while it runs, and once it is done: nobody else learns which.
    for step in ["not started", "running", "done"] {
        let running = match step {
            "running" => Some(previewed.start_running("delay=800").await),
            _ => None,
        };
        for subject in [
            "acme/agent-8",
            "other/agent-7",
            "acme/agent-77",
            "acme/agent",
            "Acme/agent-7",
        ] {
            let foreign = gateway.caller(subject);
            let reply = foreign
                .confirm_bytes(&previewed.fingerprint, previewed.params.to_string())
                .await;
            assert_alike(&reply, &reference);
            let changed = foreign
                .confirm_bytes(&previewed.fingerprint, transfer(1).to_string())
                .await;
            assert_alike(&changed, &reference);
            // Nor from the params: a stranger isn't told what is wrong with them.
            let invalid = foreign.confirm_bytes(&previewed.fingerprint, "{}").await;
            assert_alike(&invalid, &reference);
            let status = foreign.status_by(&previewed.fingerprint).await;
            assert_alike(&status, &reference);
        }
        if let Some(running) = running {
            running
                .await
                .expect("a call")
                .expect("an answer")
                .assert_told(201, "completed");
        }
    }
    gateway
        .security_event(&["foreign_fingerprint", &previewed.id])
        .await;
    gateway.security_event(&["forged_fingerprint"]).await;
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn another_ones_operation_is_not_found_by_id() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let unknown = agent.preview(&transfer(1)).await.id;
    previewed.confirm().await.assert_told(201, "completed");
    for subject in ["acme/agent-8", "other/agent-7"] {
        let foreign = gateway.caller(subject);
        let theirs = foreign.status(&previewed.id).await;
        theirs.assert_answer(404, "not_found", "unknown");
        assert_alike(&theirs, &foreign.status(&unknown).await);
        let cancel = |id: &str| Call::post(format!("/v1/operations/{id}/cancel"), "");
        let theirs = foreign.send(cancel(&previewed.id)).await;
        theirs.assert_answer(404, "not_found", "unknown");
        assert_alike(&theirs, &foreign.send(cancel(&unknown)).await);
    }
    // The ledger is a tenant's.
    assert_eq!(
        gateway
            .caller("other/agent-7")
            .effects(Some(&previewed.id))
            .await,
        Vec::<Value>::new()
    );
    assert_eq!(
        gateway.caller("other/agent-7").effects(None).await,
        Vec::<Value>::new()
    );
}

#[tokio::test]
async fn another_ones_fingerprint_calls_nothing_off() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let path = format!("/v1/operations/{}/cancel", previewed.id);
    for subject in ["acme/agent-8", "other/agent-7"] {
        let call = Call::post(&path, "").header("counterfoil-fingerprint", &previewed.fingerprint);
        let refused = gateway.caller(subject).send(call).await;
        refused.assert_answer(403, "fingerprint_invalid", "unknown");
    }
    // Nor does one's own, under another id.
    let other = agent.preview(&transfer(1)).await;
    let call = Call::post(&path, "").header("counterfoil-fingerprint", &other.fingerprint);
    agent
        .send(call)
        .await
        .assert_answer(400, "credentials_differ", "unknown");
    for previewed in [previewed, other] {
        previewed.confirm().await.assert_told(201, "completed");
    }
}

#[tokio::test]
async fn names_with_odd_characters_stay_apart() {
    let gateway = Gateway::start(&[]);
    let subjects = ["a.b/c", "a/b.c", "a%2Fb/c", "a/b%2Fc", "A.b/c"];
    for subject in subjects {
        let agent = gateway.caller(subject);
        let previewed = agent.preview(&transfer(1)).await;
        previewed.confirm().await.assert_told(201, "completed");
        for other in subjects.iter().filter(|other| **other != subject) {
            let foreign = gateway.caller(other);
            let reply = foreign
                .confirm_bytes(&previewed.fingerprint, previewed.params.to_string())
                .await;
            reply.assert_answer(403, "fingerprint_invalid", "unknown");
            foreign
                .status(&previewed.id)
                .await
                .assert_told(404, "not_found");
        }
    }
}
