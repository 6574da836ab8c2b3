//! Authorization stands in front of the layers: whoever may not call gets no replay, and changes nothing.

use tests::{Call, Gateway, transfer};

#[tokio::test]
async fn whoever_is_not_let_in_any_more_gets_no_replay() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let done = previewed.confirm().await;
    done.assert_told(201, "completed");
    let key = format!("key-{}", previewed.id);
    let ticket =
        Call::post("/v1/tickets", r#"{"project":"p","title":"t"}"#).header("idempotency-key", &key);
    let filed = agent.send(ticket.clone()).await;
    filed.assert_told(201, "completed");
    let effects = agent.effects(None).await.len();

    let by_key = Call::get("/v1/operation").header("idempotency-key", &key);
    let by_fingerprint =
        Call::get("/v1/operation").header("counterfoil-fingerprint", &previewed.fingerprint);
    let place = Call::get(filed.header("location"));
    for call in [
        previewed.call(),
        ticket.clone(),
        by_key,
        by_fingerprint,
        place,
    ] {
        for authorization in [
            None,
            Some("Bearer"),
            Some("Bearer acme"),
            Some("Basic acme/agent-7"),
        ] {
            let mut call = call.clone();
            if let Some(authorization) = authorization {
                call = call.header("authorization", authorization);
            }
            let refused = gateway.send(call).await;
            refused.assert_answer(401, "unauthenticated", "unknown");
            assert_eq!(refused.header("counterfoil-operation-id"), "");
            assert_eq!(refused.header("location"), "");
            assert_eq!(refused.header("idempotent-replayed"), "");
            let text = String::from_utf8_lossy(&refused.body).into_owned();
            for secret in [done.text("transfer_id"), filed.text("ticket_id")] {
                assert!(!text.contains(&secret), "{text}");
            }
        }
    }
    // The refusal is nobody's result.
    previewed
        .confirm()
        .await
        .assert_told(201, "already_completed");
    agent
        .send(ticket)
        .await
        .assert_told(201, "already_completed");
    assert_eq!(agent.effects(None).await.len(), effects);
    gateway.assert_well().await;
}
