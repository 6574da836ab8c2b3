//! Panics, faults in a row, and faults that nobody knows.

use serde_json::json;
use tests::Gateway;

use crate::{DONE, FAILED, RELEASED, UNKNOWN, UNKNOWN_BEFORE, previewed};

#[tokio::test]
async fn a_panic_leaves_the_outcome_unknown_and_the_gateway_well() {
    let gateway = Gateway::start(&[]);
    for (chaos, stands) in [("panic-before", UNKNOWN_BEFORE), ("panic-after", UNKNOWN)] {
        let previewed = previewed(&gateway).await;
        let first = previewed.confirm_chaos(chaos).await;
        first.assert_answer(202, "outcome_unknown", "unknown");
        assert_eq!(first.text("this_call"), "ran");
        stands.hold(&previewed, chaos).await;
        let retry = previewed.confirm().await;
        retry.assert_answer(202, "outcome_unknown", "unknown");
        assert_eq!(retry.text("this_call"), "not_run");
        assert!(!retry.header("retry-after").is_empty(), "{retry:#?}");
        stands.hold(&previewed, chaos).await;
        gateway.assert_well().await;
    }
}

#[tokio::test]
async fn an_answer_says_nothing_of_what_went_wrong_inside() {
    let gateway = Gateway::start(&[]);
    for chaos in ["panic-before", "panic-after", "break=0"] {
        let previewed = previewed(&gateway).await;
        drop(previewed.try_confirm_chaos(chaos).await);
        for reply in [previewed.status().await, previewed.confirm().await] {
            let text = String::from_utf8_lossy(&reply.body).to_lowercase();
            for word in ["panic", "chaos", "broke", ".rs"] {
                assert!(!text.contains(word), "{chaos}: {text}");
            }
            // Nor of what was asked for.
            assert!(!text.contains("payee-1"), "{text}");
            assert_eq!(reply.json().get("result"), None);
            assert_ne!(reply.json()["operation_id"], json!(null));
        }
    }
}

#[tokio::test]
async fn faults_can_be_joined() {
    let gateway = Gateway::start(&[]);
    for (chaos, status, word, stands) in [
        ("delay=10;status=500", 500, "outcome_unknown", UNKNOWN),
        (
            "status=500; delay-after=10",
            500,
            "outcome_unknown",
            UNKNOWN,
        ),
        ("delay=10;refuse=503", 503, "not_executed", RELEASED),
        ("fail=402;delay-after=10", 402, "already_failed", FAILED),
        ("delay=10;panic-after", 202, "outcome_unknown", UNKNOWN),
    ] {
        let previewed = previewed(&gateway).await;
        previewed
            .confirm_chaos(chaos)
            .await
            .assert_told(status, word);
        stands.hold(&previewed, chaos).await;
    }
}

#[tokio::test]
async fn a_fault_that_is_not_known_is_refused_before_anything_runs() {
    let gateway = Gateway::start(&[]);
    let previewed = previewed(&gateway).await;
    for chaos in [
        "",
        "explode",
        "delay",
        "delay=",
        "delay=-1",
        "status=99",
        "status=1000",
        "delay=1;;",
        "big=x",
    ] {
        let refused = previewed.confirm_chaos(chaos).await;
        assert_eq!(refused.status, 400, "{chaos:?}: {refused:#?}");
    }
    assert_eq!(previewed.status().await.status, 404);
    previewed.confirm().await.assert_told(201, "completed");
}

#[tokio::test]
async fn without_the_option_the_header_for_faults_means_nothing() {
    let gateway = Gateway::start_bare(&[]);
    let previewed = previewed(&gateway).await;
    previewed
        .confirm_chaos("exit-before-claim")
        .await
        .assert_told(201, "completed");
    DONE.hold(&previewed, "none").await;
}
