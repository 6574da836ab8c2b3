//! Requests that are none: each is answered by name, and nothing runs.

use http::Method;
use serde_json::json;
use tests::{Call, Caller, Gateway, transfer};

use crate::{TICKETS, assert_problem, count, file, fresh_key, put, start, ticket};

fn bare() -> Call {
    Call::post(TICKETS, ticket().to_string())
}

#[tokio::test]
async fn a_field_that_holds_no_key_is_named() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let long = "k".repeat(256);
    let two = format!("\"{key}\", \"{key}\"");
    let bare_list = format!("{key},{key}");
    for (fields, reason) in [
        (&[key.as_bytes(), key.as_bytes()][..], "given_twice"),
        (
            &[key.as_bytes(), b"another-key-of-this-length"],
            "given_twice",
        ),
        (&[two.as_bytes()], "list"),
        (&[bare_list.as_bytes()], "list"),
        (&[long.as_bytes()], "too_long"),
        (&["schlüssel-schlüssel".as_bytes()], "not_ascii"),
        (&[b"aaaaaaaaaaaaaaaa\xff"], "not_ascii"),
        (&[b""], "empty"),
        (&[b"\"\""], "empty"),
        (&[b"   "], "empty"),
        (&[b"aaaaaaaa\taaaaaaaa"], "control_character"),
        (&[b"\"aaaaaaaaaaaaaaaa\";v=1"], "parameters"),
        (&[b"\"aaaaaaaaaaaaaaaa"], "syntax"),
        (&[b"two words of no key"], "syntax"),
        (&[b"order-17"], "too_short"),
    ] {
        let call = |mut call: Call| {
            for field in fields {
                call = call.header("idempotency-key", field);
            }
            call
        };
        for call in [
            call(bare()),
            call(Call::new(Method::DELETE, "/v1/tickets/tk_1")),
        ] {
            let told = assert_problem(&program.send(call).await, 400, "key_invalid");
            assert_eq!(told["reason"], reason, "{told}");
            assert_eq!(told["field"], "idempotency-key", "{told}");
            assert_eq!(told["executed"], "unknown", "{told}");
        }
    }
    for call in [
        bare(),
        Call::new(Method::PUT, "/v1/tickets/tk_1").body(ticket().to_string()),
        Call::new(Method::DELETE, "/v1/tickets/tk_1"),
    ] {
        assert_problem(&program.send(call).await, 400, "key_required");
    }
    assert_eq!(count(&program).await, 0);
    let longest = "k".repeat(255 - key.len()) + &key;
    for good in [longest, key[..16].to_owned()] {
        program
            .send(file(&good, &ticket()))
            .await
            .assert_told(201, "completed");
    }
    gateway.assert_well().await;
}

/// A request as its sender's bytes.
fn written(program: &Caller, key: &[u8], more: &str, body: &str) -> Vec<u8> {
    let head = format!(
        "POST {TICKETS} HTTP/1.1\r\nHost: gateway\r\nAuthorization: {}\r\nConnection: close\r\n{more}",
        program.authorization(),
    );
    [
        head.as_bytes(),
        b"Idempotency-Key: ",
        key,
        b"\r\n\r\n",
        body.as_bytes(),
    ]
    .concat()
}

async fn answer(gateway: &Gateway, request: Vec<u8>) -> String {
    let mut connection = gateway.connect().await;
    connection.send(request).await;
    connection.rest().await
}

#[tokio::test]
async fn a_control_character_in_a_field_is_refused_as_no_request() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let body = ticket().to_string();
    let lines = format!(
        "Content-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    for byte in [0, 0x1f, 0x0b, 0x7f] {
        let key = [key.as_bytes(), &[byte], b"tail"].concat();
        let told = answer(&gateway, written(&program, &key, &lines, &body)).await;
        // HTTP itself has no such field (RFC 9110, section 5.5); it doesn't reach the layer.
        assert!(told.starts_with("HTTP/1.1 400"), "{byte:#x}: {told}");
        assert!(!told.contains("counterfoil-status"), "{byte:#x}: {told}");
        assert!(told.ends_with("\r\n\r\n"), "no body: {told}");
    }
    assert_eq!(count(&program).await, 0);
    let good = answer(&gateway, written(&program, key.as_bytes(), &lines, &body)).await;
    assert!(good.starts_with("HTTP/1.1 201"), "{good}");
    assert_eq!(count(&program).await, 1);
    gateway.assert_well().await;
}

#[tokio::test]
async fn a_length_that_lies_runs_nothing_but_what_it_frames() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let body = ticket().to_string();
    let json = "Content-Type: application/json\r\n";
    let long = format!("{json}Content-Length: {}\r\n", body.len() + 10);
    let short = format!("{json}Content-Length: {}\r\n", body.len() - 10);
    let two = format!(
        "{json}Content-Length: {0}\r\nContent-Length: {0}0\r\n",
        body.len()
    );
    let huge = format!("{json}Content-Length: 99999999999\r\n");
    for (lengths, expected) in [
        (short, "HTTP/1.1 422"),
        (two, "HTTP/1.1 400"),
        (huge, "HTTP/1.1 413"),
    ] {
        let told = answer(&gateway, written(&program, key.as_bytes(), &lengths, &body)).await;
        assert!(told.starts_with(expected), "{lengths}: {told}");
    }
    // The rest never comes: nobody is there to be answered.
    let mut connection = gateway.connect().await;
    connection
        .send(written(&program, key.as_bytes(), &long, &body))
        .await;
    connection.finish().await;
    let told = connection.rest().await;
    assert!(
        told.is_empty() || told.starts_with("HTTP/1.1 408"),
        "{told}"
    );
    assert_eq!(count(&program).await, 0);
    program
        .send(file(&key, &ticket()))
        .await
        .assert_told(201, "completed");
    gateway.assert_well().await;
}

#[tokio::test]
async fn a_body_that_is_no_ticket_is_named_and_takes_no_key() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    for (body, reason, field) in [
        ("{", "syntax", ""),
        ("project=p&title=t", "syntax", ""),
        ("\u{feff}{}", "syntax", ""),
        (
            r#"{"project":"p","project":"p","title":"t"}"#,
            "duplicate_member",
            "/project",
        ),
        (
            r#"{"project":"p","title":"t","\u0074itle":"t"}"#,
            "duplicate_member",
            "/title",
        ),
        (
            r#"{"project":"p","title":"t","severity":"high"}"#,
            "unknown_member",
            "/severity",
        ),
        (
            r#"{"project":"p","title":"t","Title":"t"}"#,
            "unknown_member",
            "/Title",
        ),
        (r#"{"project":"p"}"#, "missing_member", "/title"),
        (r#"{"project":"p","title":7}"#, "wrong_type", "/title"),
        (
            r#"{"project":"p","title":"a\u202eb"}"#,
            "invalid_value",
            "/title",
        ),
        (r#"{"project":"p","title":""}"#, "invalid_value", "/title"),
        (
            r#"{"project":"p","title":"t","priority":"very"}"#,
            "invalid_value",
            "/priority",
        ),
        ("[]", "wrong_type", ""),
        ("", "missing_member", "/project"),
    ] {
        let call = Call::post(TICKETS, body).header("idempotency-key", &key);
        let told = assert_problem(&program.send(call).await, 422, "params_invalid");
        assert_eq!(told["reason"], reason, "{body}: {told}");
        assert_eq!(
            told["field"].as_str().unwrap_or_default(),
            field,
            "{body}: {told}"
        );
    }
    let with_body = put(&key, "/v1/tickets/tk_1", &json!({"project": "p"}));
    assert_problem(&program.send(with_body).await, 422, "params_invalid");
    let deletion = Call::new(Method::DELETE, "/v1/tickets/tk_1")
        .header("idempotency-key", &key)
        .header("content-type", "application/json")
        .body(r#"{"force":true}"#);
    let told = assert_problem(&program.send(deletion).await, 422, "params_invalid");
    assert_eq!(told["field"], "/force");
    assert_eq!(count(&program).await, 0);
    program
        .send(file(&key, &ticket()))
        .await
        .assert_told(201, "completed");
    gateway.assert_well().await;
}

#[tokio::test]
async fn a_media_type_that_lies_is_named() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let of = |content_type: &str, body: &str| {
        Call::new(Method::POST, TICKETS)
            .header("content-type", content_type)
            .header("idempotency-key", &key)
            .body(body.to_owned())
    };
    let good = ticket().to_string();
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/xml",
        "application/json; charset=utf-16",
        "application/json, text/plain",
    ] {
        let told = program.send(of(content_type, &good)).await;
        let told = assert_problem(&told, 422, "params_invalid");
        assert_eq!(told["reason"], "unsupported_media", "{content_type}");
        assert_eq!(told["field"], "content-type", "{content_type}");
    }
    let twice = of("application/json", &good).header("content-type", "text/plain");
    let told = assert_problem(&program.send(twice).await, 422, "params_invalid");
    assert_eq!(told["field"], "content-type");
    let coded = of("application/json", &good).header("content-encoding", "gzip");
    let told = assert_problem(&program.send(coded).await, 422, "params_invalid");
    assert_eq!(told["field"], "content-encoding");
    let told = program.send(of("application/json", "<ticket/>")).await;
    let told = assert_problem(&told, 422, "params_invalid");
    assert_eq!(told["reason"], "syntax");
    assert_eq!(count(&program).await, 0);
    gateway.assert_well().await;
}

#[tokio::test]
async fn a_fingerprint_beside_a_key_or_in_its_place_takes_no_key() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let previewed = program.preview(&transfer(1)).await;
    for fingerprint in [previewed.fingerprint.as_str(), "fp1.k1.x.y", ""] {
        let both = file(&key, &ticket()).header("counterfoil-fingerprint", fingerprint);
        let told = assert_problem(&program.send(both).await, 400, "credentials_differ");
        assert_eq!(told["executed"], "unknown");
        let alone = bare().header("counterfoil-fingerprint", fingerprint);
        assert_problem(&program.send(alone).await, 400, "key_required");
    }
    assert_eq!(count(&program).await, 0);
    // Neither is used up.
    previewed.confirm().await.assert_told(201, "completed");
    let filed = program.send(file(&key, &ticket())).await;
    filed.assert_told(201, "completed");
    gateway.assert_well().await;
}

#[tokio::test]
async fn a_caller_without_a_name_and_a_body_past_the_limit_take_no_key() {
    let key = fresh_key();
    let gateway = Gateway::start(&["--max-body", "1000"]);
    let program = gateway.caller("acme/billing");
    let nobody = gateway.send(file(&key, &ticket())).await;
    nobody.assert_told(401, "unauthenticated");
    let large = json!({"project": "p", "title": "t".repeat(2000)});
    assert_problem(
        &program.send(file(&key, &large)).await,
        413,
        "body_too_large",
    );
    for method in [Method::PUT, Method::PATCH, Method::DELETE] {
        let call = Call::new(method.clone(), TICKETS).header("idempotency-key", &key);
        assert_eq!(program.send(call).await.status, 405, "{method}");
    }
    assert_eq!(count(&program).await, 0);
    program
        .send(file(&key, &ticket()))
        .await
        .assert_told(201, "completed");
}
