//! Calling a transfer off.

use tests::{Call, Gateway, transfer};

#[tokio::test]
async fn before_it_runs_it_can_be_called_off_for_good() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    for _ in 0..2 {
        let cancelled = previewed.cancel().await;
        cancelled.assert_answer(200, "cancelled", "no");
        assert_eq!(cancelled.text("state"), "cancelled");
    }
    previewed
        .confirm()
        .await
        .assert_answer(410, "cancelled", "no");
    let status = previewed.status().await;
    status.assert_answer(200, "cancelled", "no");
    assert_eq!(status.text("state"), "cancelled");
    assert_eq!(previewed.effects().await, 0);
}

#[tokio::test]
async fn once_it_runs_it_is_too_late_to_call_it_off() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let running = previewed.start_running("delay=800").await;
    let refused = previewed.cancel().await;
    refused.assert_answer(409, "too_late", "pending");
    assert_eq!(refused.text("state"), "running");
    running
        .await
        .expect("a call")
        .expect("an answer")
        .assert_told(201, "completed");
    let refused = previewed.cancel().await;
    refused.assert_answer(409, "too_late", "yes");
    assert_eq!(refused.text("state"), "succeeded");
    // By id alone too.
    let by_id = Call::post(format!("/v1/operations/{}/cancel", previewed.id), "");
    agent
        .send(by_id)
        .await
        .assert_answer(409, "too_late", "yes");
    previewed
        .confirm()
        .await
        .assert_told(201, "already_completed");
    assert_eq!(previewed.effects().await, 1);
}
