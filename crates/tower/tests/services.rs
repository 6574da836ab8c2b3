//! Preview, status and cancel.

mod common;

use common::{BODY, World, agent, confirm, confirm_at, counter, response, send, wrapped};
use counterfoil_core::{Subject, Timestamp, answer::Wording};
use counterfoil_tower::{Body, CancelService, PreviewService, StatusService};
use http::{HeaderValue, Request};

fn get(uri: &str) -> Request<Body> {
    Request::get(uri)
        .extension(agent())
        .body(Body::default())
        .unwrap()
}

fn by(uri: &str, fingerprint: &str) -> Request<Body> {
    let mut request = get(uri);
    let value = HeaderValue::from_str(fingerprint).unwrap();
    request
        .headers_mut()
        .insert("counterfoil-fingerprint", value);
    request
}

#[tokio::test(start_paused = true)]
async fn a_preview_hands_out_what_confirm_takes_and_touches_no_store() {
    let world = World::new();
    let preview = PreviewService::new(world.gate.clone())
        .with_summary(|transfer| format!("{} to {}", transfer.amount, transfer.payee));
    let mut request = confirm_at("/preview", "", BODY);
    request.headers_mut().remove("counterfoil-fingerprint");
    let told = send(preview, request).await;
    assert_eq!(told.status, 200);
    assert_eq!(told.header("cache-control"), "no-store");
    assert_eq!(world.asked(), 0);
    let json = told.json();
    assert_eq!(json["summary"], "10 to bob");
    assert_eq!(json["expires_in_s"], 900);
    assert_eq!(json["expires_at"], 1_700_000_900);
    assert_eq!(
        json["operation_id"],
        told.header("counterfoil-operation-id")
    );
    let service = wrapped(&world.layer(), &counter(), |_, _| async {
        response(200, "")
    });
    let done = send(service, confirm(json["fingerprint"].as_str().unwrap())).await;
    assert_eq!(done.word(), "completed");
    assert_eq!(
        json["operation_id"],
        done.header("counterfoil-operation-id")
    );
}

#[tokio::test(start_paused = true)]
async fn a_preview_ends_with_its_quote() {
    let world = World::new();
    let quote = Timestamp::from_unix_secs(1_700_000_090);
    let preview = PreviewService::new(world.gate.clone())
        .with_quote_end(move |transfer| (transfer.payee == "bob").then_some(quote));
    let told = send(preview.clone(), confirm_at("/", "", BODY)).await;
    assert_eq!(told.json()["expires_at"], 1_700_000_090);
    let unquoted = confirm_at("/", "", r#"{"amount":10,"payee":"eve"}"#);
    assert_eq!(
        send(preview, unquoted).await.json()["expires_at"],
        1_700_000_900
    );
}

#[tokio::test]
async fn a_preview_refuses_what_confirm_would() {
    let world = World::new();
    let preview = PreviewService::new(world.gate.clone()).with_max_body(100);
    let ask = |body: String| send(preview.clone(), confirm_at("/", "", body.into_bytes()));
    let told = ask(r#"{"amount":-1,"payee":"bob"}"#.to_owned()).await;
    assert_eq!((told.status, told.word()), (422, "params_invalid"));
    assert_eq!(told.json()["field"], "/amount");
    for (body, reason) in [
        (r#"{"amount":1,"payee":"bob","fee":1}"#, "unknown_member"),
        (r#"{"amount":1}"#, "missing_member"),
        (r#"{"amount":"1","payee":"bob"}"#, "wrong_type"),
        (
            r#"{"amount":1,"amount":1,"payee":"bob"}"#,
            "duplicate_member",
        ),
        (r#"{"amount":"#, "syntax"),
    ] {
        assert_eq!(
            ask(body.to_owned()).await.json()["reason"],
            reason,
            "{body}"
        );
    }
    assert_eq!(ask("b".repeat(101)).await.word(), "body_too_large");
    let told = ask(r#"{"amount":1,"payee":"bob","repeat_of":"x"}"#.to_owned()).await;
    assert_eq!((told.status, told.word()), (501, "not_implemented"));
    assert_eq!(told.json()["field"], "/repeat_of");
    let told = ask(r#"{"amount":1,"payee":"bob","fingerprint":"fp1.old"}"#.to_owned()).await;
    assert_eq!(told.status, 200);
    let mut nobody = confirm_at("/", "", BODY);
    nobody.extensions_mut().remove::<Subject>();
    assert_eq!(send(preview, nobody).await.word(), "unauthenticated");
}

#[tokio::test]
async fn the_status_is_told_by_id_and_by_fingerprint_to_its_own_subject_only() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let status = StatusService::new(world.counterfoil.clone());
    let before = send(status.clone(), by("/v1/operation", &fingerprint)).await;
    assert_eq!((before.status, before.word()), (200, "not_started"));
    let id = before.header("counterfoil-operation-id").to_owned();
    let uri = format!("/v1/operations/{id}");
    let unknown = send(status.clone(), get(&uri)).await;
    assert_eq!((unknown.status, unknown.word()), (404, "not_found"));

    let service = wrapped(&world.layer(), &counter(), |_, _| async {
        let mut response = response(201, r#"{"id":1}"#)?;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert("content-type", json);
        let headers = response.headers_mut();
        headers.insert("location", HeaderValue::from_static("/1"));
        headers.insert("x-note", HeaderValue::from_static("of the first"));
        Ok(response)
    });
    send(service, confirm(&fingerprint)).await;
    for request in [get(&uri), by("/v1/operation", &fingerprint)] {
        let told = send(status.clone(), request).await;
        assert_eq!((told.status, told.word()), (200, "already_completed"));
        assert_eq!(told.json()["state"], "succeeded");
        assert_eq!(told.json()["result"]["id"], 1);
        assert_eq!((told.header("location"), told.header("x-note")), ("", ""));
        assert_eq!(told.header("cache-control"), "no-store");
    }
    let stranger = |mut request: Request<Body>| {
        request
            .extensions_mut()
            .insert(Subject::new("acme", "mallory").unwrap());
        request
    };
    let told = send(status.clone(), stranger(get(&uri))).await;
    assert_eq!((told.status, told.word()), (404, "not_found"));
    assert_eq!(
        told.body, unknown.body,
        "another's operation looks as one that is not there"
    );
    let told = send(status.clone(), stranger(by("/", &fingerprint))).await;
    assert_eq!((told.status, told.word()), (403, "fingerprint_invalid"));
    assert_eq!(
        send(status.clone(), get("/v1/operations/17")).await.status,
        404
    );
    let mut nobody = get(&uri);
    nobody.extensions_mut().clear();
    assert_eq!(send(status, nobody).await.status, 401);
}

#[tokio::test]
async fn a_request_that_names_two_operations_is_told_of_neither() {
    let world = World::new();
    let [one, other] = [world.fingerprint().await, world.fingerprint().await];
    let status = StatusService::new(world.counterfoil.clone());
    let of_one = send(status.clone(), by("/v1/operation", &one)).await;
    let uri = format!(
        "/v1/operations/{}",
        of_one.header("counterfoil-operation-id")
    );
    let told = send(status.clone(), by(&uri, &one)).await;
    assert_eq!((told.status, told.word()), (200, "not_started"));
    let told = send(status, by(&uri, &other)).await;
    assert_eq!((told.status, told.word()), (400, "credentials_differ"));
    assert_eq!(told.header("counterfoil-operation-id"), "");
}

#[tokio::test]
async fn the_status_of_what_has_not_ended_is_200_with_a_time_to_ask_again() {
    let world = World::new();
    let status = StatusService::new(world.counterfoil.clone())
        .with_wording(Wording::chinese().with_poll_path("/v1/operations/"));
    for (code, word, wait) in [(202, "in_progress", "2"), (500, "outcome_unknown", "30")] {
        let fingerprint = world.fingerprint().await;
        let service = wrapped(&world.layer(), &counter(), move |_, _| async move {
            response(code, "")
        });
        send(service, confirm(&fingerprint)).await;
        let told = send(status.clone(), by("/", &fingerprint)).await;
        assert_eq!((told.status, told.word()), (200, word));
        assert_eq!(told.header("retry-after"), wait);
        assert!(
            told.json()["poll_path"]
                .as_str()
                .unwrap()
                .starts_with("/v1/operations/")
        );
        assert!(!told.json()["meaning"].as_str().unwrap().is_ascii());
    }
}

#[tokio::test]
async fn an_operation_is_called_off_by_its_credential_before_it_runs() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let status = StatusService::new(world.counterfoil.clone());
    let cancel = CancelService::new(world.counterfoil.clone());
    let id = send(status, by("/", &fingerprint))
        .await
        .header("counterfoil-operation-id")
        .to_owned();
    let uri = format!("/v1/operations/{id}/cancel");
    let told = send(cancel.clone(), get(&uri)).await;
    assert_eq!((told.status, told.word()), (404, "not_found"));

    let other = world.fingerprint().await;
    let told = send(cancel.clone(), by(&uri, &other)).await;
    assert_eq!((told.status, told.word()), (400, "credentials_differ"));
    assert_eq!(world.status(&other).await, "not_started");

    let told = send(cancel.clone(), by(&uri, &fingerprint)).await;
    assert_eq!((told.status, told.word()), (200, "cancelled"));
    let service = wrapped(&world.layer(), &counter(), |_, _| async {
        response(200, "")
    });
    let told = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!((told.status, told.word()), (410, "cancelled"));

    assert_eq!(send(service, confirm(&other)).await.word(), "completed");
    let told = send(cancel, by("/cancel", &other)).await;
    assert_eq!((told.status, told.word()), (409, "too_late"));
}

/// Minted before the store was born: whether it ran is forgotten.
const FORGOTTEN: &str = "00000000-0001-7000-8000-000000000000";

#[tokio::test]
async fn a_call_off_that_did_not_take_is_not_told_as_a_success() {
    let world = World::new();
    let cancel = CancelService::new(world.counterfoil.clone());
    let told = send(cancel, get(&format!("/v1/operations/{FORGOTTEN}/cancel"))).await;
    assert_eq!((told.status, told.word()), (202, "outcome_unknown"));
    // Asked for, it is what was found.
    let status = StatusService::new(world.counterfoil.clone());
    let told = send(status, get(&format!("/v1/operations/{FORGOTTEN}"))).await;
    assert_eq!((told.status, told.word()), (200, "outcome_unknown"));
}
