//! What is refused before anything is claimed.

use super::*;

/// Sends a call, and holds that nothing ran and that no store was asked.
async fn refused(change: impl FnOnce(&mut Request<Body>)) -> Got {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world).with_max_body(512), &runs, |_, _| async {
        Ok(reply(&["paid"]))
    });
    let mut request = confirm(&world.fingerprint().await);
    change(&mut request);
    let got = send(service, request).await;
    assert_eq!((count(&runs), world.asked()), (0, 0));
    got
}

async fn with_body(body: impl Into<Body>) -> Got {
    let body = body.into();
    refused(|request| *request.body_mut() = body).await
}

fn named(got: &Got) -> (Code, String, String, String) {
    let info = got.info();
    let member = |name: &str| info.metadata.get(name).cloned().unwrap_or_default();
    (
        got.code(),
        info.reason.clone(),
        member("reason"),
        member("field"),
    )
}

fn invalid(reason: &str, field: &str) -> (Code, String, String, String) {
    let status = "PARAMS_INVALID".to_owned();
    (Code::InvalidArgument, status, reason.into(), field.into())
}

#[tokio::test]
async fn a_frame_that_is_cut_is_named_and_nothing_runs() {
    let whole = frame(0, &order().encode_to_vec());
    for end in [1, 4, 5, whole.len() - 1] {
        let got = with_body(whole.slice(..end)).await;
        assert_eq!(named(&got), invalid("malformed", "grpc-frame"), "{end}");
    }
    let got = with_body(Body::default()).await;
    assert_eq!(named(&got), invalid("missing_member", "grpc-frame"));
}

#[tokio::test]
async fn two_messages_on_a_unary_call_are_named_and_nothing_runs() {
    let one = frame(0, &order().encode_to_vec());
    let got = with_body(Bytes::from([&one[..], &one[..]].concat())).await;
    assert_eq!(named(&got), invalid("given_twice", "grpc-frame"));
}

#[tokio::test]
async fn a_compressed_message_is_named_with_what_is_taken_instead() {
    let got = with_body(frame(1, &order().encode_to_vec())).await;
    let (code, status, reason, field) = named(&got);
    assert_eq!(code, Code::Unimplemented);
    assert_eq!(status, "PARAMS_INVALID");
    assert_eq!(
        (reason.as_str(), field.as_str()),
        ("unsupported_media", "grpc-encoding")
    );
    assert_eq!(got.metadata["grpc-accept-encoding"], "identity");
}

#[tokio::test]
async fn a_message_that_is_none_or_has_a_field_that_the_method_does_not_know_is_refused() {
    let got = with_body(frame(0, b"\xff\xff\xff")).await;
    assert_eq!(named(&got), invalid("syntax", ""));
    let mut longer = order().encode_to_vec();
    // Field 3, a number.
    longer.extend_from_slice(b"\x18\x07");
    let got = with_body(frame(0, &longer)).await;
    assert_eq!(named(&got), invalid("unknown_member", ""));
}

#[tokio::test]
async fn what_the_decoder_refuses_is_named_as_it_says() {
    let mut zero = order();
    zero.amount = 0;
    let got = with_body(frame(0, &zero.encode_to_vec())).await;
    assert_eq!(named(&got), invalid("invalid_value", "/amount"));
}

#[tokio::test]
async fn what_is_no_grpc_in_protobuf_is_refused_with_415() {
    for media_type in [
        "application/json",
        "application/grpc+json",
        "application/grpc-web",
    ] {
        let got = refused(|request| {
            let media_type = HeaderValue::from_static(media_type);
            request.headers_mut().insert("content-type", media_type);
        })
        .await;
        assert_eq!(got.http, 415, "{media_type}");
        assert_eq!(named(&got), invalid("unsupported_media", "content-type"));
    }
    let got = refused(|request| *request.method_mut() = http::Method::PUT).await;
    assert_eq!(got.http, 415);
}

#[tokio::test]
async fn a_message_over_the_limit_is_resource_exhausted() {
    let got = with_body(frame(0, &[0; 600])).await;
    assert_eq!(
        (got.code(), got.word()),
        (Code::ResourceExhausted, "body_too_large")
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_that_does_not_arrive_in_time_is_not_waited_for() {
    let got = with_body(Body::new(Script::new([Step::Hang]))).await;
    assert_eq!(
        (got.code(), got.word()),
        (Code::DeadlineExceeded, "body_timeout")
    );
}

#[tokio::test]
async fn without_a_subject_or_with_no_or_two_or_a_forged_fingerprint_nothing_is_read() {
    let word = async |change: fn(&mut Request<Body>)| {
        let got = refused(|request| {
            // The message is not one either: nobody gets to see that.
            *request.body_mut() = frame(0, b"\xff").into();
            change(request);
        });
        let got = got.await;
        (got.code(), got.word().to_owned())
    };
    let said = |code, word: &str| (code, word.to_owned());
    assert_eq!(
        word(|request| request.extensions_mut().clear()).await,
        said(Code::Unauthenticated, "unauthenticated")
    );
    assert_eq!(
        word(|request| drop(request.headers_mut().remove("counterfoil-fingerprint"))).await,
        said(Code::FailedPrecondition, "fingerprint_required")
    );
    assert_eq!(
        word(|request| {
            let one = request.headers()["counterfoil-fingerprint"].clone();
            request.headers_mut().append("counterfoil-fingerprint", one);
        })
        .await,
        said(Code::InvalidArgument, "credentials_differ")
    );
    assert_eq!(
        word(|request| {
            let bytes = request.headers()["counterfoil-fingerprint"].as_bytes();
            let mut forged = bytes.to_vec();
            let last = forged.len() - 2;
            forged[last] = if forged[last] == b'A' { b'B' } else { b'A' };
            let forged = HeaderValue::from_bytes(&forged).unwrap();
            request
                .headers_mut()
                .insert("counterfoil-fingerprint", forged);
        })
        .await,
        said(Code::PermissionDenied, "fingerprint_invalid")
    );
}

#[tokio::test]
async fn other_params_than_those_of_the_fingerprint_are_params_changed() {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |_, _| async { Ok(reply(&["paid"])) });
    let mut request = confirm(&world.fingerprint().await);
    let mut other = order();
    other.amount = 11;
    *request.body_mut() = frame(0, &other.encode_to_vec()).into();
    let got = send(service, request).await;
    assert_eq!(
        (got.code(), got.word()),
        (Code::FailedPrecondition, "params_changed")
    );
    assert_eq!(count(&runs), 0);
}

#[tokio::test]
async fn one_message_in_two_spellings_is_one_operation() {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |_, _| async { Ok(reply(&["paid"])) });
    let fingerprint = world.fingerprint().await;
    let first = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!(first.word(), "completed");
    let mut request = confirm(&fingerprint);
    // The payee in front of the amount.
    *request.body_mut() = frame(0, b"\x12\x03bob\x08\x0a").into();
    let second = send(service, request).await;
    assert_eq!((second.word(), count(&runs)), ("already_completed", 1));
}

#[tokio::test]
async fn a_key_names_the_operation_where_the_gate_takes_keys() {
    let world = World::new();
    let runs = counter();
    let layer = GrpcLayer::new().with_method(PATH, GrpcGate::by_key(world.gate.clone(), transfer));
    let service = wrapped(&layer, &runs, |_, _| async { Ok(reply(&["paid"])) });
    let send = async |key: Option<&'static str>, order: &Order| {
        let mut request = call(frame(0, &order.encode_to_vec()));
        if let Some(key) = key {
            let key = HeaderValue::from_static(key);
            request.headers_mut().insert("idempotency-key", key);
        }
        let got = send(service.clone(), request).await;
        (got.code(), got.word().to_owned())
    };
    let key = Some("8e03978e-40d5-43dd-bc93-6894a57f9324");
    let mut other = order();
    other.amount = 11;
    let said = |code, word: &str| (code, word.to_owned());
    assert_eq!(
        send(None, &order()).await,
        said(Code::InvalidArgument, "key_required")
    );
    assert_eq!(
        send(Some("short"), &order()).await,
        said(Code::InvalidArgument, "key_invalid")
    );
    assert_eq!(send(key, &order()).await, said(Code::Ok, "completed"));
    assert_eq!(
        send(key, &order()).await,
        said(Code::Ok, "already_completed")
    );
    assert_eq!(
        send(key, &other).await,
        said(Code::InvalidArgument, "key_reused")
    );
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_fingerprint_is_refused_where_the_gate_takes_keys() {
    let world = World::new();
    let runs = counter();
    let layer = GrpcLayer::new().with_method(PATH, GrpcGate::by_key(world.gate.clone(), transfer));
    let service = wrapped(&layer, &runs, |_, _| async { Ok(reply(&["paid"])) });
    let fingerprint = world.fingerprint().await;
    let key = "8e03978e-40d5-43dd-bc93-6894a57f9324";
    for (key, word) in [(Some(key), "credentials_differ"), (None, "key_required")] {
        let mut request = confirm(&fingerprint);
        if let Some(key) = key {
            let key = HeaderValue::from_static(key);
            request.headers_mut().insert("idempotency-key", key);
        }
        let got = send(service.clone(), request).await;
        assert_eq!((got.code(), got.word()), (Code::InvalidArgument, word));
    }
    assert_eq!(count(&runs), 0);
}

#[tokio::test]
async fn a_key_that_is_none_is_named_and_nothing_runs() {
    let world = World::new();
    let runs = counter();
    let layer = GrpcLayer::new().with_method(PATH, GrpcGate::by_key(world.gate.clone(), transfer));
    let service = wrapped(&layer, &runs, |_, _| async { Ok(reply(&["paid"])) });
    let long = "k".repeat(256);
    let one = "8e03978e-40d5-43dd-bc93-6894a57f9324";
    let both = format!("{one},{one}");
    for (keys, reason) in [
        (vec![""], "empty"),
        (vec!["\"\""], "empty"),
        (vec!["schlüssel-schlüssel"], "not_ascii"),
        (vec![long.as_str()], "too_long"),
        (vec![both.as_str()], "list"),
        (vec!["\"one-key-of-many\", \"another-of-many\""], "list"),
        (vec!["one-key-of-many;q=1"], "parameters"),
        (vec![one, one], "given_twice"),
    ] {
        let mut request = call(frame(0, &order().encode_to_vec()));
        for key in &keys {
            let key = HeaderValue::from_bytes(key.as_bytes()).unwrap();
            request.headers_mut().append("idempotency-key", key);
        }
        let got = send(service.clone(), request).await;
        let (code, status, said, field) = named(&got);
        assert_eq!(
            (code, status.as_str()),
            (Code::InvalidArgument, "KEY_INVALID")
        );
        assert_eq!((said.as_str(), field.as_str()), (reason, "idempotency-key"));
    }
    assert_eq!((count(&runs), world.asked()), (0, 0));
}

#[tokio::test]
async fn another_subjects_fingerprint_is_told_as_a_forged_one() {
    let other = counterfoil_core::Subject::new("acme", "agent-8").unwrap();
    let got = refused(|request| drop(request.extensions_mut().insert(other))).await;
    assert_eq!(
        (got.code(), got.word()),
        (Code::PermissionDenied, "fingerprint_invalid")
    );
    let told = got.info().metadata;
    assert!(!told.contains_key("operation_id"));
    assert!(!got.metadata.contains_key("counterfoil-operation-id"));
}

#[tokio::test]
async fn a_gate_takes_the_credential_of_its_kind_and_overlooks_the_other() {
    let world = World::new();
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, |_, _| async { Ok(reply(&["paid"])) });
    let fingerprint = world.fingerprint().await;
    for (key, word) in [
        ("8e03978e-40d5-43dd-bc93-6894a57f9324", "completed"),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "already_completed"),
    ] {
        let mut request = confirm(&fingerprint);
        let key = HeaderValue::from_static(key);
        request.headers_mut().insert("idempotency-key", key);
        assert_eq!(send(service.clone(), request).await.word(), word);
    }
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_default_that_is_written_out_is_refused_unless_the_gate_drops_what_it_does_not_need() {
    // The order, and its payee a second time, the first one empty.
    let body = || frame(0, b"\x08\x0a\x12\x00\x12\x03bob");
    let got = with_body(body()).await;
    assert_eq!(named(&got), invalid("unknown_member", ""));
    let world = World::new();
    let layer = GrpcLayer::new().with_method(PATH, gate(&world).dropping_unknown_fields());
    let runs = counter();
    let service = wrapped(&layer, &runs, |_, _| async { Ok(reply(&["paid"])) });
    let fingerprint = world.fingerprint().await;
    send(service.clone(), confirm(&fingerprint)).await;
    let mut request = confirm(&fingerprint);
    *request.body_mut() = body().into();
    let got = send(service, request).await;
    assert_eq!((got.word(), count(&runs)), ("already_completed", 1));
}
