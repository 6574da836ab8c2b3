//! Callers without one name.

use tests::{Call, Gateway, transfer};

#[tokio::test]
async fn a_caller_without_one_name_is_refused_everywhere() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let calls = [
        Call::post("/v1/transfers/preview", previewed.params.to_string()),
        previewed.call(),
        Call::get(format!("/v1/operations/{}", previewed.id)),
        Call::get("/v1/operation").header("counterfoil-fingerprint", &previewed.fingerprint),
        Call::post(format!("/v1/operations/{}/cancel", previewed.id), "")
            .header("counterfoil-fingerprint", &previewed.fingerprint),
        Call::get("/ledger"),
    ];
    for call in &calls {
        let refused = gateway.send(call.clone()).await;
        refused.assert_answer(401, "unauthenticated", "unknown");
        assert!(
            !refused.header("www-authenticate").is_empty(),
            "RFC 9110, section 11.6.1"
        );
    }
    for authorization in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer acme",
        "Bearer /agent-7",
        "Bearer acme/",
        "Bearer /",
        "Basic acme/agent-7",
        "acme/agent-7",
        "Bearer acme agent-7",
    ] {
        let call = previewed.call().header("authorization", authorization);
        let refused = gateway.send(call).await;
        refused.assert_answer(401, "unauthenticated", "unknown");
    }
    let two = previewed
        .call()
        .header("authorization", "Bearer acme/agent-7")
        .header("authorization", "Bearer acme/agent-8");
    gateway
        .send(two)
        .await
        .assert_answer(401, "unauthenticated", "unknown");
    assert_eq!(previewed.effects().await, 0);
    agent
        .status_by(&previewed.fingerprint)
        .await
        .assert_told(200, "not_started");
}
