//! Queries, methods and versions.

use http::{Method, Version};
use tests::{Call, Gateway, transfer};

use crate::{CONFIRM, PREVIEW};

#[tokio::test]
async fn a_query_smuggles_nothing_in() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let at = |path: &str, query: &str| {
        Call::post(format!("{path}?{query}"), previewed.params.to_string())
            .header("counterfoil-fingerprint", &previewed.fingerprint)
    };
    for path in [PREVIEW, CONFIRM] {
        for query in [
            "amount=1",
            "amount=500",
            "amount=1&amount=2",
            "am%6Funt=9",
            "currency=USD",
            "x=1&x=2",
        ] {
            let refused = agent.send(at(path, query)).await;
            assert_eq!(
                (refused.status, refused.word()),
                (400, "params_invalid"),
                "{path}?{query}: {refused:#?}"
            );
        }
        agent.send(at(path, "x=1")).await.assert_invalid("/x");
        agent
            .send(at(path, "purchase%5Forder="))
            .await
            .assert_invalid("/purchase_order");
        let undecodable = agent.send(at(path, "note=%ff")).await;
        assert_eq!(
            (undecodable.status, undecodable.word()),
            (422, "params_invalid"),
            "{undecodable:#?}"
        );
    }
    // A bound one that the body doesn't have is a param, and a change; an ignored one is as ignored as in the body.
    agent
        .send(at(CONFIRM, "purchase_order=po-1"))
        .await
        .assert_answer(422, "params_changed", "not_yet");
    assert_eq!(previewed.status().await.status, 404);
    agent
        .send(at(CONFIRM, "note=for+lunch"))
        .await
        .assert_told(201, "completed");
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn another_method_claims_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    for method in [
        Method::GET,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ] {
        let call = Call::new(method.clone(), CONFIRM)
            .header("content-type", "application/json")
            .header("counterfoil-fingerprint", &previewed.fingerprint)
            .body(previewed.params.to_string());
        let refused = agent.send(call).await;
        assert_eq!(refused.status, 405, "{method}: {refused:#?}");
        assert_eq!(refused.header("allow"), "POST", "RFC 9110, section 15.5.6");
    }
    let slash = Call::post(format!("{CONFIRM}/"), previewed.params.to_string());
    assert_eq!(agent.send(slash).await.status, 404);
    agent
        .status_by(&previewed.fingerprint)
        .await
        .assert_answer(200, "not_started", "not_yet");
    assert_eq!(previewed.status().await.status, 404);
}

#[tokio::test]
async fn an_old_client_is_served() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    agent
        .send(previewed.call().version(Version::HTTP_10))
        .await
        .assert_told(201, "completed");
    agent
        .send(previewed.call().version(Version::HTTP_10))
        .await
        .assert_told(201, "already_completed");
}

#[tokio::test]
async fn a_ledger_query_is_read_strictly() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    // A query that is not understood must not read as "all of them", nor as "none".
    for query in ["operation_id=7", "operation_id=", "operation=7"] {
        let reply = agent.send(Call::get(format!("/ledger?{query}"))).await;
        assert_eq!(reply.status, 400, "{query}: {reply:#?}");
    }
}
