//! Replies of many messages, and of more than is kept.

use std::time::Duration;

use counterfoil_core::engine::LeaseTime;
use http_body_util::BodyExt;

use super::*;

#[tokio::test]
async fn a_stream_within_the_limit_is_replayed_message_by_message() {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |_, _| async {
        Ok(reply(&["one", "two", "", "four"]))
    });
    let fingerprint = world.fingerprint().await;
    let first = send(service.clone(), confirm(&fingerprint)).await;
    let again = send(service, confirm(&fingerprint)).await;
    assert_eq!(
        (first.word(), again.word()),
        ("completed", "already_completed")
    );
    assert_eq!(again.body, first.body);
    assert_eq!(again.trailers, first.trailers);
    let expected: Vec<u8> = ["one", "two", "", "four"]
        .iter()
        .flat_map(|text| frame(0, &(*text).to_owned().encode_to_vec()))
        .collect();
    assert_eq!((&again.body[..], count(&runs)), (&expected[..], 1));
}

fn small(world: &World) -> GrpcLayer {
    GrpcLayer::new().with_method(PATH, gate(world).with_max_result(16))
}

#[tokio::test]
async fn a_reply_past_the_limit_reaches_its_first_caller_whole_and_a_retry_is_told() {
    let world = World::new();
    let runs = counter();
    let text = "a long receipt of many words";
    let service = wrapped(&small(&world), &runs, move |attempt, _| async move {
        attempt.set_result_ref("R-17")?;
        Ok(reply(&[text, text]))
    });
    let fingerprint = world.fingerprint().await;
    let first = send(service.clone(), confirm(&fingerprint)).await;
    let one = frame(0, &text.to_owned().encode_to_vec());
    assert_eq!(first.body, [&one[..], &one[..]].concat());
    assert_eq!((first.code(), first.word()), (Code::Ok, "completed"));
    assert_eq!(first.trailers.as_ref().unwrap()["x-sum-bin"], "AP8");
    let again = send(service, confirm(&fingerprint)).await;
    assert_eq!(
        (again.code(), again.word()),
        (Code::AlreadyExists, "already_completed")
    );
    let told = again.info().metadata;
    assert_eq!(
        (told["executed"].as_str(), told["result_ref"].as_str()),
        ("yes", "R-17")
    );
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn the_trailers_of_a_reply_past_the_limit_wait_for_the_commit() {
    let world = World::new();
    let held = counterfoil_testkit::Gate::new();
    world
        .store
        .next_complete(counterfoil_testkit::Fault::HoldBefore(held.clone()));
    let text = "a long receipt of many words";
    let service = wrapped(&small(&world), &counter(), move |_, _| async move {
        Ok(reply(&[text]))
    });
    let fingerprint = world.fingerprint().await;
    let response = service.oneshot(confirm(&fingerprint)).await.unwrap();
    let mut body = response.into_body();
    let data = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(data, frame(0, &text.to_owned().encode_to_vec()));
    held.reached().await;
    let early = tokio::time::timeout(Duration::from_millis(50), body.frame()).await;
    assert!(early.is_err(), "the trailers came before the commit");
    held.open();
    let trailers = body
        .frame()
        .await
        .unwrap()
        .unwrap()
        .into_trailers()
        .unwrap();
    assert_eq!(trailers["grpc-status"], "0");
    assert_eq!(trailers["counterfoil-status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn a_slow_stream_is_handed_on_and_told_at_its_end() {
    let world = World::new();
    let service = wrapped(&layer(&world), &counter(), |_, _| async {
        let mut steps = frames(&["one"]);
        steps.push(Step::Wait(Duration::from_secs(15)));
        steps.extend(frames(&["two"]));
        steps.push(Step::Trailers(ok()));
        Ok(scripted(steps))
    });
    let fingerprint = world.fingerprint().await;
    let began = tokio::time::Instant::now();
    let response = service.oneshot(confirm(&fingerprint)).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(11));
    let got = read(response).await;
    assert_eq!(got.trailers.unwrap()["counterfoil-status"], "completed");
    assert_eq!(world.status(&fingerprint).await, "already_completed");
}

#[tokio::test]
async fn a_stream_past_the_limit_that_breaks_off_ends_with_what_stands() {
    for end in [|| Step::Fail, || Step::Panic] {
        let world = World::new();
        let service = wrapped(&small(&world), &counter(), move |_, _| async move {
            let mut steps = frames(&["a long receipt of many words"]);
            steps.push(end());
            Ok(scripted(steps))
        });
        let fingerprint = world.fingerprint().await;
        let got = send(service, confirm(&fingerprint)).await;
        let trailers = got.trailers.as_ref().unwrap();
        assert_eq!(trailers["counterfoil-status"], "outcome_unknown");
        assert_eq!(got.code(), Code::FailedPrecondition);
        assert_eq!(world.status(&fingerprint).await, "outcome_unknown");
    }
}

#[tokio::test]
async fn a_reader_that_goes_away_leaves_the_end_to_be_stored() {
    let world = World::new();
    let text = "a long receipt of many words";
    let service = wrapped(&small(&world), &counter(), move |_, _| async move {
        Ok(reply(&[text; 40]))
    });
    let fingerprint = world.fingerprint().await;
    let response = service.oneshot(confirm(&fingerprint)).await.unwrap();
    drop(response);
    world
        .counterfoil
        .drain(Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(world.status(&fingerprint).await, "already_completed");
}

/// A reply of a message a second, without an end.
fn endless() -> Response<Script> {
    let second = Duration::from_secs(1);
    let steps = (0..100_000).flat_map(|_| {
        let mut steps = frames(&["a long receipt of many words"]);
        steps.push(Step::Wait(second));
        steps
    });
    scripted(steps.collect())
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_nothing_is_cut_off_and_the_operation_ends_without_it() {
    let world = World::new();
    let text = "a long receipt of many words";
    let service = wrapped(&small(&world), &counter(), move |_, _| async move {
        Ok(reply(&[text; 40]))
    });
    let fingerprint = world.fingerprint().await;
    let began = tokio::time::Instant::now();
    let response = service.oneshot(confirm(&fingerprint)).await.unwrap();
    let drained = world.counterfoil.drain(Duration::from_secs(300)).await;
    drained.expect("the operation ends");
    assert!(began.elapsed() < Duration::from_secs(65));
    assert_eq!(world.status(&fingerprint).await, "already_completed");
    // What it finds when it does read is a reply that broke off.
    let mut body = response.into_body();
    let mut messages = 0;
    let end = loop {
        match body.frame().await {
            Some(Ok(frame)) if frame.is_data() => messages += 1,
            other => break other,
        }
    };
    assert!(messages < 40);
    assert!(end.expect("no clean end").is_err());
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_slow_and_reads_gets_all_of_it() {
    let hour = Duration::from_secs(3600);
    let time = LeaseTime::for_downstream(hour, Duration::ZERO, Duration::ZERO);
    let world = World::with(|gate| gate.with_lease_time(time));
    let text = "a long receipt of many words";
    // Ten messages are at hand when the reply is handed on.
    let layer = GrpcLayer::new().with_method(PATH, gate(&world).with_max_result(9 * 35));
    let service = wrapped(&layer, &counter(), move |_, _| async move {
        Ok(reply(&[text; 40]))
    });
    let fingerprint = world.fingerprint().await;
    let response = service.oneshot(confirm(&fingerprint)).await.unwrap();
    let mut body = response.into_body();
    let mut messages = 0;
    let trailers = loop {
        tokio::time::sleep(Duration::from_secs(20)).await;
        match body.frame().await.unwrap().unwrap().into_trailers() {
            Ok(trailers) => break trailers,
            Err(_) => messages += 1,
        }
    };
    assert_eq!(messages, 40);
    assert_eq!(trailers["grpc-status"], "0");
}

#[tokio::test(start_paused = true)]
async fn a_reply_without_an_end_that_nobody_reads_is_given_up_with_its_lease() {
    let world = World::new();
    let service = wrapped(&small(&world), &counter(), |_, _| async { Ok(endless()) });
    let fingerprint = world.fingerprint().await;
    let response = service.oneshot(confirm(&fingerprint)).await.unwrap();
    drop(response);
    let drained = world.counterfoil.drain(Duration::from_secs(600)).await;
    drained.expect("the run ends");
    assert_eq!(world.status(&fingerprint).await, "outcome_unknown");
}
