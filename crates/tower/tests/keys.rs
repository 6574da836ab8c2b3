//! Requests under idempotency keys.

mod common;

use std::{
    sync::{Arc, atomic::AtomicUsize, atomic::Ordering},
    time::Duration,
};

use common::{BODY, Read, World, agent, count, counter, read, response};
use counterfoil_core::{
    Scope,
    answer::Wording,
    engine::{Attempt, Disposition, Gate, RawParams},
};
use counterfoil_tower::{Body, BoxError, CancelService, Form, KeyLayer, Replay, StatusService};
use http::{HeaderName, HeaderValue, Method, Request, Response, header, request};
use tower::{Layer, Service, ServiceExt, service_fn};

const KEY: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";
const OTHER: &str = "\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"";

fn layer(world: &World) -> KeyLayer {
    KeyLayer::new(world.gate.clone())
}

fn builder(method: Method, uri: &str) -> request::Builder {
    Request::builder()
        .method(method)
        .uri(uri)
        .extension(agent())
        .header("content-type", "application/json")
}

fn post(key: &str) -> Request<Body> {
    with_body(key, BODY)
}

fn with_body(key: &str, body: &'static str) -> Request<Body> {
    let request = builder(Method::POST, "/transfers").header("idempotency-key", key);
    request.body(Body::from(body)).unwrap()
}

/// A service whose handler counts its runs; `handler` makes the response.
fn service<F, Fut>(
    layer: &KeyLayer,
    runs: &Arc<AtomicUsize>,
    handler: F,
) -> impl Service<Request<Body>, Response = Response<Body>, Error = BoxError, Future: Send>
+ Clone
+ use<F, Fut>
where
    F: Fn(Request<Body>) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<Response<Body>, BoxError>> + Send + 'static,
{
    let runs = Arc::clone(runs);
    layer.layer(service_fn(move |request: Request<Body>| {
        runs.fetch_add(1, Ordering::SeqCst);
        handler(request)
    }))
}

async fn created(_: Request<Body>) -> Result<Response<Body>, BoxError> {
    let mut response = response(201, r#"{"id":"t-1"}"#)?;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::LOCATION, HeaderValue::from_static("/transfers/t-1"));
    headers.append("x-part", HeaderValue::from_static("a"));
    headers.append("x-part", HeaderValue::from_static("b"));
    Ok(response)
}

async fn send<S>(service: &S, request: Request<Body>) -> Read
where
    S: Service<Request<Body>, Response = Response<Body>, Error = BoxError> + Clone,
{
    read(service.clone().oneshot(request).await.unwrap()).await
}

/// Holds an error to its problem details.
#[track_caller]
fn assert_problem(told: &Read, http: u16, code: &str) {
    assert_eq!((told.status, told.word()), (http, code), "{told:?}");
    assert_eq!(told.header("content-type"), "application/problem+json");
    assert_eq!(told.header("cache-control"), "no-store");
    assert_eq!(told.header("idempotent-replayed"), "");
    let json = told.json();
    assert_eq!(json["type"], format!("/docs/problems.md#{code}"));
    assert_eq!(
        (&json["status"], &json["code"]),
        (&http.into(), &code.into())
    );
    for member in ["title", "detail", "executed"] {
        assert!(json[member].is_string(), "{member}: {json}");
    }
    assert!(json["retryable"].is_boolean(), "{json}");
    let id = told.header("counterfoil-operation-id");
    if id.is_empty() {
        assert!(json.get("instance").is_none(), "{json}");
    } else {
        assert_eq!(json["instance"], format!("urn:uuid:{id}"));
        assert_eq!(json["operation_id"], id);
    }
}

#[tokio::test]
async fn a_retry_gets_the_first_response_as_it_was() {
    let (world, runs) = (World::new(), counter());
    let service = service(&layer(&world), &runs, created);
    let first = send(&service, post(KEY)).await;
    assert_eq!((first.status, first.word()), (201, "completed"));
    assert_eq!(first.header("idempotent-replayed"), "");
    for spelling in [KEY.to_owned(), format!("\"{KEY}\"")] {
        let again = send(&service, post(&spelling)).await;
        assert_eq!((again.status, again.word()), (201, "already_completed"));
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.body, first.body);
        for name in ["content-type", "location", "counterfoil-operation-id"] {
            assert_eq!(again.header(name), first.header(name), "{name}");
        }
        let parts: Vec<_> = again.headers.get_all("x-part").iter().collect();
        assert_eq!(parts, ["a", "b"]);
    }
    assert_eq!(count(&runs), 1);
    assert_eq!(send(&service, post(OTHER)).await.word(), "completed");
    assert_eq!(count(&runs), 2, "the key scopes it, never the content");
}

#[tokio::test]
async fn a_safe_request_passes_untouched_whatever_its_key_is() {
    let (world, runs) = (World::new(), counter());
    let service = service(&layer(&world), &runs, |request| async move {
        assert!(request.extensions().get::<Attempt>().is_none());
        assert_eq!(request.headers()["accept-encoding"], "gzip");
        let keys = request.headers().get_all("idempotency-key").iter().count();
        let mut response = Response::new(request.into_body());
        response.headers_mut().insert("x-keys", keys.into());
        Ok(response)
    });
    for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
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
async fn a_key_with_another_request_is_told_so_and_nothing_runs() {
    let (world, runs) = (World::new(), counter());
    let layer = layer(&world).with_bound_headers([HeaderName::from_static("x-region")]);
    let service = service(&layer, &runs, created);
    let at = |method: Method, uri: &str, region: Option<&str>, body: &'static str| {
        let mut request = builder(method, uri).header("idempotency-key", KEY);
        if let Some(region) = region {
            request = request.header("x-region", region);
        }
        request.body(Body::from(body)).unwrap()
    };
    let put = Method::PUT;
    let first = at(put.clone(), "/t/a", Some("eu"), BODY);
    assert_eq!(send(&service, first).await.word(), "completed");
    for other in [
        at(
            put.clone(),
            "/t/a",
            Some("eu"),
            r#"{"amount":11,"payee":"bob"}"#,
        ),
        at(put.clone(), "/t/b", Some("eu"), BODY),
        at(put.clone(), "/t/%61", Some("eu"), BODY),
        at(put.clone(), "/t/a?x=1", Some("eu"), BODY),
        at(put.clone(), "/t/a", Some("us"), BODY),
        at(put.clone(), "/t/a", None, BODY),
        at(Method::PATCH, "/t/a", Some("eu"), BODY),
        at(Method::DELETE, "/t/a", Some("eu"), BODY),
    ] {
        let line = format!("{} {}", other.method(), other.uri());
        let told = send(&service, other).await;
        assert_problem(&told, 422, "key_reused");
        assert_eq!(told.json()["executed"], "unknown", "{line}");
        assert!(told.json().get("state").is_none(), "{line}");
    }
    // Another spelling of the same request is the same request.
    let same = at(
        put,
        "/t/a",
        Some("eu"),
        "{ \"payee\":\"\\u0062ob\", \"amount\":10 }",
    );
    assert_eq!(send(&service, same).await.word(), "already_completed");
    assert_eq!(count(&runs), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_under_way_or_not_known_is_a_conflict_with_a_time_to_wait() {
    let (world, runs) = (World::new(), counter());
    let layer = layer(&world).with_status_path("/v1/operations/");
    let slow = service(&layer, &runs, |request| async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        created(request).await
    });
    let running = tokio::spawn({
        let slow = slow.clone();
        async move { send(&slow, post(KEY)).await.status }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let told = send(&slow, post(KEY)).await;
    assert_problem(&told, 409, "in_progress");
    assert_eq!(told.header("retry-after"), "2");
    assert_eq!(told.json()["retryable"], true);
    assert_eq!(told.json()["executed"], "pending");
    let id = told.header("counterfoil-operation-id");
    assert_eq!(told.json()["poll_path"], format!("/v1/operations/{id}"));
    assert_eq!(running.await.unwrap(), 201);
    assert_eq!(send(&slow, post(KEY)).await.word(), "already_completed");

    let broken = service(&layer, &runs, |_| async { response(500, "") });
    assert_eq!(
        send(&broken, post(OTHER)).await.status,
        500,
        "the handler's own"
    );
    let told = send(&broken, post(OTHER)).await;
    assert_problem(&told, 409, "outcome_unknown");
    assert_eq!(told.header("retry-after"), "30");
    assert_eq!(told.json()["retryable"], false);
    assert_eq!(count(&runs), 2);
}

#[tokio::test]
async fn a_final_failure_is_repeated_and_what_did_nothing_runs_again() {
    let (world, runs) = (World::new(), counter());
    let says = |word, status| {
        service(&layer(&world), &runs, move |request| async move {
            let attempt = request.extensions().get::<Attempt>().cloned();
            attempt.expect("the layer adds it").declare(word);
            response(status, "no funds")
        })
    };
    let failing = says(Disposition::Failed, 402);
    send(&failing, post(KEY)).await;
    let again = send(&failing, post(KEY)).await;
    assert_eq!((again.status, again.word()), (402, "already_failed"));
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(&again.body[..], b"no funds");
    assert_eq!(count(&runs), 1);
    let refusing = says(Disposition::NotExecuted, 503);
    for runs_so_far in [2, 3] {
        assert_eq!(send(&refusing, post(OTHER)).await.status, 503);
        assert_eq!(count(&runs), runs_so_far);
    }
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
    let torn = put("one-more-key-of-its-own", json, None, "{");
    assert_problem(&send(&service, torn).await, 422, "params_invalid");
    let mut two = put("one-more-key-of-its-own", text, None, "a=1");
    two.headers_mut()
        .append("content-type", HeaderValue::from_static("text/html"));
    assert_problem(&send(&service, two).await, 422, "params_invalid");
    assert_eq!(count(&runs), 2);
}

#[tokio::test]
async fn the_status_is_told_by_key_to_its_own_subject_only() {
    let (world, runs) = (World::new(), counter());
    let service = service(&layer(&world), &runs, created);
    let status = StatusService::new(world.counterfoil.clone());
    let ask = async |uri: &str, keys: &[&str]| {
        let mut request = Request::get(uri).extension(agent());
        for key in keys {
            request = request.header("idempotency-key", *key);
        }
        common::send(status.clone(), request.body(Body::default()).unwrap()).await
    };
    let before = ask("/v1/operation", &[KEY]).await;
    assert_eq!((before.status, before.word()), (200, "not_started"));
    let meaning = before.json()["meaning"].clone();
    assert!(
        meaning.as_str().is_some_and(|text| text.contains("key")),
        "{meaning}"
    );
    let id = before.header("counterfoil-operation-id").to_owned();
    let first = send(&service, post(KEY)).await;
    assert_eq!(first.header("counterfoil-operation-id"), id);
    let uri = format!("/v1/operations/{id}");
    for (uri, keys) in [("/v1/operation", &[KEY][..]), (&uri, &[KEY]), (&uri, &[])] {
        let told = ask(uri, keys).await;
        assert_eq!(
            (told.status, told.word()),
            (200, "already_completed"),
            "{uri}"
        );
        assert_eq!(told.json()["result"]["id"], "t-1");
    }
    let differ = ask(&uri, &[OTHER]).await;
    assert_eq!((differ.status, differ.word()), (400, "credentials_differ"));
    let twice = ask("/v1/operation", &[KEY, KEY]).await;
    assert_eq!((twice.status, twice.word()), (400, "key_invalid"));
    let both = Request::get("/v1/operation")
        .extension(agent())
        .header("idempotency-key", KEY)
        .header("counterfoil-fingerprint", "fp1.k1.x.y");
    let both = common::send(status.clone(), both.body(Body::default()).unwrap()).await;
    assert_eq!((both.status, both.word()), (400, "credentials_differ"));
}

#[tokio::test]
async fn what_did_nothing_is_called_off_by_its_key_and_stays_so() {
    let (world, runs) = (World::new(), counter());
    let refusing = service(&layer(&world), &runs, |request| async move {
        let attempt = request.extensions().get::<Attempt>().cloned();
        attempt
            .expect("the layer adds it")
            .declare(Disposition::NotExecuted);
        response(503, "")
    });
    let cancel = CancelService::new(world.counterfoil.clone());
    let call_off = async || {
        let request = Request::post("/v1/operation/cancel")
            .extension(agent())
            .header("idempotency-key", KEY);
        common::send(cancel.clone(), request.body(Body::default()).unwrap()).await
    };
    let before = call_off().await;
    assert_eq!((before.status, before.word()), (404, "not_found"));
    send(&refusing, post(KEY)).await;
    let told = call_off().await;
    assert_eq!((told.status, told.word()), (200, "cancelled"));
    let told = send(&refusing, post(KEY)).await;
    assert_problem(&told, 410, "cancelled");
    assert_eq!(told.json()["executed"], "no");
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn what_is_told_can_be_in_the_other_form_the_other_language_and_lead_elsewhere() {
    let (world, runs) = (World::new(), counter());
    let layer = layer(&world)
        .with_wording(Wording::chinese())
        .with_problem_types("https://api.example.org/problems");
    let problems = service(&layer, &runs, |_| async { response(500, "") });
    send(&problems, post(KEY)).await;
    let told = send(&problems, post(KEY)).await.json();
    assert_eq!(
        told["type"],
        "https://api.example.org/problems#outcome_unknown"
    );
    assert!(
        !told["detail"].as_str().unwrap().is_ascii() && !told["title"].as_str().unwrap().is_ascii()
    );
    let for_models = layer
        .with_form(Form::AgentJson)
        .with_replay(Replay::Envelope);
    let envelopes = service(&for_models, &runs, created);
    let told = send(&envelopes, post(KEY)).await;
    assert_eq!((told.status, told.word()), (202, "outcome_unknown"));
    assert_eq!(told.json()["status"], "outcome_unknown");
    send(&envelopes, post(OTHER)).await;
    let told = send(&envelopes, post(OTHER)).await;
    assert_eq!((told.status, told.word()), (201, "already_completed"));
    assert_eq!(told.json()["result"]["id"], "t-1");

    // A gate of fingerprints can tell problems too.
    let confirm = world.layer().with_form(Form::ProblemDetails);
    let confirm = common::wrapped(&confirm, &runs, |_, _| async { response(201, "") });
    let told = common::send(confirm, common::confirm("fp1")).await;
    assert_problem(&told, 400, "fingerprint_mistyped");
}

/// A gate is for one action, whichever credential names its operations.
#[test]
fn a_layer_shows_its_action_and_no_key() {
    let world = World::new();
    let gate: Gate<common::Transfer> = world.gate.clone();
    let shown = format!("{:?}", KeyLayer::new(gate));
    assert!(shown.contains("payments.transfer"), "{shown}");
}
