//! Changed params: told in every state, and an event.

use tests::{Gateway, Previewed, transfer, with};

/// Confirms with a changed amount, and holds the answer to what became of the operation.
async fn assert_changed(gateway: &Gateway, previewed: &Previewed, executed: &str) {
    let events = gateway.security_events().len();
    let reply = previewed
        .confirm_with(&with(&previewed.params, "amount", "999.99"))
        .await;
    reply.assert_answer(422, "params_changed", executed);
    assert_eq!(reply.text("operation_id"), previewed.id);
    assert_eq!(reply.text("this_call"), "not_run");
    assert_eq!(
        reply.json().get("result"),
        None,
        "a change is told no result"
    );
    for text in ["120.5", "999.99", "payee-1", "account-1"] {
        let body = String::from_utf8_lossy(&reply.body);
        assert!(!body.contains(text), "{body}");
    }
    gateway
        .security_event(&["params_changed", &previewed.id])
        .await;
    assert!(
        gateway.security_events().len() > events,
        "each change is an event"
    );
}

#[tokio::test]
async fn changed_params_are_told_in_every_state_and_run_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let fresh = || async { agent.preview(&transfer("120.50")).await };

    let not_started = fresh().await;
    assert_changed(&gateway, &not_started, "not_yet").await;
    assert_eq!(not_started.effects().await, 0);

    let in_flight = fresh().await;
    let running = in_flight.start_running("delay=1000").await;
    assert_changed(&gateway, &in_flight, "pending").await;
    running
        .await
        .expect("a call")
        .expect("an answer")
        .assert_told(201, "completed");
    assert_changed(&gateway, &in_flight, "yes").await;
    assert_eq!(in_flight.effects().await, 1);

    for (chaos, executed, effects) in [
        ("fail=402", "no", 0),
        ("refuse=503", "not_yet", 0),
        ("status=500", "unknown", 1),
        ("panic-before", "unknown", 0),
        ("accept", "pending", 0),
    ] {
        let previewed = fresh().await;
        previewed.confirm_chaos(chaos).await;
        assert_changed(&gateway, &previewed, executed).await;
        assert_eq!(previewed.effects().await, effects, "{chaos}");
    }

    let cancelled = fresh().await;
    cancelled.cancel().await.assert_told(200, "cancelled");
    assert_changed(&gateway, &cancelled, "no").await;
}

#[tokio::test]
async fn a_change_is_told_before_a_wrong_value() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    // What can't be read is no param at all; what can is compared.
    let unreadable = with(&previewed.params, "amount", "a lot");
    previewed
        .confirm_with(&unreadable)
        .await
        .assert_invalid("/amount");
    previewed.confirm().await.assert_told(201, "completed");
    assert_eq!(previewed.effects().await, 1);
}
