//! What runs, what it means, and what a retry gets.

use counterfoil_core::engine::Disposition;
use http_body_util::BodyExt;
use tonic::metadata::MetadataValue;

use super::*;

#[tokio::test]
async fn a_retry_gets_the_first_reply_with_its_metadata_and_its_trailers() {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |_, _| async {
        let mut response = reply(&["paid"]);
        let secret = HeaderValue::from_static("session=1");
        response.headers_mut().insert("set-cookie", secret);
        for part in ["AP8", "AQI", "AP8"] {
            let part = HeaderValue::from_static(part);
            response.headers_mut().append("x-part-bin", part);
        }
        Ok(response)
    });
    let fingerprint = world.fingerprint().await;
    let first = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!((first.code(), first.word()), (Code::Ok, "completed"));
    for _ in 0..2 {
        let again = send(service.clone(), confirm(&fingerprint)).await;
        assert_eq!(again.word(), "already_completed");
        assert_eq!(again.body, first.body);
        assert_eq!(again.trailers, first.trailers);
        assert_eq!(again.trailers.as_ref().unwrap()["x-sum-bin"], "AP8");
        assert_eq!(again.metadata["x-receipt"], "r-1");
        let parts: Vec<_> = again.metadata.get_all("x-part-bin").iter().collect();
        assert_eq!(parts, ["AP8", "AQI", "AP8"]);
        assert_eq!(again.metadata["content-type"], "application/grpc");
        assert_eq!(again.metadata["idempotent-replayed"], "true");
        assert_eq!(
            again.metadata["counterfoil-operation-id"],
            first.metadata["counterfoil-operation-id"]
        );
        assert!(!again.metadata.contains_key("set-cookie"));
    }
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn the_method_sees_what_was_read_and_no_encodings() {
    let world = World::new();
    let layer = GrpcLayer::new().with_method(PATH, gate(&world).dropping_unknown_fields());
    let service = wrapped(
        &layer,
        &counter(),
        |attempt, request: Request<Body>| async move {
            for name in ["grpc-encoding", "grpc-accept-encoding", "accept-encoding"] {
                assert!(!request.headers().contains_key(name), "{name}");
            }
            assert_eq!(request.headers()["x-trace"], "1");
            let fingerprint = &request.headers()["counterfoil-fingerprint"];
            assert!(fingerprint.is_sensitive());
            assert_eq!(attempt.params::<Transfer>().unwrap().payee, "bob");
            let body = request.into_body().collect().await?.to_bytes();
            assert_eq!(body, frame(0, &order().encode_to_vec()));
            Ok(reply(&["paid"]))
        },
    );
    let mut request = confirm(&world.fingerprint().await);
    let headers = request.headers_mut();
    for (name, value) in [
        ("grpc-encoding", "gzip"),
        ("grpc-accept-encoding", "gzip"),
        ("accept-encoding", "gzip"),
        ("x-trace", "1"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let mut longer = order().encode_to_vec();
    longer.extend_from_slice(b"\x18\x07");
    *request.body_mut() = frame(0, &longer).into();
    assert_eq!(send(service, request).await.word(), "completed");
}

#[tokio::test]
async fn an_error_without_a_word_is_unknown_to_its_own_caller_and_to_every_retry() {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |_, _| async {
        Ok(failure(tonic::Status::unavailable("try again")))
    });
    let fingerprint = world.fingerprint().await;
    for _ in 0..2 {
        let got = send(service.clone(), confirm(&fingerprint)).await;
        assert_eq!(
            (got.code(), got.word()),
            (Code::FailedPrecondition, "outcome_unknown")
        );
        assert_eq!(got.info().metadata["executed"], "unknown");
        assert!(!got.status().unwrap().message().contains("try again"));
    }
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_declared_failure_is_told_as_it_was_with_its_details() {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |attempt, _| async move {
        attempt.declare(Disposition::Failed);
        let mut status = tonic::Status::with_details(
            Code::FailedPrecondition,
            "no funds: 0 €",
            Bytes::from_static(b"\x08\x09"),
        );
        let balance = MetadataValue::from_static("0");
        status.metadata_mut().insert("x-balance", balance);
        Ok(failure(status))
    });
    let fingerprint = world.fingerprint().await;
    for _ in 0..2 {
        let got = send(service.clone(), confirm(&fingerprint)).await;
        assert_eq!(got.word(), "already_failed");
        let status = got.status().unwrap();
        assert_eq!(status.code(), Code::FailedPrecondition);
        assert_eq!(status.message(), "no funds: 0 €");
        assert_eq!(status.details(), b"\x08\x09");
        assert_eq!(got.metadata["x-balance"], "0");
    }
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn what_was_declared_not_executed_is_told_as_it_was_and_runs_again() {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |attempt, _| async move {
        if attempt.number() == 1 {
            attempt.declare(Disposition::NotExecuted);
            return Ok(failure(tonic::Status::unavailable("nothing was sent")));
        }
        Ok(reply(&["paid"]))
    });
    let fingerprint = world.fingerprint().await;
    let first = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!(
        (first.code(), first.word()),
        (Code::Unavailable, "not_executed")
    );
    assert_eq!(first.status().unwrap().message(), "nothing was sent");
    let second = send(service, confirm(&fingerprint)).await;
    assert_eq!(
        (second.code(), second.word(), count(&runs)),
        (Code::Ok, "completed", 2)
    );
}

#[tokio::test]
async fn a_reply_without_an_end_or_a_status_is_unknown_whatever_the_word_was() {
    let ends: [fn() -> Response<Script>; 7] = [
        || {
            // Two final statuses: one reader takes the first, another the last.
            let mut trailers = ok();
            let other = HeaderValue::from_static("13");
            trailers.append("grpc-status", other);
            let mut steps = frames(&["paid"]);
            steps.push(Step::Trailers(trailers));
            scripted(steps)
        },
        || {
            let mut response = reply(&["paid"]);
            let other = HeaderValue::from_static("13");
            response.headers_mut().insert("grpc-status", other);
            response
        },
        || {
            // A status in the head, and then no end.
            let mut response = scripted(vec![Step::Fail]);
            let ok = HeaderValue::from_static("0");
            response.headers_mut().insert("grpc-status", ok);
            response
        },
        || scripted(frames(&["paid"])),
        || scripted(vec![Step::Data(frame(0, b"")), Step::Fail]),
        || scripted(vec![Step::Panic]),
        || {
            let mut response = reply(&["paid"]);
            *response.status_mut() = http::StatusCode::BAD_GATEWAY;
            response
        },
    ];
    for end in ends {
        let world = World::new();
        let service = wrapped(&layer(&world), &counter(), move |attempt, _| async move {
            attempt.declare(Disposition::Done);
            Ok(end())
        });
        let fingerprint = world.fingerprint().await;
        let got = send(service, confirm(&fingerprint)).await;
        assert_eq!(
            (got.code(), got.word()),
            (Code::FailedPrecondition, "outcome_unknown")
        );
        assert_eq!(world.status(&fingerprint).await, "outcome_unknown");
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_changes_nothing() {
    let world = World::new();
    let (began, mut begun) = tokio::sync::mpsc::channel(1);
    let go = Arc::new(tokio::sync::Notify::new());
    let service = wrapped(&layer(&world), &counter(), {
        let go = Arc::clone(&go);
        move |_, _| {
            let (began, go) = (began.clone(), Arc::clone(&go));
            async move {
                began.send(()).await?;
                go.notified().await;
                Ok(reply(&["paid"]))
            }
        }
    });
    let fingerprint = world.fingerprint().await;
    let caller = tokio::spawn(send(service.clone(), confirm(&fingerprint)));
    let begins = tokio::time::timeout(std::time::Duration::from_secs(5), begun.recv());
    begins.await.expect("the method begins").unwrap();
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    let meanwhile = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!(
        (meanwhile.code(), meanwhile.word()),
        (Code::FailedPrecondition, "in_progress")
    );
    go.notify_one();
    world
        .counterfoil
        .drain(std::time::Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(world.status(&fingerprint).await, "already_completed");
}

#[tokio::test]
async fn what_stands_is_not_a_methods_to_forge() {
    for limit in [1 << 20, 1] {
        let world = World::new();
        let layer = GrpcLayer::new().with_method(PATH, gate(&world).with_max_result(limit));
        let service = wrapped(&layer, &counter(), |_, _| async {
            let mut response = reply(&["paid"]);
            for (name, value) in [
                ("counterfoil-status", "already_completed"),
                ("counterfoil-operation-id", "x"),
                ("idempotent-replayed", "true"),
            ] {
                let value = HeaderValue::from_static(value);
                response.headers_mut().append(name, value.clone());
                response.headers_mut().append(name, value);
            }
            Ok(response)
        });
        let got = send(service, confirm(&world.fingerprint().await)).await;
        assert_eq!(got.word(), "completed");
        let trailers = got.trailers.unwrap();
        let told = |name: &str| -> Vec<HeaderValue> {
            let head = got.metadata.get_all(name).iter();
            head.chain(trailers.get_all(name)).cloned().collect()
        };
        assert_eq!(told("counterfoil-status"), ["completed"]);
        assert_eq!(told("counterfoil-operation-id").len(), 1);
        assert_ne!(told("counterfoil-operation-id"), ["x"]);
        assert_eq!(told("idempotent-replayed"), [] as [&str; 0]);
    }
}

#[tokio::test]
async fn only_the_methods_that_are_named_are_guarded() {
    let world = World::new();
    let service = layer(&world).layer(service_fn(|request: Request<Body>| async move {
        assert!(request.extensions().get::<Attempt>().is_none());
        assert!(request.headers().contains_key("grpc-accept-encoding"));
        Ok::<_, BoxError>(reply(&["a list"]))
    }));
    let mut request = call(Body::default());
    *request.uri_mut() = "/payments.v1.Payments/List".parse().unwrap();
    let takes = HeaderValue::from_static("gzip");
    request.headers_mut().insert("grpc-accept-encoding", takes);
    let got = send(service, request).await;
    assert_eq!((got.code(), got.word()), (Code::Ok, ""));
    assert_eq!(world.asked(), 0);
}
