//! A duplicate of what is in flight: told at once, or after a wait.

use std::time::{Duration, Instant};

use serde_json::Value;
use tests::{Gateway, Previewed, Reply, transfer};

/// Longer than any of these runs, and than the slowest machine takes for one.
const LONG: &str = "15s";

/// Confirms while a run of `chaos` is under way: both replies, and how long the second took.
async fn twice(gateway: &Gateway, chaos: &str) -> (Previewed, Reply, Reply, Duration) {
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let running = previewed.start_running(chaos).await;
    let began = Instant::now();
    let second = previewed.confirm().await;
    let took = began.elapsed();
    let first = running.await.expect("a call").expect("an answer");
    (previewed, first, second, took)
}

#[tokio::test]
async fn a_duplicate_that_waits_gets_the_first_201_from_replay() {
    let gateway = Gateway::start(&["--wait", LONG]);
    let (previewed, first, second, _) = twice(&gateway, "delay=500").await;
    first.assert_told(201, "completed");
    second.assert_answer(201, "already_completed", "yes");
    assert_eq!(second.json()["result"], first.json());
    assert_eq!(second.text("this_call"), "not_run");
    assert_eq!(second.header("location"), first.header("location"));
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn without_a_wait_it_is_told_at_once() {
    for arguments in [&["--wait", "0s"][..], &[]] {
        let gateway = Gateway::start(arguments);
        let (previewed, first, second, took) = twice(&gateway, "delay=3000").await;
        second.assert_answer(202, "in_progress", "pending");
        assert!(took < Duration::from_secs(2), "{took:?}");
        first.assert_told(201, "completed");
        assert_eq!(previewed.effects().await, 1);
    }
}

#[tokio::test]
async fn a_wait_that_is_shorter_than_the_run_ends_in_time() {
    let gateway = Gateway::start(&["--wait", "700ms"]);
    let (previewed, first, second, took) = twice(&gateway, "delay=4000").await;
    second.assert_answer(202, "in_progress", "pending");
    let (least, most) = (Duration::from_millis(700), Duration::from_secs(3));
    assert!((least..most).contains(&took), "{took:?}");
    first.assert_told(201, "completed");
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn many_duplicates_wait_for_one_run_and_all_get_its_result() {
    let gateway = Gateway::start(&["--wait", LONG]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("7")).await;
    let running = previewed.start_running("delay=800").await;
    let calls: Vec<_> = (0..40)
        .map(|_| {
            let previewed = previewed.clone();
            tokio::spawn(async move { previewed.confirm().await })
        })
        .collect();
    let first = running.await.expect("a call").expect("an answer");
    for call in calls {
        let reply = call.await.expect("a call");
        reply.assert_answer(201, "already_completed", "yes");
        assert_eq!(reply.json()["result"], first.json());
    }
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn a_duplicate_that_waits_for_a_run_that_did_nothing_runs_it() {
    let gateway = Gateway::start(&["--wait", LONG]);
    let (previewed, first, second, _) = twice(&gateway, "delay=500;refuse=503").await;
    first.assert_told(503, "not_executed");
    second.assert_told(201, "completed");
    assert_eq!(second.json()["status"], Value::from("settled"));
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn a_duplicate_that_waits_for_a_run_without_a_word_is_told_of_the_doubt() {
    let gateway = Gateway::start(&["--wait", LONG]);
    let (previewed, first, second, _) = twice(&gateway, "delay=500;status=504").await;
    first.assert_told(504, "outcome_unknown");
    second.assert_answer(202, "outcome_unknown", "unknown");
    assert_eq!(previewed.effects().await, 1);
}
