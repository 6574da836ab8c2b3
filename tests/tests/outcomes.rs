//! What a run means, whatever goes wrong in it: each value of `X-Chaos`, the first caller's answer, what stands, what the
//! ledger holds, and what a retry is told.

use serde_json::json;
use tests::{Gateway, Previewed, transfer};

/// Where it stands afterwards.
struct Stands {
    state: &'static str,
    word: &'static str,
    executed: &'static str,
    effects: usize,
}

const DONE: Stands = Stands {
    state: "succeeded",
    word: "already_completed",
    executed: "yes",
    effects: 1,
};
const FAILED: Stands = Stands {
    state: "failed",
    word: "already_failed",
    executed: "no",
    effects: 0,
};
const RELEASED: Stands = Stands {
    state: "queued",
    word: "not_executed",
    executed: "not_yet",
    effects: 0,
};
/// Nobody was told; there is an effect, or none.
const UNKNOWN: Stands = Stands {
    state: "unknown",
    word: "outcome_unknown",
    executed: "unknown",
    effects: 1,
};
const UNKNOWN_BEFORE: Stands = Stands {
    effects: 0,
    ..UNKNOWN
};

impl Stands {
    async fn hold(&self, previewed: &Previewed, chaos: &str) {
        let status = previewed.status().await;
        status.assert_answer(200, self.word, self.executed);
        assert_eq!(status.text("state"), self.state, "{chaos}");
        assert_eq!(previewed.effects().await, self.effects, "{chaos}");
    }
}

async fn previewed(gateway: &Gateway) -> Previewed {
    gateway
        .caller("acme/agent-7")
        .preview(&transfer("120.50"))
        .await
}

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

#[tokio::test]
async fn a_healthy_run_of_many_leases_is_never_in_doubt() {
    let gateway = Gateway::start(&["--lease", "300ms"]);
    let previewed = previewed(&gateway).await;
    let running = previewed.start_running("delay=1200").await;
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
    DONE.hold(&previewed, "delay=1200").await;
}

#[tokio::test]
async fn a_lease_that_lapses_is_doubt_that_its_owner_can_still_end() {
    let gateway = Gateway::start(&["--lease", "300ms", "--no-renew"]);
    let previewed = previewed(&gateway).await;
    let running = previewed.start_running("delay-after=1200").await;
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
    DONE.hold(&previewed, "delay-after=1200").await;
    previewed
        .confirm()
        .await
        .assert_told(201, "already_completed");
    DONE.hold(&previewed, "delay-after=1200").await;
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
