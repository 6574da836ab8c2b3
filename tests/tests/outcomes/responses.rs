//! Responses that are lost, large, chunked or broken.

use tests::Gateway;

use crate::{DONE, UNKNOWN, previewed};

#[tokio::test]
async fn an_answer_that_never_arrives_is_there_for_a_retry() {
    let gateway = Gateway::start(&[]);
    for chaos in [
        "drop-response",
        "delay=20;drop-response",
        "big=5000;drop-response",
    ] {
        let previewed = previewed(&gateway).await;
        let cut = previewed.try_confirm_chaos(chaos).await;
        assert!(cut.is_err(), "{chaos}: {cut:#?}");
        DONE.hold(&previewed, chaos).await;
        let retry = previewed.confirm().await;
        retry.assert_answer(201, "already_completed", "yes");
        assert_eq!(retry.json()["result"]["status"], "settled");
        DONE.hold(&previewed, chaos).await;
    }
}

#[tokio::test]
async fn a_large_or_chunked_result_is_replayed_whole() {
    let gateway = Gateway::start(&[]);
    for (chaos, len) in [
        ("big=300000", 300_000),
        ("stream=8", 8 * 4096),
        ("big=1", 0),
    ] {
        let previewed = previewed(&gateway).await;
        let first = previewed.confirm_chaos(chaos).await;
        first.assert_told(201, "completed");
        assert!(first.body.len() >= len, "{chaos}: {}", first.body.len());
        DONE.hold(&previewed, chaos).await;
        let retry = previewed.confirm().await;
        retry.assert_answer(201, "already_completed", "yes");
        assert_eq!(retry.json()["result"], first.json());
    }
}

#[tokio::test]
async fn a_result_past_the_limit_reaches_its_first_caller_and_a_retry_gets_its_number() {
    let gateway = Gateway::start(&["--max-body", "8192"]);
    for (chaos, len) in [("big=100000", 100_000), ("stream=20", 20 * 4096)] {
        let previewed = previewed(&gateway).await;
        let first = previewed.confirm_chaos(chaos).await;
        first.assert_told(201, "completed");
        assert_eq!(first.body.len(), len, "whole, not cut");
        DONE.hold(&previewed, chaos).await;
        let retry = previewed.confirm().await;
        retry.assert_answer(201, "already_completed", "yes");
        assert_eq!(retry.json().get("result"), None, "{retry:#?}");
        assert_eq!(retry.json()["result_ref"], first.json()["transfer_id"]);
        DONE.hold(&previewed, chaos).await;
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_inside_the_limit_leaves_doubt_and_past_it_none() {
    let gateway = Gateway::start(&["--max-body", "8192"]);
    for (chaos, stands, word) in [
        ("break=1", UNKNOWN, "outcome_unknown"),
        ("break=0", UNKNOWN, "outcome_unknown"),
        ("break=5", DONE, "already_completed"),
    ] {
        let previewed = previewed(&gateway).await;
        let cut = previewed.try_confirm_chaos(chaos).await;
        assert!(cut.is_err(), "{chaos}: {cut:#?}");
        stands.hold(&previewed, chaos).await;
        assert_eq!(previewed.confirm().await.word(), word, "{chaos}");
        stands.hold(&previewed, chaos).await;
    }
}
