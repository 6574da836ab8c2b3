//! Many calls at once, methods that don't end, and stores that are away.

use std::time::Duration;

use counterfoil_core::engine::LeaseTime;
use counterfoil_testkit::{Fault, Method};
use tokio::sync::Semaphore;

use super::*;

const MANY: usize = 100;

/// Sends a hundred equal calls; the method goes on only when all others have their answers.
async fn crowd(layer: GrpcLayer, world: &World, text: &'static str) -> (Vec<Got>, usize) {
    let runs = counter();
    let go = Arc::new(Semaphore::new(0));
    let service = wrapped(&layer, &runs, {
        let go = Arc::clone(&go);
        move |_, _| {
            let go = Arc::clone(&go);
            async move {
                go.acquire().await?.forget();
                Ok(reply(&[text; 3]))
            }
        }
    });
    let fingerprint = world.fingerprint().await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..MANY {
        calls.spawn(send(service.clone(), confirm(&fingerprint)));
    }
    let mut all = Vec::new();
    while let Some(got) = calls.join_next().await {
        all.push(got.unwrap());
        if all.len() == MANY - 1 {
            go.add_permits(1);
        }
    }
    (all, count(&runs))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_equal_calls_at_once_are_one_run() {
    let limits: [usize; 2] = [1 << 20, 16];
    for limit in limits {
        let world = World::new();
        let layer = GrpcLayer::new().with_method(PATH, gate(&world).with_max_result(limit));
        let (all, runs) = crowd(layer, &world, "a long receipt of many words").await;
        assert_eq!(runs, 1);
        let mut words: Vec<_> = all.iter().map(|got| (got.code(), got.word())).collect();
        assert_eq!(words.pop(), Some((Code::Ok, "completed")));
        for told in words {
            assert_eq!(told, (Code::FailedPrecondition, "in_progress"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_method_that_hangs_is_unknown_after_its_time_and_its_duplicates_never_wait() {
    let time = LeaseTime::for_downstream(Duration::from_secs(4), Duration::ZERO, Duration::ZERO);
    let world = World::with(|gate| gate.with_lease_time(time));
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |_, _| {
        std::future::pending::<Result<Response<Script>, _>>()
    });
    let fingerprint = world.fingerprint().await;
    let first = tokio::spawn(send(service.clone(), confirm(&fingerprint)));
    for (after, word) in [(1, "in_progress"), (6, "outcome_unknown")] {
        tokio::time::sleep(Duration::from_secs(after)).await;
        let began = tokio::time::Instant::now();
        let got = send(service.clone(), confirm(&fingerprint)).await;
        assert_eq!((got.code(), got.word()), (Code::FailedPrecondition, word));
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
    first.abort();
    assert_eq!(count(&runs), 1);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_is_unavailable_and_nothing_runs() {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |_, _| async { Ok(reply(&["paid"])) });
    let fingerprint = world.fingerprint().await;
    world.store.always(Method::Acquire, Some(Fault::NotApplied));
    let got = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!((got.code(), got.word()), (Code::Unavailable, "unavailable"));
    let told = got.info().metadata;
    assert_eq!(
        (told["executed"].as_str(), told["retryable"].as_str()),
        ("unknown", "true")
    );
    let wait = {
        use tonic_types::StatusExt;
        got.status().unwrap().get_details_retry_info().unwrap()
    };
    assert!(wait.retry_delay > Some(Duration::ZERO));
    assert_eq!(count(&runs), 0);
    world.store.always(Method::Acquire, None);
    let got = send(service, confirm(&fingerprint)).await;
    assert_eq!((got.word(), count(&runs)), ("completed", 1));
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_reply_is_lost_runs_once() {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |_, _| async { Ok(reply(&["paid"])) });
    let fingerprint = world.fingerprint().await;
    world.store.next_acquire(Fault::ReplyLost);
    world.store.next_complete(Fault::ReplyLost);
    for word in ["completed", "already_completed"] {
        assert_eq!(
            send(service.clone(), confirm(&fingerprint)).await.word(),
            word
        );
    }
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn two_layers_nested_in_one_call_leave_two_right_records() {
    let world = World::new();
    let fees = world
        .counterfoil
        .gate(counterfoil_core::Scope::new("payments.fee"));
    let fees = GrpcGate::by_key(fees.build().unwrap(), transfer);
    let (inner_runs, outer_runs) = (counter(), counter());
    let fee = wrapped(
        &GrpcLayer::new().with_method(PATH, fees),
        &inner_runs,
        |attempt, _| async move {
            assert_eq!(attempt.scope().as_str(), "payments.fee");
            Ok(reply(&["the fee"]))
        },
    );
    let service = wrapped(&layer(&world), &outer_runs, move |attempt, request| {
        assert_eq!(attempt.scope().as_str(), "payments.transfer");
        fee.clone().oneshot(request)
    });
    let fingerprint = world.fingerprint().await;
    let mut ids = Vec::new();
    for word in ["completed", "already_completed"] {
        let mut request = confirm(&fingerprint);
        let key = HeaderValue::from_static("8e03978e-40d5-43dd-bc93-6894a57f9324");
        request.headers_mut().insert("idempotency-key", key);
        let got = send(service.clone(), request).await;
        assert_eq!((got.code(), got.word()), (Code::Ok, word));
        ids.push(got.metadata["counterfoil-operation-id"].clone());
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!((count(&inner_runs), count(&outer_runs)), (1, 1));
}
