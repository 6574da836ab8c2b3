//! What is read from a request, and in which order it is refused.

mod common;

use std::time::Duration;

use axum::{
    Router,
    routing::{post, post_service},
};
use common::{
    BODY, Script, Step, World, agent, confirm, confirm_at, count, counter, response, send, wrapped,
};
use counterfoil_core::{Scope, Subject};
use counterfoil_tower::{Body, ConfirmLayer, Confirmed, PreviewService};
use http::{HeaderName, HeaderValue, Request};
use serde::{Deserialize, Serialize};

async fn told(world: &World, request: Request<Body>) -> (u16, String, Option<String>) {
    let runs = counter();
    let service = wrapped(&world.layer(), &runs, |_, _| async { response(201, "{}") });
    let read = send(service, request).await;
    assert_eq!(count(&runs), usize::from(read.word() == "completed"));
    let field = (read.word() != "completed")
        .then(|| read.json()["field"].as_str().map(str::to_owned))
        .flatten();
    (read.status, read.word().to_owned(), field)
}

async fn word(world: &World, request: Request<Body>) -> (u16, String) {
    let (status, word, _) = told(world, request).await;
    (status, word)
}

fn is(status: u16, word: &str) -> (u16, String) {
    (status, word.to_owned())
}

#[tokio::test]
async fn a_request_without_a_subject_is_refused_and_the_store_is_not_asked() {
    let world = World::new();
    let mut request = confirm(&world.fingerprint().await);
    request.extensions_mut().remove::<Subject>();
    assert_eq!(word(&world, request).await, is(401, "unauthenticated"));
    assert_eq!(world.asked(), 0);
}

#[tokio::test]
async fn the_subject_can_come_from_a_function() {
    let world = World::new();
    let mut request = confirm(&world.fingerprint().await);
    request.extensions_mut().clear();
    request
        .headers_mut()
        .insert("x-user", HeaderValue::from_static("agent-7"));
    let layer = world.layer().with_subject(|parts| {
        let user = parts.headers.get("x-user")?.to_str().ok()?;
        Subject::new("acme", user).ok()
    });
    let service = wrapped(&layer, &counter(), |attempt, _| async move {
        assert_eq!(attempt.subject(), &agent());
        response(200, "")
    });
    assert_eq!(send(service, request).await.word(), "completed");
}

#[tokio::test]
async fn the_credential_comes_from_the_header_or_from_the_body_or_from_both() {
    for (header, body) in [(true, false), (false, true), (true, true)] {
        let world = World::new();
        let fingerprint = world.fingerprint().await;
        let mut request = confirm(&fingerprint);
        if !header {
            request.headers_mut().remove("counterfoil-fingerprint");
        }
        if body {
            let text = format!(r#"{{"fingerprint":"{fingerprint}","amount":10,"payee":"bob"}}"#);
            *request.body_mut() = Body::from(text.into_bytes());
        }
        assert_eq!(
            word(&world, request).await,
            is(201, "completed"),
            "{header} {body}"
        );
    }
}

#[tokio::test]
async fn two_credentials_that_differ_are_refused() {
    let world = World::new();
    let (one, other) = (world.fingerprint().await, world.fingerprint().await);
    let body = format!(r#"{{"fingerprint":"{other}","amount":10,"payee":"bob"}}"#);
    let request = confirm_at("/", &one, body.into_bytes());
    assert_eq!(word(&world, request).await, is(400, "credentials_differ"));
    let mut request = confirm(&one);
    let again = HeaderValue::from_str(&one).unwrap();
    request
        .headers_mut()
        .append("counterfoil-fingerprint", again);
    assert_eq!(word(&world, request).await, is(400, "credentials_differ"));
    assert_eq!(world.asked(), 0);
}

#[tokio::test]
async fn no_credential_is_told_to_preview_first() {
    let world = World::new();
    let mut request = confirm("");
    request.headers_mut().remove("counterfoil-fingerprint");
    assert_eq!(word(&world, request).await, is(428, "fingerprint_required"));
    assert_eq!(world.asked(), 0);
}

#[tokio::test]
async fn an_odd_credential_is_mistyped_and_a_forged_one_is_invalid() {
    let world = World::new();
    for odd in [&b""[..], b"fp1", b"\xff\xfe", b"fp2.k1.x.y"] {
        let mut request = confirm("");
        let value = HeaderValue::from_bytes(odd).unwrap();
        request
            .headers_mut()
            .insert("counterfoil-fingerprint", value);
        assert_eq!(
            word(&world, request).await,
            is(400, "fingerprint_mistyped"),
            "{odd:?}"
        );
    }
    let body = r#"{"fingerprint":7,"amount":10,"payee":"bob"}"#;
    let mut request = confirm_at("/", "", body);
    request.headers_mut().remove("counterfoil-fingerprint");
    assert_eq!(word(&world, request).await, is(400, "fingerprint_mistyped"));

    let foreign = World::new().fingerprint().await;
    assert_eq!(
        word(&world, confirm(&foreign)).await,
        is(403, "fingerprint_invalid")
    );
    assert_eq!(world.asked(), 0);
}

#[tokio::test]
async fn anothers_fingerprint_is_invalid_even_with_params_that_are_wrong() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    for body in [BODY, r#"{"amount":"many"}"#] {
        let mut request = confirm_at("/", &fingerprint, body);
        request
            .extensions_mut()
            .insert(Subject::new("acme", "mallory").unwrap());
        assert_eq!(word(&world, request).await, is(403, "fingerprint_invalid"));
    }
    assert_eq!(world.asked(), 0);
}

#[tokio::test]
async fn params_are_validated_before_the_claim_and_named() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    for (body, field) in [
        (r#"{"amount":"10","payee":"bob"}"#, Some("/amount")),
        (r#"{"amount":10,"payee":"bob","tip":1}"#, Some("/tip")),
        (
            r#"{"amount":10,"amount":10,"payee":"bob"}"#,
            Some("/amount"),
        ),
        ("{", None),
    ] {
        let (status, word, named) = told(&world, confirm_at("/", &fingerprint, body)).await;
        assert_eq!((status, word.as_str()), (422, "params_invalid"), "{body}");
        if field.is_some() {
            assert_eq!(named.as_deref(), field, "{body}");
        }
    }
    assert_eq!(world.asked(), 0);
}

#[tokio::test]
async fn changed_params_are_told_before_and_after_the_run() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let changed = || confirm_at("/", &fingerprint, r#"{"amount":11,"payee":"bob"}"#);
    assert_eq!(word(&world, changed()).await, is(422, "params_changed"));
    assert_eq!(
        word(&world, confirm(&fingerprint)).await,
        is(201, "completed")
    );
    assert_eq!(word(&world, changed()).await, is(422, "params_changed"));
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_without_the_store() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let layer = world.layer().with_max_body(64);
    let long = format!(r#"{{"amount":10,"payee":"{}"}}"#, "b".repeat(64));
    let announced = Body::from(long.clone().into_bytes());
    let in_frames = Script::data(long.as_bytes().chunks(16).map(<[u8]>::to_vec));
    let endless = Script::new([Step::Data(long.into_bytes().into()), Step::Hang]);
    for body in [announced, Body::new(in_frames), Body::new(endless)] {
        let runs = counter();
        let service = wrapped(&layer, &runs, |_, _| async { response(200, "") });
        let read = send(service, confirm_at("/", &fingerprint, body)).await;
        assert_eq!((read.status, read.word()), (413, "body_too_large"));
        assert_eq!(count(&runs), 0);
    }
    assert_eq!(world.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_too_slowly_is_refused_before_the_claim() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let drip = |pauses: usize| {
        let mut steps = vec![Step::Data(BODY.into())];
        steps.extend((0..pauses).map(|_| Step::Wait(Duration::from_secs(1))));
        confirm_at("/", &fingerprint, Body::new(Script::new(steps)))
    };
    assert_eq!(word(&world, drip(31)).await, is(408, "body_timeout"));
    let hang = Body::new(Script::new([Step::Hang]));
    let hang = confirm_at("/", &fingerprint, hang);
    assert_eq!(word(&world, hang).await, is(408, "body_timeout"));
    let broken = Body::new(Script::new([Step::Data(BODY.into()), Step::Fail]));
    let broken = confirm_at("/", &fingerprint, broken);
    assert_eq!(word(&world, broken).await, is(408, "body_timeout"));
    assert_eq!(world.asked(), 0);
    assert_eq!(word(&world, drip(29)).await, is(201, "completed"));
}

#[tokio::test]
async fn the_handler_gets_the_same_bytes_under_the_media_type_that_they_were_read_as() {
    let world = World::new();
    let spaced = " {\"payee\" : \"bob\",\n\"amount\": 1e1 }\t";
    for named in [true, false] {
        let fingerprint = world.fingerprint().await;
        let mut request = confirm_at("/", &fingerprint, spaced);
        request
            .headers_mut()
            .insert("accept-encoding", HeaderValue::from_static("gzip"));
        request
            .headers_mut()
            .insert("grpc-accept-encoding", HeaderValue::from_static("gzip"));
        request
            .headers_mut()
            .insert("x-other", HeaderValue::from_static("kept"));
        if !named {
            request.headers_mut().remove("content-type");
        }
        let service = wrapped(&world.layer(), &counter(), move |_, request| async move {
            let headers = request.headers();
            assert_eq!(headers["content-type"], "application/json");
            assert_eq!(headers["x-other"], "kept");
            assert!(!headers.contains_key("accept-encoding"));
            assert!(!headers.contains_key("grpc-accept-encoding"));
            assert!(headers["counterfoil-fingerprint"].is_sensitive());
            let body = http_body_util::BodyExt::collect(request.into_body()).await?;
            assert_eq!(body.to_bytes(), spaced);
            response(200, "")
        });
        assert_eq!(send(service, request).await.word(), "completed");
    }
}

#[tokio::test]
async fn another_media_type_is_refused_by_name() {
    let world = World::new();
    let mut request = confirm(&world.fingerprint().await);
    request
        .headers_mut()
        .insert("content-type", HeaderValue::from_static("text/plain"));
    let (status, word, field) = told(&world, request).await;
    assert_eq!((status, word.as_str()), (422, "params_invalid"));
    assert_eq!(field.as_deref(), Some("content-type"));
}

#[tokio::test]
async fn repeat_of_sent_along_at_confirm_is_no_param() {
    let world = World::new();
    let body = r#"{"amount":10,"payee":"bob","repeat_of":"x"}"#;
    let request = confirm_at("/", &world.fingerprint().await, body);
    assert_eq!(word(&world, request).await, is(201, "completed"));
}

#[derive(Clone, Serialize, Deserialize)]
struct Move {
    account: String,
    amount: u64,
    #[serde(default)]
    mode: Option<String>,
}

/// Preview and confirm on routes with a path parameter, both reading the query and a header.
fn routes() -> Router {
    let world = World::new();
    let gate = world
        .counterfoil
        .gate::<Move>(Scope::new("accounts.move"))
        .build()
        .unwrap();
    let bound = [HeaderName::from_static("x-region")];
    let preview = PreviewService::new(gate.clone()).with_bound_headers(bound.clone());
    let confirm = ConfirmLayer::new(gate).with_bound_headers(bound);
    let handler = post(|Confirmed(it): Confirmed<Move>| async move {
        format!("{} {} {:?}", it.account, it.amount, it.mode)
    });
    Router::new()
        .route("/accounts/{account}/preview", post_service(preview))
        .route("/accounts/{account}/confirm", handler.route_layer(confirm))
}

async fn ask(
    routes: &Router,
    uri: &str,
    fingerprint: Option<&str>,
    region: &[&str],
    body: &str,
) -> common::Read {
    let mut request = confirm_at(
        uri,
        fingerprint.unwrap_or_default(),
        body.to_owned().into_bytes(),
    );
    if fingerprint.is_none() {
        request.headers_mut().remove("counterfoil-fingerprint");
    }
    for value in region {
        request
            .headers_mut()
            .append("x-region", HeaderValue::from_str(value).unwrap());
    }
    send(routes.clone(), request).await
}

const AMOUNT: &str = r#"{"amount":5}"#;

async fn previewed(routes: &Router, uri: &str, region: &[&str]) -> String {
    let read = ask(routes, uri, None, region, AMOUNT).await;
    assert_eq!(read.status, 200, "{read:?}");
    read.json()["fingerprint"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn path_values_query_members_and_declared_headers_are_bound() {
    let routes = routes();
    let fp = previewed(&routes, "/accounts/a%201/preview?mode=fast", &["eu", "x"]).await;
    let fp = Some(fp.as_str());
    for (uri, region) in [
        ("/accounts/a2/confirm?mode=fast", &["eu", "x"][..]),
        ("/accounts/a%201/confirm?mode=slow", &["eu", "x"]),
        ("/accounts/a%201/confirm", &["eu", "x"]),
        ("/accounts/a%201/confirm?mode=fast", &["us", "x"]),
        ("/accounts/a%201/confirm?mode=fast", &["eu"]),
        ("/accounts/a%201/confirm?mode=fast", &["eu, x"]),
        ("/accounts/a%201/confirm?mode=fast", &[]),
    ] {
        let read = ask(&routes, uri, fp, region, AMOUNT).await;
        assert_eq!(
            (read.status, read.word()),
            (422, "params_changed"),
            "{uri} {region:?}"
        );
    }
    let read = ask(
        &routes,
        "/accounts/a%201/confirm?mode=f%61st",
        fp,
        &["eu", "x"],
        AMOUNT,
    )
    .await;
    assert_eq!((read.status, read.word()), (200, "completed"));
    assert_eq!(read.body, r#"a 1 5 Some("fast")"#);
}

#[tokio::test]
async fn one_name_in_two_places_is_400_and_named() {
    let routes = routes();
    let fp = previewed(&routes, "/accounts/a/preview?mode=fast", &[]).await;
    for (uri, body, field) in [
        ("/accounts/a/confirm?mode=fast&mode=fast", AMOUNT, "/mode"),
        (
            "/accounts/a/confirm?mode=fast&account=a",
            AMOUNT,
            "/account",
        ),
        (
            "/accounts/a/confirm?mode=fast",
            r#"{"amount":5,"account":"a"}"#,
            "/account",
        ),
        (
            "/accounts/a/confirm?mode=fast",
            r#"{"amount":5,"mode":null}"#,
            "/mode",
        ),
    ] {
        let read = ask(&routes, uri, Some(&fp), &[], body).await;
        assert_eq!(
            (read.status, read.word()),
            (400, "params_invalid"),
            "{uri} {body}"
        );
        assert_eq!(read.json()["field"], field);
    }
    let uri = "/accounts/a/preview?mode=fast&mode=fast";
    assert_eq!(ask(&routes, uri, None, &[], AMOUNT).await.status, 400);
}

#[tokio::test]
async fn a_query_member_that_no_param_knows_or_that_decodes_in_two_ways_is_invalid() {
    let routes = routes();
    let fp = previewed(&routes, "/accounts/a/preview", &[]).await;
    for (query, field) in [
        ("extra=1", "/extra"),
        ("mode=%ff", "/mode"),
        ("fingerprint=x", "/fingerprint"),
    ] {
        let uri = format!("/accounts/a/confirm?{query}");
        let read = ask(&routes, &uri, Some(&fp), &[], AMOUNT).await;
        assert_eq!(
            (read.status, read.word()),
            (422, "params_invalid"),
            "{query}"
        );
        assert_eq!(read.json()["field"], field);
    }
    let read = ask(&routes, "/accounts/%ff/confirm", Some(&fp), &[], AMOUNT).await;
    assert_eq!((read.status, read.word()), (422, "params_invalid"));
}

#[tokio::test]
async fn an_empty_body_has_no_params_and_path_values_may_come_from_a_function() {
    #[derive(Serialize, Deserialize)]
    struct Close {
        account: String,
    }
    let world = World::new();
    let gate = world
        .counterfoil
        .gate::<Close>(Scope::new("accounts.close"))
        .build()
        .unwrap();
    let values = |parts: &http::request::Parts| {
        let account = parts.uri.path().rsplit('/').next().unwrap_or_default();
        vec![("account".to_owned(), account.to_owned())]
    };
    let preview = PreviewService::new(gate.clone()).with_path_values(values);
    let layer = ConfirmLayer::new(gate).with_path_values(values);
    let request = |uri: &str, fp: &str| {
        let mut request = confirm_at(uri, fp, "");
        request.headers_mut().remove("content-type");
        request
    };
    let fp = send(preview, request("/close/a1", "")).await.json();
    let fp = fp["fingerprint"].as_str().unwrap().to_owned();
    let service = wrapped(&layer, &counter(), |_, request| async move {
        assert!(!request.headers().contains_key("content-type"));
        response(204, "")
    });
    let other = send(service.clone(), request("/close/a2", &fp)).await;
    assert_eq!(other.word(), "params_changed");
    assert_eq!(
        send(service, request("/close/a1", &fp)).await.word(),
        "completed"
    );
}
