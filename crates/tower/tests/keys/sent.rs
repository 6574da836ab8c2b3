//! How a key is sent, and with what.

use counterfoil_core::{Clock, OperationId, idempotency::KeyRules};
use counterfoil_testkit::TokioClock;

use super::*;

#[tokio::test]
async fn a_safe_request_passes_untouched_whatever_its_key_is() {
    let (world, runs) = (World::new(), counter());
    let service = service(&layer(&world), &runs, |request| async move {
        assert!(request.extensions().get::<Attempt>().is_none());
        assert_eq!(request.headers()["accept-encoding"], "gzip");
        let keys = request.headers().get_all("idempotency-key");
        assert!(
            keys.iter().all(HeaderValue::is_sensitive),
            "no log shows it"
        );
        let keys = keys.iter().count();
        let mut response = Response::new(request.into_body());
        response.headers_mut().insert("x-keys", keys.into());
        Ok(response)
    });
    let rarer = [Method::TRACE, Method::from_bytes(b"QUERY").unwrap()];
    let methods = [Method::GET, Method::HEAD, Method::OPTIONS];
    for method in methods.into_iter().chain(rarer) {
        for keys in [&[][..], &[KEY], &["no key, surely"], &[KEY, KEY]] {
            let mut request = Request::builder()
                .method(method.clone())
                .uri("/transfers")
                .header("accept-encoding", "gzip");
            for key in keys {
                request = request.header("idempotency-key", *key);
            }
            let told = send(&service, request.body(Body::from("not JSON")).unwrap()).await;
            assert_eq!((told.status, &told.body[..]), (200, &b"not JSON"[..]));
            assert_eq!(told.header("x-keys"), keys.len().to_string());
            assert_eq!(told.word(), "");
        }
    }
    assert_eq!(world.asked(), 0, "no store is asked");
}

#[tokio::test]
async fn what_is_no_key_is_refused_by_name_before_anything_else() {
    let (world, runs) = (World::new(), counter());
    let service = service(&layer(&world), &runs, created);
    let long = "k".repeat(256);
    let values: [(&[&[u8]], &str); 10] = [
        (&[KEY.as_bytes(), KEY.as_bytes()], "given_twice"),
        (&[KEY.as_bytes(), OTHER.as_bytes()], "given_twice"),
        (&[b""], "empty"),
        (&[b"\"\""], "empty"),
        (&[b"\"aaaaaaaaaaaaaaaa\", \"bbbbbbbbbbbbbbbb\""], "list"),
        (&[b"aaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbb"], "list"),
        (&["schlüssel-schlüssel".as_bytes()], "not_ascii"),
        (&[b"aaaaaaaaaaaaaaaa\tb"], "control_character"),
        (&[long.as_bytes()], "too_long"),
        (&[b"\"aaaaaaaaaaaaaaaa\";v=1"], "parameters"),
    ];
    for (fields, reason) in values {
        let mut request = builder(Method::POST, "/transfers");
        for field in fields {
            request = request.header("idempotency-key", HeaderValue::from_bytes(field).unwrap());
        }
        // The body is not looked at: it isn't JSON.
        let told = send(&service, request.body(Body::from("{")).unwrap()).await;
        assert_problem(&told, 400, "key_invalid");
        assert_eq!(told.json()["reason"], reason);
        assert_eq!(told.json()["field"], "idempotency-key");
        assert_eq!(told.json()["executed"], "unknown");
    }
    let told = send(&service, post("fifteen-letters")).await;
    assert_problem(&told, 400, "key_invalid");
    assert_eq!(told.json()["reason"], "too_short");
    let none = builder(Method::POST, "/transfers").body(Body::from("{"));
    assert_problem(&send(&service, none.unwrap()).await, 400, "key_required");
    let mut nobody = post("");
    nobody.extensions_mut().clear();
    assert_problem(&send(&service, nobody).await, 401, "unauthenticated");
    assert_eq!((count(&runs), world.asked()), (0, 0));
}

#[tokio::test]
async fn what_is_no_request_is_refused_by_name_and_takes_no_key() {
    let (world, runs) = (World::new(), counter());
    let service = service(&layer(&world).with_max_body(64), &runs, created);
    let long = format!(r#"{{"amount":10,"payee":"{}"}}"#, "b".repeat(64));
    for (body, content_type, http, code, reason) in [
        ("{", "application/json", 422, "params_invalid", "syntax"),
        (
            "amount=10",
            "application/json",
            422,
            "params_invalid",
            "syntax",
        ),
        (
            r#"{"amount":1,"amount":1,"payee":"b"}"#,
            "application/json",
            422,
            "params_invalid",
            "duplicate_member",
        ),
        (
            r#"{"amount":1,"payee":"b","fee":1}"#,
            "application/json",
            422,
            "params_invalid",
            "unknown_member",
        ),
        (
            BODY,
            "text/plain",
            422,
            "params_invalid",
            "unsupported_media",
        ),
        (
            BODY,
            "application/json; charset=utf-16",
            422,
            "params_invalid",
            "unsupported_media",
        ),
        (&long, "application/json", 413, "body_too_large", ""),
    ] {
        let mut request = post(KEY);
        *request.body_mut() = Body::from(body.as_bytes().to_vec());
        let content_type = HeaderValue::from_static(content_type);
        request.headers_mut().insert("content-type", content_type);
        let told = send(&service, request).await;
        assert_problem(&told, http, code);
        assert_eq!(told.json()["reason"].as_str().unwrap_or_default(), reason);
    }
    assert_eq!((count(&runs), world.asked()), (0, 0));
    assert_eq!(send(&service, post(KEY)).await.word(), "completed");
}

#[tokio::test]
async fn where_no_key_is_needed_a_request_without_one_runs_each_time() {
    let (world, runs) = (World::new(), counter());
    let service = service(&layer(&world).optional(), &runs, created);
    let bare = || {
        let request = builder(Method::POST, "/transfers");
        request.body(Body::from(BODY)).unwrap()
    };
    let [one, two] = [send(&service, bare()).await, send(&service, bare()).await];
    assert_eq!((one.word(), two.word()), ("completed", "completed"));
    let id = "counterfoil-operation-id";
    assert_ne!(one.header(id), two.header(id));
    assert_eq!(count(&runs), 2);
    for _ in 0..2 {
        send(&service, post(KEY)).await;
    }
    assert_eq!(count(&runs), 3);
    assert_problem(&send(&service, post("")).await, 400, "key_invalid");
}

#[tokio::test]
async fn a_key_may_stand_in_the_body_and_is_no_param_then() {
    let (world, runs) = (World::new(), counter());
    let layer = layer(&world).with_body_member("request_id");
    let service = service(&layer, &runs, created);
    let with = |member: &str, header: Option<&str>| {
        let mut request = builder(Method::POST, "/transfers");
        if let Some(key) = header {
            request = request.header("idempotency-key", key);
        }
        let body = format!(r#"{{"amount":10,"payee":"bob"{member}}}"#);
        request.body(Body::from(body.into_bytes())).unwrap()
    };
    let in_body = format!(r#","request_id":"{KEY}""#);
    assert_eq!(
        send(&service, with(&in_body, None)).await.word(),
        "completed"
    );
    // In the header, in the body, in both: one key, and one request.
    for request in [
        with(&in_body, None),
        with("", Some(KEY)),
        with(&in_body, Some(KEY)),
    ] {
        assert_eq!(send(&service, request).await.word(), "already_completed");
    }
    let differ = send(&service, with(&in_body, Some(OTHER))).await;
    assert_problem(&differ, 400, "credentials_differ");
    for (member, code, reason) in [
        ("", "key_required", ""),
        (r#","request_id":"""#, "key_invalid", "empty"),
        (r#","request_id":7"#, "key_invalid", "wrong_type"),
        (r#","request_id":null"#, "key_invalid", "wrong_type"),
        (
            r#","request_id":"aaaaaaaaaaaaaaaa\u0000""#,
            "key_invalid",
            "control_character",
        ),
        (
            r#","request_id":"aaaaaaaaaaaaaaaa\u001f""#,
            "key_invalid",
            "control_character",
        ),
        (
            r#","request_id":"schlüssel-schlüssel""#,
            "key_invalid",
            "not_ascii",
        ),
        (r#","request_id":"short""#, "key_invalid", "too_short"),
    ] {
        let told = send(&service, with(member, None)).await;
        assert_problem(&told, 400, code);
        assert_eq!(
            told.json()["reason"].as_str().unwrap_or_default(),
            reason,
            "{member}"
        );
        if code == "key_invalid" {
            assert_eq!(told.json()["field"], "/request_id", "{member}");
        }
    }
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn where_any_body_is_taken_what_is_not_json_is_bound_byte_for_byte() {
    let (world, runs) = (World::new(), counter());
    let gate = world.counterfoil.raw_gate(Scope::new("files.put"));
    let layer = KeyLayer::of_any_body(gate.build().unwrap());
    let service = service(&layer, &runs, |request| async {
        let attempt = request.extensions().get::<Attempt>().cloned();
        let params = attempt.expect("the layer adds it").params::<RawParams>();
        let is_json = params.expect("a raw gate's").as_json().is_some();
        let (_, body) = request.into_parts();
        let status = if is_json { 200 } else { 201 };
        Ok(Response::builder().status(status).body(body)?)
    });
    let put = |key: &str,
               kind: Option<&'static str>,
               coding: Option<&'static str>,
               body: &'static str| {
        let mut request = Request::put("/file")
            .extension(agent())
            .header("idempotency-key", key);
        for (name, value) in [("content-type", kind), ("content-encoding", coding)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request.body(Body::from(body)).unwrap()
    };
    let (text, json) = (Some("text/plain"), Some("application/json"));
    let first = send(&service, put(KEY, text, None, "a=1")).await;
    assert_eq!((first.status, &first.body[..]), (201, &b"a=1"[..]));
    let again = send(&service, put(KEY, text, None, "a=1")).await;
    assert_eq!(again.word(), "already_completed");
    for other in [
        put(KEY, text, None, "a=1 "),
        put(KEY, text, None, ""),
        put(KEY, None, None, "a=1"),
        put(KEY, Some("application/x-www-form-urlencoded"), None, "a=1"),
        put(KEY, text, Some("gzip"), "a=1"),
    ] {
        assert_problem(&send(&service, other).await, 422, "key_reused");
    }
    let first = send(&service, put(OTHER, json, None, r#"{"a":1,"b":2}"#)).await;
    assert_eq!(
        (first.status, &first.body[..]),
        (200, &br#"{"a":1,"b":2}"#[..])
    );
    let spelled = put(
        OTHER,
        Some("Application/JSON; charset=utf-8"),
        None,
        r#"{ "b":2, "a":1 }"#,
    );
    assert_eq!(send(&service, spelled).await.word(), "already_completed");
    for other in [
        put(
            OTHER,
            Some("application/merge-patch+json"),
            None,
            r#"{"a":1,"b":2}"#,
        ),
        put(OTHER, text, None, r#"{"a":1,"b":2}"#),
    ] {
        assert_problem(&send(&service, other).await, 422, "key_reused");
    }
    let empty = "an-empty-file-of-its-own";
    let first = send(&service, put(empty, json, None, "")).await;
    assert_eq!((first.status, &first.body[..]), (201, &b""[..]));
    let other = put(empty, json, None, "{}");
    assert_problem(&send(&service, other).await, 422, "key_reused");
    let torn = put("one-more-key-of-its-own", json, None, "{");
    assert_problem(&send(&service, torn).await, 422, "params_invalid");
    let mut two = put("one-more-key-of-its-own", text, None, "a=1");
    two.headers_mut()
        .append("content-type", HeaderValue::from_static("text/html"));
    assert_problem(&send(&service, two).await, 422, "params_invalid");
    assert_eq!(count(&runs), 3);
}

#[tokio::test]
async fn a_fingerprint_beside_a_key_or_in_its_place_is_refused_and_runs_nothing() {
    let (world, runs) = (World::new(), counter());
    let fingerprint = world.fingerprint().await;
    let with = |key: Option<&str>, body: &'static str| {
        let mut request =
            builder(Method::POST, "/transfers").header("counterfoil-fingerprint", &fingerprint);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        request.body(Body::from(body)).unwrap()
    };
    let in_body: &str = r#"{"amount":10,"payee":"bob","request_id":"a-key-of-the-body"}"#;
    let layers = [
        layer(&world),
        layer(&world).optional(),
        layer(&world).with_body_member("request_id"),
    ];
    for layer in layers {
        let service = service(&layer, &runs, created);
        let both = send(&service, with(Some(KEY), BODY)).await;
        assert_problem(&both, 400, "credentials_differ");
        assert_eq!(both.json()["executed"], "unknown");
        let alone = send(&service, with(None, BODY)).await;
        assert_problem(&alone, 400, "key_required");
    }
    let layer = layer(&world).with_body_member("request_id");
    let by_member = service(&layer, &runs, created);
    let both = send(&by_member, with(None, in_body)).await;
    assert_problem(&both, 400, "credentials_differ");
    assert_eq!((count(&runs), world.asked()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_key_of_another_time_is_named_where_no_record_stands() {
    let day = Duration::from_secs(86_400);
    let rules = KeyRules::default().with_max_age(day);
    let (world, runs) = (World::with(|gate| gate.with_key_rules(rules)), counter());
    let service = service(&layer(&world), &runs, created);
    let now = TokioClock::default().now();
    let made_at = |time| OperationId::mint(time).to_string();
    for (key, reason) in [
        (
            made_at(now + KeyRules::MAX_AHEAD + Duration::from_secs(5)),
            "ahead_of_time",
        ),
        (made_at(now - day), "too_old"),
        (KEY.to_owned(), "not_uuid_v7"),
    ] {
        let told = send(&service, post(&key)).await;
        assert_problem(&told, 400, "key_invalid");
        assert_eq!(told.json()["reason"], reason);
        assert_eq!(told.json()["field"], "idempotency-key", "{reason}");
        assert_eq!(told.json()["executed"], "unknown", "{reason}");
    }
    assert_eq!(count(&runs), 0);
    let good = made_at(now);
    assert_eq!(send(&service, post(&good)).await.word(), "completed");
}
