//! What is kept of the first response, and what a retry gets.

mod common;

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use common::{Read, Script, Step, World, confirm, count, counter, read, response, send, wrapped};
use counterfoil_core::engine::Disposition;
use counterfoil_tower::{Body, BoxError, Replay};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

/// A first response, as it is generated.
#[derive(Clone, Debug)]
struct First {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    frames: Vec<Vec<u8>>,
}

impl First {
    fn response(&self) -> Response<Script> {
        let mut response = Response::new(Script::data(self.frames.clone()));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap();
        *response.headers_mut() = self.header_map();
        response
    }

    fn header_map(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(name.as_str()).unwrap();
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }
}

async fn twice(replay: Replay, first: First) -> (Read, Read) {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let runs = counter();
    let layer = world.layer().with_replay(replay);
    let service = wrapped(&layer, &runs, move |attempt, _| {
        let first = first.clone();
        async move {
            if first.status >= 400 {
                attempt.declare(Disposition::Failed);
            }
            Ok::<_, BoxError>(first.response())
        }
    });
    let one = send(service.clone(), confirm(&fingerprint)).await;
    let two = send(service, confirm(&fingerprint)).await;
    assert_eq!(count(&runs), 1);
    (one, two)
}

fn of(status: u16, headers: &[(&str, &str)], body: &str) -> First {
    First {
        status,
        headers: headers
            .iter()
            .map(|(n, v)| ((*n).to_owned(), v.as_bytes().to_vec()))
            .collect(),
        frames: vec![body.as_bytes().to_vec()],
    }
}

#[tokio::test]
async fn an_envelope_has_the_first_status_headers_and_body() {
    let first = of(
        201,
        &[
            ("content-type", "application/json"),
            ("location", "/v1/transfers/1"),
            ("etag", "\"1\""),
            ("content-language", "en"),
            ("cache-control", "public, max-age=600"),
            ("expires", "Fri, 01 Jan 2100 00:00:00 GMT"),
            ("retry-after", "60"),
            ("set-cookie", "a=b"),
            ("x-note", "kept"),
        ],
        r#"{"transfer_id":1,"amount":10.00}"#,
    );
    let (one, two) = twice(Replay::Envelope, first).await;
    assert_eq!((one.status, one.word()), (201, "completed"));
    assert_eq!(one.body, r#"{"transfer_id":1,"amount":10.00}"#);
    assert_eq!(one.header("set-cookie"), "a=b");
    assert_eq!((two.status, two.word()), (201, "already_completed"));
    assert_eq!(two.header("location"), "/v1/transfers/1");
    assert_eq!(two.header("x-note"), "kept");
    assert_eq!(two.header("content-type"), "application/json");
    assert_eq!(two.header("cache-control"), "no-store");
    for dropped in [
        "etag",
        "content-language",
        "expires",
        "retry-after",
        "set-cookie",
        "idempotent-replayed",
    ] {
        assert_eq!(two.header(dropped), "", "{dropped}");
    }
    assert_eq!(
        two.header("counterfoil-operation-id"),
        one.header("counterfoil-operation-id")
    );
    let json = two.json();
    assert_eq!(json["status"], "already_completed");
    assert_eq!(json["executed"], "yes");
    assert_eq!(json["this_call"], "not_run");
    assert_eq!(json["operation_id"], one.header("counterfoil-operation-id"));
    let text = std::str::from_utf8(&two.body).unwrap();
    assert!(
        text.contains(r#""result":{"transfer_id":1,"amount":10.00}"#),
        "{text}"
    );
}

#[tokio::test]
async fn an_envelope_shows_other_bodies_in_base64_and_empty_ones_as_empty() {
    for headers in [
        &[("content-type", "text/plain")][..],
        &[
            ("content-type", "application/json"),
            ("content-encoding", "gzip"),
        ],
        &[],
    ] {
        let (_, two) = twice(Replay::Envelope, of(200, headers, r#"{"a":1}"#)).await;
        let json = two.json();
        assert_eq!(json["result_encoding"], "base64");
        let result = STANDARD.decode(json["result"].as_str().unwrap()).unwrap();
        assert_eq!(result, br#"{"a":1}"#);
        assert_eq!(two.header("content-encoding"), "");
    }
    // A 204 has no body: the envelope stands under 200.
    let (one, two) = twice(Replay::Envelope, of(204, &[], "")).await;
    assert_eq!((one.status, two.status), (204, 200));
    assert_eq!(two.json()["result_encoding"], "empty");
}

#[tokio::test]
async fn small_results_are_results() {
    for body in ["null", "0", "false", "\"\"", "[]"] {
        let first = of(200, &[("content-type", "application/json")], body);
        let (_, two) = twice(Replay::Envelope, first).await;
        let json = two.json();
        assert_eq!(json["result"].to_string(), body);
        assert!(json.get("result_encoding").is_none());
    }
}

#[tokio::test]
async fn a_failure_is_replayed_as_one() {
    let first = of(
        422,
        &[("content-type", "application/json")],
        r#"{"why":"funds"}"#,
    );
    let (one, two) = twice(Replay::Envelope, first).await;
    assert_eq!((one.status, one.word()), (422, "already_failed"));
    assert_eq!((two.status, two.word()), (422, "already_failed"));
    assert_eq!(two.json()["executed"], "no");
    assert_eq!(two.json()["result"]["why"], "funds");
}

#[tokio::test]
async fn a_body_past_the_limit_reaches_its_first_caller_whole_and_a_retry_is_told() {
    for replay in [Replay::Envelope, Replay::Verbatim] {
        let world = World::new();
        let fingerprint = world.fingerprint().await;
        let layer = world.layer().with_max_result(1000).with_replay(replay);
        let sum = HeaderMap::from_iter([(
            HeaderName::from_static("x-sum"),
            HeaderValue::from_static("7"),
        )]);
        let service = wrapped(&layer, &counter(), move |attempt, _| {
            let mut steps: Vec<_> = (0..50_u8)
                .map(|n| Step::Data(vec![n; 100].into()))
                .collect();
            steps.push(Step::Trailers(sum.clone()));
            async move {
                attempt.set_result_ref("T-17")?;
                let mut response = Response::new(Script::new(steps));
                *response.status_mut() = StatusCode::CREATED;
                response
                    .headers_mut()
                    .insert("location", HeaderValue::from_static("/1"));
                Ok::<_, BoxError>(response)
            }
        });
        let one = send(service.clone(), confirm(&fingerprint)).await;
        assert_eq!((one.status, one.word()), (201, "completed"));
        let whole: Vec<u8> = (0..50_u8).flat_map(|n| vec![n; 100]).collect();
        assert_eq!(one.body, whole);
        assert_eq!(one.trailers.unwrap()["x-sum"], "7");

        let two = send(service, confirm(&fingerprint)).await;
        assert_eq!((two.status, two.word()), (201, "already_completed"));
        assert_eq!(two.header("location"), "/1");
        assert_eq!(two.header("idempotent-replayed"), "");
        let json = two.json();
        assert_eq!(json["result_ref"], "T-17");
        assert!(json.get("result").is_none(), "{json}");
    }
}

#[tokio::test]
async fn past_the_limit_done_is_on_record_before_the_body_streams_on() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let layer = world.layer().with_max_result(4);
    let service = wrapped(&layer, &counter(), |_, _| async {
        let steps = [Step::Data("12345".into()), Step::Hang];
        Ok::<_, BoxError>(Response::new(Script::new(steps)))
    });
    let response = service.oneshot(confirm(&fingerprint)).await.unwrap();
    assert_eq!(world.status(&fingerprint).await, "already_completed");
    let mut body = response.into_body();
    let frame = body.frame().await.unwrap().unwrap();
    assert_eq!(frame.into_data().unwrap(), "12345");
}

#[tokio::test(start_paused = true)]
async fn a_capture_time_without_an_end_keeps_what_ends() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let layer = world.layer().with_capture_time(Duration::MAX);
    let service = wrapped(&layer, &counter(), |_, _| async { response(200, "said") });
    let told = send(service, confirm(&fingerprint)).await;
    assert_eq!((told.word(), &told.body[..]), ("completed", &b"said"[..]));
}

#[tokio::test]
async fn frames_without_bytes_that_never_end_are_handed_on_after_the_capture_time() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let layer = world.layer().with_capture_time(Duration::from_millis(50));
    let service = wrapped(&layer, &counter(), |_, _| async {
        Ok::<_, BoxError>(Response::new(common::Empties))
    });
    let response = service.oneshot(confirm(&fingerprint)).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(world.status(&fingerprint).await, "already_completed");
}

#[tokio::test(start_paused = true)]
async fn a_slow_stream_is_handed_on_after_the_capture_time() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let layer = world.layer().with_capture_time(Duration::from_secs(3));
    let service = wrapped(&layer, &counter(), |_, _| async {
        let tick = || {
            [
                Step::Data("tick ".into()),
                Step::Wait(Duration::from_secs(2)),
            ]
        };
        Ok::<_, BoxError>(Response::new(Script::new(
            [tick(), tick(), tick()].into_iter().flatten(),
        )))
    });
    let began = tokio::time::Instant::now();
    let response = service
        .clone()
        .oneshot(confirm(&fingerprint))
        .await
        .unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(3));
    assert_eq!(world.status(&fingerprint).await, "already_completed");
    assert_eq!(read(response).await.body, "tick tick tick ");
    let told = send(service, confirm(&fingerprint)).await;
    assert_eq!(told.word(), "already_completed");
    assert!(told.json().get("result").is_none());
}

#[tokio::test]
async fn without_the_handlers_word_a_long_or_broken_failure_is_unknown_and_still_whole() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let layer = world.layer().with_max_result(4);
    let service = wrapped(&layer, &counter(), |_, _| async {
        response(500, "a long story")
    });
    let told = send(service, confirm(&fingerprint)).await;
    assert_eq!((told.status, told.word()), (500, "outcome_unknown"));
    assert_eq!(told.body, "a long story");
    assert_eq!(world.status(&fingerprint).await, "outcome_unknown");
}

#[tokio::test]
async fn a_body_that_breaks_off_within_the_limit_is_unknown_and_breaks_for_its_caller() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let service = wrapped(&world.layer(), &counter(), |attempt, _| async move {
        attempt.declare(Disposition::Done);
        let steps = [Step::Data("half".into()), Step::Fail];
        Ok::<_, BoxError>(Response::new(Script::new(steps)))
    });
    let response = service
        .clone()
        .oneshot(confirm(&fingerprint))
        .await
        .unwrap();
    assert_eq!(response.headers()["counterfoil-status"], "outcome_unknown");
    let mut body = response.into_body();
    assert_eq!(
        body.frame().await.unwrap().unwrap().into_data().unwrap(),
        "half"
    );
    let error = body.frame().await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the connection broke");
    assert!(body.frame().await.is_none());
    assert_eq!(
        send(service, confirm(&fingerprint)).await.word(),
        "outcome_unknown"
    );
}

#[tokio::test]
async fn trailers_belong_to_the_first_body_and_an_envelope_has_none() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let service = wrapped(&world.layer(), &counter(), |_, _| async {
        let mut trailers = HeaderMap::new();
        trailers.insert("x-sum", HeaderValue::from_static("7"));
        let steps = [Step::Data("body".into()), Step::Trailers(trailers)];
        let response = Response::builder().header("trailer", "x-sum");
        Ok::<_, BoxError>(response.body(Script::new(steps))?)
    });
    let one = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!(one.trailers.unwrap()["x-sum"], "7");
    let two = send(service, confirm(&fingerprint)).await;
    assert_eq!((&two.trailers, two.header("trailer")), (&None, ""));
    assert_eq!(two.json()["result"], STANDARD.encode("body"));
}

#[tokio::test]
async fn an_accepted_operation_answers_in_progress_until_its_receipt() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let layer = world.layer().with_status_path("/v1/operations/");
    let service = wrapped(&layer, &counter(), |_, _| async { response(202, "queued") });
    let one = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!(
        (one.status, one.word(), &one.body[..]),
        (202, "in_progress", &b"queued"[..])
    );
    let two = send(service, confirm(&fingerprint)).await;
    assert_eq!((two.status, two.word()), (202, "in_progress"));
    let path = format!("/v1/operations/{}", one.header("counterfoil-operation-id"));
    assert_eq!(two.header("location"), path);
    assert_eq!(two.json()["poll_path"], path);
    assert_eq!(two.header("retry-after"), "2");
}

#[tokio::test]
async fn a_result_that_was_stored_without_http_is_replayed_in_the_envelope() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let params = world.gate.read(common::BODY.as_bytes()).unwrap();
    let answer = world
        .gate
        .run(&common::agent(), &fingerprint, params, |_, _| async {
            counterfoil_core::engine::Outcome::done(&17)
        })
        .await;
    assert_eq!(answer.status.as_str(), "completed");
    for replay in [Replay::Envelope, Replay::Verbatim] {
        let layer = world.layer().with_replay(replay);
        let service = wrapped(&layer, &counter(), |_, _| async { response(500, "") });
        let told = send(service, confirm(&fingerprint)).await;
        assert_eq!((told.status, told.word()), (200, "already_completed"));
        assert_eq!(told.json()["result"], 17);
    }
}

#[test]
fn a_body_says_its_size_where_it_is_known() {
    use http_body::Body as _;
    assert_eq!(
        Body::from(Bytes::from_static(b"four")).size_hint().exact(),
        Some(4)
    );
    assert_eq!(Body::new(Body::from("four")).size_hint().exact(), Some(4));
    assert!(Body::default().is_end_stream());
    assert!(!format!("{:?}", Body::from("secret")).contains("secret"));
}
