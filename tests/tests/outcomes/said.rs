//! What the handler says, by status and by its word.

use tests::Gateway;

use crate::{DONE, FAILED, RELEASED, UNKNOWN, previewed};

#[tokio::test]
async fn a_slow_success_is_a_success() {
    let gateway = Gateway::start(&[]);
    for chaos in [
        "delay=30",
        "delay-after=30",
        "delay=10;delay-after=10",
        "delay=0",
    ] {
        let previewed = previewed(&gateway).await;
        previewed
            .confirm_chaos(chaos)
            .await
            .assert_told(201, "completed");
        DONE.hold(&previewed, chaos).await;
        previewed
            .confirm()
            .await
            .assert_answer(201, "already_completed", "yes");
    }
}

#[tokio::test]
async fn a_status_that_is_no_success_leaves_doubt_about_an_effect() {
    let gateway = Gateway::start(&[]);
    for code in [
        302, 400, 401, 403, 404, 408, 409, 422, 425, 429, 500, 502, 503, 504,
    ] {
        let chaos = format!("status={code}");
        let previewed = previewed(&gateway).await;
        previewed
            .confirm_chaos(&chaos)
            .await
            .assert_told(code, "outcome_unknown");
        UNKNOWN.hold(&previewed, &chaos).await;
        // Nothing runs again, whatever a retry does.
        previewed
            .confirm()
            .await
            .assert_answer(202, "outcome_unknown", "unknown");
        UNKNOWN.hold(&previewed, &chaos).await;
    }
}

#[tokio::test]
async fn a_status_of_success_is_a_result_even_without_a_body() {
    let gateway = Gateway::start(&[]);
    for code in [200, 201, 203, 204, 205, 206, 303] {
        let chaos = format!("status={code}");
        let previewed = previewed(&gateway).await;
        previewed
            .confirm_chaos(&chaos)
            .await
            .assert_told(code, "completed");
        DONE.hold(&previewed, &chaos).await;
        let retry = previewed.confirm().await;
        assert_eq!(retry.word(), "already_completed", "{retry:#?}");
        assert_eq!(retry.text("executed"), "yes");
        DONE.hold(&previewed, &chaos).await;
    }
}

#[tokio::test]
async fn a_refusal_with_the_handlers_word_frees_the_fingerprint_for_another_try() {
    let gateway = Gateway::start(&[]);
    for code in [409, 429, 503] {
        let chaos = format!("refuse={code}");
        let previewed = previewed(&gateway).await;
        for attempt in 1..=2 {
            previewed
                .confirm_chaos(&chaos)
                .await
                .assert_told(code, "not_executed");
            RELEASED.hold(&previewed, &chaos).await;
            assert_eq!(previewed.status().await.json()["attempt"], attempt);
        }
        previewed.confirm().await.assert_told(201, "completed");
        DONE.hold(&previewed, &chaos).await;
    }
    let epochs: Vec<_> = gateway.caller("acme/agent-7").effects(None).await;
    assert!(
        epochs.iter().all(|effect| effect["epoch"] == 3),
        "{epochs:?}"
    );
}

#[tokio::test]
async fn after_a_refusal_two_hundred_tries_have_one_effect() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    previewed
        .confirm_chaos("refuse=503")
        .await
        .assert_told(503, "not_executed");
    let calls: Vec<_> = (0..200)
        .map(|_| {
            let previewed = previewed.clone();
            tokio::spawn(async move { previewed.confirm_chaos("delay=50").await })
        })
        .collect();
    let mut ran = 0;
    for call in calls {
        match call.await.expect("a call").word() {
            "completed" => ran += 1,
            "in_progress" | "already_completed" => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!(ran, 1);
    DONE.hold(&previewed, "refuse=503").await;
}

#[tokio::test]
async fn a_failure_with_the_handlers_word_is_final() {
    let gateway = Gateway::start(&[]);
    for code in [402, 422, 500] {
        let chaos = format!("fail={code}");
        let previewed = previewed(&gateway).await;
        let first = previewed.confirm_chaos(&chaos).await;
        first.assert_told(code, "already_failed");
        FAILED.hold(&previewed, &chaos).await;
        let retry = previewed.confirm().await;
        retry.assert_answer(code, "already_failed", "no");
        assert_eq!(retry.json()["result"], first.json());
        FAILED.hold(&previewed, &chaos).await;
    }
}

#[tokio::test]
async fn what_was_accepted_is_in_progress_until_its_receipt_and_then_done() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    let first = previewed.confirm_chaos("accept").await;
    first.assert_told(202, "in_progress");
    let status = previewed.status().await;
    status.assert_answer(200, "in_progress", "pending");
    assert_eq!(status.text("state"), "running");
    previewed
        .confirm()
        .await
        .assert_answer(202, "in_progress", "pending");
    previewed
        .cancel()
        .await
        .assert_answer(409, "too_late", "pending");
    assert_eq!(previewed.effects().await, 0);

    previewed.until_state("succeeded").await;
    DONE.hold(&previewed, "accept").await;
    let retry = previewed.confirm().await;
    assert_eq!(retry.word(), "already_completed", "{retry:#?}");
    assert_eq!(
        retry.json()["result"]["transfer_id"],
        first.json()["transfer_id"]
    );
    DONE.hold(&previewed, "accept").await;
}
