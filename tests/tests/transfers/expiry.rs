//! The end of a fingerprint, in real time.

use tests::{Gateway, transfer, until};

use crate::now;

#[tokio::test]
async fn a_fingerprint_can_be_confirmed_until_it_ends_and_retried_after() {
    let gateway = Gateway::start(&["--fingerprint-ttl", "3s"]);
    let agent = gateway.caller("acme/agent-7");
    let in_time = agent.preview(&transfer(1)).await;
    let too_late = agent.preview(&transfer(2)).await;
    let first = in_time.confirm().await;
    first.assert_told(201, "completed");
    // Told by the gateway's clock, which is the one that judges.
    until("the fingerprint's end", || async {
        let status = agent.status_by(&too_late.fingerprint).await;
        // For a while after it, a claim could still be on its way into a database.
        (status.word() != "not_started" && status.text("executed") == "no").then_some(())
    })
    .await;
    assert!(
        now()
            >= too_late.reply.json()["expires_at"]
                .as_u64()
                .expect("seconds")
    );

    too_late
        .confirm()
        .await
        .assert_answer(410, "fingerprint_expired", "no");
    // A change is told first, whatever the time.
    let changed = too_late.confirm_with(&transfer(3)).await;
    changed.assert_answer(422, "params_changed", "no");
    assert_eq!(
        agent.status_by(&too_late.fingerprint).await.text("state"),
        "cancelled"
    );
    assert_eq!(too_late.effects().await, 0);

    let retry = in_time.confirm().await;
    retry.assert_answer(201, "already_completed", "yes");
    assert_eq!(retry.json()["result"], first.json());
    assert_eq!(in_time.effects().await, 1);
    assert_eq!(agent.effects(None).await.len(), 1);
}

#[tokio::test]
async fn a_released_transfer_can_not_be_confirmed_after_the_end() {
    let gateway = Gateway::start(&["--fingerprint-ttl", "3s"]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    previewed
        .confirm_chaos("refuse=503")
        .await
        .assert_told(503, "not_executed");
    until("the fingerprint's end", || async {
        (previewed.status().await.text("executed") == "no").then_some(())
    })
    .await;
    previewed
        .confirm()
        .await
        .assert_answer(410, "not_executed", "no");
    assert_eq!(previewed.effects().await, 0);
}

#[tokio::test]
async fn a_fingerprint_ends_with_the_quote_at_the_latest() {
    let gateway = Gateway::start(&["--quote-ttl", "5s"]);
    let previewed = gateway.caller("acme/agent-7").preview(&transfer(1)).await;
    let ends = previewed.reply.json()["expires_at"]
        .as_u64()
        .expect("seconds");
    assert!(ends <= now() + 5, "{ends}");
}
