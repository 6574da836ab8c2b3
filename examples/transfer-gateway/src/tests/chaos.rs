//! Every fault ends as the table says.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::sleep;

use super::*;

/// Confirms once in chaos. What was told, the state after it, and the effects.
async fn ends(chaos: &str) -> ((u16, String), String, u64) {
    let service = Service::with_chaos().await;
    let fingerprint = service.preview().await;
    let told = service.told(fingerprint.confirm_in_chaos(chaos)).await;
    (
        (told.0, told.1),
        service.state(&fingerprint).await,
        service.count(&fingerprint).await,
    )
}

fn expected(http: u16, status: &str, state: &str, effects: u64) -> ((u16, String), String, u64) {
    ((http, status.to_owned()), state.to_owned(), effects)
}

#[tokio::test]
async fn every_answered_fault_ends_as_the_table_says() {
    for (chaos, end) in [
        (
            "delay=20;delay-after=20",
            expected(201, "completed", "succeeded", 1),
        ),
        ("status=503", expected(503, "outcome_unknown", "unknown", 1)),
        ("status=404", expected(404, "outcome_unknown", "unknown", 1)),
        ("status=200", expected(200, "completed", "succeeded", 1)),
        ("refuse=429", expected(429, "not_executed", "queued", 0)),
        ("fail=409", expected(409, "already_failed", "failed", 0)),
        ("accept", expected(202, "in_progress", "running", 0)),
        (
            "panic-before",
            expected(202, "outcome_unknown", "unknown", 0),
        ),
        (
            "panic-after",
            expected(202, "outcome_unknown", "unknown", 1),
        ),
        ("big=5000", expected(201, "completed", "succeeded", 1)),
        ("stream=3", expected(201, "completed", "succeeded", 1)),
    ] {
        assert_eq!(ends(chaos).await, end, "{chaos}");
    }
}

#[tokio::test]
async fn a_delay_is_waited() {
    for chaos in ["delay=150", "delay-after=150"] {
        let began = Instant::now();
        ends(chaos).await;
        assert!(began.elapsed() >= Duration::from_millis(150), "{chaos}");
    }
}

#[tokio::test]
async fn a_refused_attempt_may_be_confirmed_again_and_a_failed_one_not() {
    let service = Service::with_chaos().await;
    let refused = service.preview().await;
    service.told(refused.confirm_in_chaos("refuse=503")).await;
    assert_eq!(
        said(&service.told(refused.confirm()).await),
        (201, "completed")
    );
    assert_eq!(service.count(&refused).await, 1);

    let failed = service.preview().await;
    service.told(failed.confirm_in_chaos("fail=409")).await;
    let again = service.told(failed.confirm()).await;
    assert_eq!(said(&again), (409, "already_failed"));
    assert_eq!(service.count(&failed).await, 0);
}

#[tokio::test]
async fn an_unknown_outcome_is_never_run_again() {
    let service = Service::with_chaos().await;
    for (chaos, effects) in [("status=500", 1), ("panic-before", 0), ("panic-after", 1)] {
        let fingerprint = service.preview().await;
        service.told(fingerprint.confirm_in_chaos(chaos)).await;
        let again = service.told(fingerprint.confirm()).await;
        assert_eq!(said(&again), (202, "outcome_unknown"), "{chaos}");
        assert_eq!(service.count(&fingerprint).await, effects, "{chaos}");
    }
}

#[tokio::test]
async fn an_accepted_transfer_is_done_with_its_receipt() {
    let service = Service::with_chaos().await;
    let fingerprint = service.preview().await;
    let first = service.told(fingerprint.confirm_in_chaos("accept")).await;
    assert_eq!(first.2["status"], "accepted");
    let again = service.told(fingerprint.confirm()).await;
    assert_eq!(said(&again), (202, "in_progress"));
    let deadline = Instant::now() + Duration::from_secs(10);
    while service.state(&fingerprint).await != "succeeded" {
        assert!(Instant::now() < deadline, "no receipt");
        sleep(Duration::from_millis(50)).await;
    }
    let replay = service.told(fingerprint.confirm()).await;
    assert_eq!(said(&replay), (201, "already_completed"));
    assert_eq!(replay.2["result"]["status"], "settled");
    assert_eq!(replay.2["result"]["transfer_id"], first.2["transfer_id"]);
    assert_eq!(service.count(&fingerprint).await, 1);
}

#[tokio::test]
async fn a_dropped_response_is_done_and_replayed() {
    let service = Service::with_chaos().await;
    let fingerprint = service.preview().await;
    let heard = service
        .caller
        .call(fingerprint.confirm_in_chaos("drop-response"))
        .await;
    assert!(matches!(heard, Heard::Broken), "{heard:?}");
    assert_eq!(service.state(&fingerprint).await, "succeeded");
    let again = service.told(fingerprint.confirm()).await;
    assert_eq!(said(&again), (201, "already_completed"));
    assert_eq!(service.count(&fingerprint).await, 1);
}

#[tokio::test]
async fn a_body_past_the_limit_reaches_its_caller_whole_and_is_not_kept() {
    let service = Service::start(Options {
        chaos: true,
        max_body: 10_000,
        ..Options::default()
    })
    .await;
    for (chaos, padding) in [("big=50000", 40_000), ("stream=5", 15_000)] {
        let fingerprint = service.preview().await;
        let first = service.told(fingerprint.confirm_in_chaos(chaos)).await;
        assert_eq!(said(&first), (201, "completed"), "{chaos}");
        let whole = first.2["padding"].as_str().map_or(0, str::len);
        assert!(whole > padding, "{chaos}: {whole}");
        let again = service.told(fingerprint.confirm()).await;
        assert_eq!(again.1, "already_completed", "{chaos}");
        assert_eq!(again.2.get("result").unwrap_or(&Value::Null), &Value::Null);
        assert_eq!(again.2["result_ref"], first.2["transfer_id"], "{chaos}");
        assert_eq!(service.count(&fingerprint).await, 1);
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_inside_the_limit_leaves_doubt() {
    let service = Service::with_chaos().await;
    let fingerprint = service.preview().await;
    let call = fingerprint.confirm_in_chaos("break=2");
    // Whether its caller gets the answer or a broken connection, nobody is told of a success.
    if let Heard::Answer { status, .. } = service.caller.call(call).await {
        assert_eq!(status.as_deref(), Some("outcome_unknown"));
    }
    assert_eq!(service.state(&fingerprint).await, "unknown");
    assert_eq!(service.count(&fingerprint).await, 1);
}

#[tokio::test]
async fn a_lease_that_lapses_reads_as_unknown_until_its_owner_completes() {
    let mut options = Options {
        chaos: true,
        ..Options::default()
    };
    options.times.lease = Duration::from_millis(300);
    options.times.renewed = false;
    let service = Service::start(options).await;
    let fingerprint = service.preview().await;
    let (caller, slow) = (
        service.caller.clone(),
        fingerprint.confirm_in_chaos("delay-after=2000"),
    );
    let running = tokio::spawn(async move { told(caller.call(slow).await) });
    let ask = || Call::get("/v1/operation").with_header(FINGERPRINT, &fingerprint.text);
    while service.told(ask()).await.1 != "outcome_unknown" {
        assert!(!running.is_finished(), "the lease did not lapse");
        sleep(Duration::from_millis(20)).await;
    }
    let meanwhile = service.told(fingerprint.confirm()).await;
    assert_eq!(said(&meanwhile), (202, "outcome_unknown"));
    assert_eq!(said(&running.await.expect("told")), (201, "completed"));
    assert_eq!(service.state(&fingerprint).await, "succeeded");
    assert_eq!(service.count(&fingerprint).await, 1);
}

#[tokio::test]
async fn a_handler_that_stalls_past_its_lease_before_the_effect_sends_nothing() {
    let mut options = Options {
        chaos: true,
        ..Options::default()
    };
    options.times.lease = Duration::from_millis(150);
    options.times.renewed = false;
    let service = Service::start(options).await;
    let fingerprint = service.preview().await;
    let told = service
        .told(fingerprint.confirm_in_chaos("delay=400"))
        .await;
    assert_eq!(said(&told), (409, "not_executed"));
    assert_eq!(service.count(&fingerprint).await, 0);
}

#[tokio::test]
async fn a_malformed_header_is_refused_and_nothing_runs() {
    let service = Service::with_chaos().await;
    let fingerprint = service.preview().await;
    let (http, _, body) = service.told(fingerprint.confirm_in_chaos("dealy=1")).await;
    assert_eq!(
        (http, &body["error"]),
        (400, &Value::from("chaos_malformed"))
    );
    assert_eq!(service.count(&fingerprint).await, 0);
}

#[tokio::test]
async fn without_the_option_the_header_means_nothing() {
    let service = Service::start(Options::default()).await;
    let fingerprint = service.preview().await;
    let told = service
        .told(fingerprint.confirm_in_chaos("panic-before"))
        .await;
    assert_eq!(said(&told), (201, "completed"));
}
