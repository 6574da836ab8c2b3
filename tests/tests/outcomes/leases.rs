//! Leases that are renewed, and those that lapse.

use tests::Gateway;

use crate::{DONE, previewed};

#[tokio::test]
async fn a_healthy_run_of_many_leases_is_never_in_doubt() {
    let gateway = Gateway::start(&["--lease", "600ms"]);
    let previewed = previewed(&gateway).await;
    let running = previewed.start_running("delay=2000").await;
    while !running.is_finished() {
        let state = previewed.status().await.text("state");
        assert!(state == "running" || state == "succeeded", "{state}");
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    running
        .await
        .expect("a call")
        .expect("an answer")
        .assert_told(201, "completed");
    DONE.hold(&previewed, "delay=2000").await;
}

#[tokio::test]
async fn a_lease_that_lapses_is_doubt_that_its_owner_can_still_end() {
    let gateway = Gateway::start(&["--lease", "300ms", "--no-renew"]);
    let previewed = previewed(&gateway).await;
    let running = previewed.start_running("delay-after=1500").await;
    previewed.until_state("unknown").await;
    // The passing of a lease frees nothing to run.
    previewed
        .confirm()
        .await
        .assert_answer(202, "outcome_unknown", "unknown");
    running
        .await
        .expect("a call")
        .expect("an answer")
        .assert_told(201, "completed");
    DONE.hold(&previewed, "delay-after=1500").await;
    previewed
        .confirm()
        .await
        .assert_told(201, "already_completed");
    DONE.hold(&previewed, "delay-after=1500").await;
}

#[tokio::test]
async fn a_handler_whose_lease_lapsed_before_its_effect_has_none() {
    let gateway = Gateway::start(&["--lease", "300ms", "--no-renew"]);
    let previewed = previewed(&gateway).await;
    let running = previewed.start_running("delay=800").await;
    previewed.until_state("unknown").await;
    let late = running.await.expect("a call").expect("an answer");
    assert_ne!(late.word(), "completed", "{late:#?}");
    assert_eq!(previewed.effects().await, 0);
}

#[tokio::test]
async fn a_run_past_its_longest_time_is_doubt_however_healthy_it_is() {
    let gateway = Gateway::start(&["--lease", "300ms", "--max-run", "600ms"]);
    let previewed = previewed(&gateway).await;
    let running = previewed.start_running("delay-after=2000").await;
    previewed.until_state("unknown").await;
    previewed
        .confirm()
        .await
        .assert_answer(202, "outcome_unknown", "unknown");
    assert!(!running.is_finished(), "the handler goes on");
    let late = running.await.expect("a call").expect("an answer");
    late.assert_told(201, "completed");
    DONE.hold(&previewed, "delay-after=2000").await;
}
