//! Requests that no honest client sends: every one gets an answer that names what is wrong, runs nothing, and leaves the
//! gateway well.

use bytes::Bytes;
use http::{Method, Version};
use serde_json::{Value, json};
use tests::{Call, Caller, Gateway, transfer, with};

const PREVIEW: &str = "/v1/transfers/preview";
const CONFIRM: &str = "/v1/transfers/confirm";

/// A body with these members in front of the other good ones.
fn body(members: &str) -> String {
    format!(r#"{{{members},"currency":"EUR","payee_id":"payee-1","source_account":"account-1"}}"#)
}

/// Holds preview and confirm alike to the field that they name.
async fn assert_invalid(agent: &Caller, fingerprint: &str, body: impl Into<Bytes>, field: &str) {
    let body = body.into();
    agent
        .preview_bytes(body.clone())
        .await
        .assert_invalid(field);
    agent
        .confirm_bytes(fingerprint, body)
        .await
        .assert_invalid(field);
}

#[tokio::test]
async fn a_wrong_missing_or_unknown_member_is_named() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let good = transfer(1);
    let mut bad: Vec<(Value, &str)> = vec![
        (with(&good, "fee", 1), "/fee"),
        (with(&good, "Amount", 1), "/Amount"),
        (with(&good, "", 1), "/"),
        (with(&good, "a/b~c", 1), "/a~1b~0c"),
        (with(&good, "note", 7), "/note"),
        (with(&good, "purchase_order", ""), "/purchase_order"),
        (
            with(&good, "purchase_order", json!({"id": 1})),
            "/purchase_order",
        ),
    ];
    for amount in [
        json!(0),
        json!(-1),
        json!("0"),
        json!("0.00"),
        json!("-1"),
        json!("-0"),
        json!(""),
        json!("NaN"),
        json!("1e3"),
        json!("Infinity"),
        json!("0x10"),
        json!("1,000"),
        json!("1_000"),
        json!(" 1"),
        json!("1 "),
        json!("+1"),
        json!("１"),
        json!(true),
        json!([1]),
        json!({"value": 1}),
    ] {
        bad.push((with(&good, "amount", amount), "/amount"));
    }
    for currency in [
        json!("eur"),
        json!("Eur"),
        json!("EURO"),
        json!("EU"),
        json!(""),
        json!("E R"),
        json!("ЕUR"),
        json!(978),
    ] {
        bad.push((with(&good, "currency", currency), "/currency"));
    }
    for name in ["payee_id", "source_account"] {
        for value in [
            json!(7),
            json!(""),
            json!(["payee-1"]),
            json!("a\u{202e}b"),
            json!("a\nb"),
            json!("x".repeat(100_000)),
        ] {
            bad.push((
                with(&good, name, value),
                if name == "payee_id" {
                    "/payee_id"
                } else {
                    "/source_account"
                },
            ));
        }
    }
    for (params, field) in bad {
        assert_invalid(&agent, &previewed.fingerprint, params.to_string(), field).await;
    }
    for missing in ["amount", "currency", "payee_id", "source_account"] {
        for absent in [true, false] {
            let mut params = with(&good, missing, Value::Null);
            if absent {
                params.as_object_mut().expect("an object").remove(missing);
            }
            assert_invalid(
                &agent,
                &previewed.fingerprint,
                params.to_string(),
                &format!("/{missing}"),
            )
            .await;
        }
    }
    assert_eq!(previewed.status().await.status, 404);
    previewed.confirm().await.assert_told(201, "completed");
}

#[tokio::test]
async fn a_body_that_two_readers_could_read_differently_is_refused() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let deep = |open: &str, close: &str, n: usize| {
        body(&format!(
            r#""amount":1,"ui":{}1{}"#,
            open.repeat(n),
            close.repeat(n)
        ))
    };
    let bodies: Vec<Bytes> = vec![
        body(r#""amount":1,"amount":1"#).into(),
        body(r#""amount":2,"amount":1"#).into(),
        body(r#""amount":1,"\u0061mount":2"#).into(),
        body(r#""amount":1,"ui":{"a":1,"a":2}"#).into(),
        body(r#""amount":1,"note":"\ud800""#).into(),
        body(r#""amount":1,"note":"\udc00\ud800""#).into(),
        body(r#""amount":1,"note":"\x""#).into(),
        body("\"amount\":1,\"note\":\"\u{1}\"").into(),
        body(r#""amount":01"#).into(),
        body(r#""amount":1."#).into(),
        body(r#""amount":.5"#).into(),
        body(r#""amount":+1"#).into(),
        body(r#""amount":NaN"#).into(),
        body(r#""amount":0x1"#).into(),
        body(r#""amount":1e400"#).into(),
        body(&format!(r#""amount":{}"#, "1".repeat(200))).into(),
        body(&format!(r#""amount":1.{}"#, "1".repeat(200))).into(),
        body(&format!(r#""amount":1e{}"#, "9".repeat(200))).into(),
        // Between two doubles.
        body(r#""amount":9007199254740993.0"#).into(),
        deep("[", "]", 10_000).into(),
        deep("[", "]", 300_000).into(),
        deep(r#"{"a":"#, "}", 100_000).into(),
        body(r#""amount":1,"note":"a"/**/"#).into(),
        body(r#"'amount':1"#).into(),
        format!("{} {{}}", transfer(1)).into(),
        format!("{},", transfer(1)).into(),
        format!("\u{feff}{}", transfer(1)).into(),
        transfer(1).to_string()[..40].to_owned().into(),
        Bytes::from_static(b"\xff\xfe{\0}\0"),
        [transfer(1).to_string().as_bytes(), b"\0"].concat().into(),
        [
            b"{\"amount\":1,\"note\":\"",
            &b"\xff"[..],
            b"\",\"currency\":\"EUR\"}",
        ]
        .concat()
        .into(),
        // Overlong, and a surrogate in UTF-8's clothes.
        [b"{\"amount\":1,\"note\":\"", &b"\xc0\xaf"[..], b"\"}"]
            .concat()
            .into(),
        [b"{\"amount\":1,\"note\":\"", &b"\xed\xa0\x80"[..], b"\"}"]
            .concat()
            .into(),
        "[]".into(),
        "[{}]".into(),
        "null".into(),
        "true".into(),
        "1".into(),
        "\"amount\"".into(),
        " ".into(),
        "amount=1&currency=EUR".into(),
    ];
    for body in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        for reply in [
            agent.preview_bytes(body.clone()).await,
            agent.confirm_bytes(&previewed.fingerprint, body).await,
        ] {
            assert_eq!(
                (reply.status, reply.word()),
                (422, "params_invalid"),
                "{shown}: {reply:#?}"
            );
        }
    }
    // An ignored member is read as strictly, and its content is nobody's business.
    previewed.confirm().await.assert_told(201, "completed");
    assert_eq!(previewed.effects().await, 1);
    gateway.assert_well().await;
}

#[tokio::test]
async fn a_body_that_is_missing_or_empty_has_no_params() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    for body in ["", "{}"] {
        let preview = agent.preview_bytes(body).await;
        assert_eq!(
            (preview.status, preview.word()),
            (422, "params_invalid"),
            "{preview:#?}"
        );
        let confirm = agent.confirm_bytes(&previewed.fingerprint, body).await;
        assert_eq!(
            (confirm.status, confirm.word()),
            (422, "params_invalid"),
            "{confirm:#?}"
        );
    }
    let absent =
        Call::new(Method::POST, CONFIRM).header("counterfoil-fingerprint", &previewed.fingerprint);
    let absent = agent.send(absent).await;
    assert_eq!(
        (absent.status, absent.word()),
        (422, "params_invalid"),
        "{absent:#?}"
    );
    assert_eq!(previewed.status().await.status, 404);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_before_the_claim() {
    let gateway = Gateway::start(&["--max-body", "1024"]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let large = with(&previewed.params, "note", "n".repeat(1_100)).to_string();
    agent
        .preview_bytes(large.clone())
        .await
        .assert_answer(413, "body_too_large", "unknown");
    let confirmed = agent
        .confirm_bytes(&previewed.fingerprint, large.clone())
        .await;
    confirmed.assert_answer(413, "body_too_large", "unknown");
    let chunks: Vec<Bytes> = Bytes::from(large)
        .chunks(100)
        .map(Bytes::copy_from_slice)
        .collect();
    for call in [
        previewed.call().chunks(chunks.clone()),
        Call::post(PREVIEW, "").chunks(chunks),
    ] {
        agent
            .send(call)
            .await
            .assert_answer(413, "body_too_large", "unknown");
    }
    assert_eq!(previewed.status().await.status, 404);
    // At the limit it is taken.
    let room = 1_024 - with(&previewed.params, "note", "").to_string().len();
    let full = with(&previewed.params, "note", "n".repeat(room));
    assert_eq!(full.to_string().len(), 1_024);
    previewed
        .confirm_with(&full)
        .await
        .assert_told(201, "completed");
}

#[tokio::test]
async fn the_largest_announced_length_takes_no_memory_and_no_time() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let mut connection = gateway.connect().await;
    let head = format!(
        "POST {CONFIRM} HTTP/1.1\r\nHost: gateway\r\nAuthorization: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 18446744073709551614\r\n\r\n{{",
        agent.authorization(),
    );
    connection.send(head).await;
    let answer = connection.until("\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    gateway.assert_well().await;
}

#[tokio::test]
async fn only_json_in_utf_8_is_read() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let text = previewed.params.to_string();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "json",
        "",
    ] {
        for path in [PREVIEW, CONFIRM] {
            let call = Call::new(Method::POST, path)
                .header("content-type", kind)
                .header("counterfoil-fingerprint", &previewed.fingerprint)
                .body(text.clone());
            agent.send(call).await.assert_invalid("content-type");
        }
    }
    let coded = previewed.call().header("content-encoding", "gzip");
    agent.send(coded).await.assert_invalid("content-encoding");
    let twice = previewed.call().header("content-type", "application/json");
    agent.send(twice).await.assert_invalid("content-type");
    assert_eq!(previewed.status().await.status, 404);

    for kind in ["application/json; charset=utf-8", "Application/JSON"] {
        let call = Call::new(Method::POST, CONFIRM)
            .header("content-type", kind)
            .header("counterfoil-fingerprint", &previewed.fingerprint)
            .body(text.clone());
        assert_eq!(agent.send(call).await.status, 201);
    }
}

#[tokio::test]
async fn a_query_smuggles_nothing_in() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let at = |path: &str, query: &str| {
        Call::post(format!("{path}?{query}"), previewed.params.to_string())
            .header("counterfoil-fingerprint", &previewed.fingerprint)
    };
    for path in [PREVIEW, CONFIRM] {
        for query in [
            "amount=1",
            "amount=500",
            "amount=1&amount=2",
            "am%6Funt=9",
            "currency=USD",
            "x=1&x=2",
        ] {
            let refused = agent.send(at(path, query)).await;
            assert_eq!(
                (refused.status, refused.word()),
                (400, "params_invalid"),
                "{path}?{query}: {refused:#?}"
            );
        }
        agent.send(at(path, "x=1")).await.assert_invalid("/x");
        agent
            .send(at(path, "purchase%5Forder="))
            .await
            .assert_invalid("/purchase_order");
        let undecodable = agent.send(at(path, "note=%ff")).await;
        assert_eq!(
            (undecodable.status, undecodable.word()),
            (422, "params_invalid"),
            "{undecodable:#?}"
        );
    }
    // A bound one that the body doesn't have is a param, and a change; an ignored one is as ignored as in the body.
    agent
        .send(at(CONFIRM, "purchase_order=po-1"))
        .await
        .assert_answer(422, "params_changed", "not_yet");
    assert_eq!(previewed.status().await.status, 404);
    agent
        .send(at(CONFIRM, "note=for+lunch"))
        .await
        .assert_told(201, "completed");
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn a_large_amount_needs_a_person_however_it_is_written() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    for amount in [
        "10000",
        "10000.0",
        "\"10000\"",
        "\"10000.00\"",
        "1e4",
        "123456.78",
        "9999999999999",
    ] {
        let reply = agent
            .preview_bytes(body(&format!(r#""amount":{amount}"#)))
            .await;
        reply.assert_answer(501, "not_implemented", "no");
    }
    let in_query = Call::post(
        format!("{PREVIEW}?amount=10000"),
        r#"{"currency":"EUR","payee_id":"payee-1","source_account":"account-1"}"#,
    );
    agent
        .send(in_query)
        .await
        .assert_answer(501, "not_implemented", "no");
    agent
        .preview(&transfer("9999.99"))
        .await
        .confirm()
        .await
        .assert_told(201, "completed");
}

#[tokio::test]
async fn another_method_claims_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    for method in [
        Method::GET,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ] {
        let call = Call::new(method.clone(), CONFIRM)
            .header("content-type", "application/json")
            .header("counterfoil-fingerprint", &previewed.fingerprint)
            .body(previewed.params.to_string());
        let refused = agent.send(call).await;
        assert_eq!(refused.status, 405, "{method}: {refused:#?}");
        assert_eq!(refused.header("allow"), "POST", "RFC 9110, section 15.5.6");
    }
    let slash = Call::post(format!("{CONFIRM}/"), previewed.params.to_string());
    assert_eq!(agent.send(slash).await.status, 404);
    agent
        .status_by(&previewed.fingerprint)
        .await
        .assert_answer(200, "not_started", "not_yet");
    assert_eq!(previewed.status().await.status, 404);
}

#[tokio::test]
async fn an_old_client_is_served() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    agent
        .send(previewed.call().version(Version::HTTP_10))
        .await
        .assert_told(201, "completed");
    agent
        .send(previewed.call().version(Version::HTTP_10))
        .await
        .assert_told(201, "already_completed");
}

#[tokio::test]
async fn a_request_cut_in_half_claims_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let body = previewed.params.to_string();
    let whole = format!(
        "POST {CONFIRM} HTTP/1.1\r\nHost: gateway\r\nAuthorization: {}\r\nContent-Type: application/json\r\n\
         Counterfoil-Fingerprint: {}\r\nContent-Length: {}\r\n\r\n{body}",
        agent.authorization(),
        previewed.fingerprint,
        body.len(),
    );
    for cut in [
        1,
        20,
        whole.len() / 2,
        whole.len() - body.len(),
        whole.len() - 1,
    ] {
        for finish_first in [false, true] {
            let mut connection = gateway.connect().await;
            connection.send(&whole[..cut]).await;
            if finish_first {
                connection.finish().await;
                let answer = connection.rest().await;
                assert!(
                    answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
                    "{cut}: {answer}"
                );
            }
        }
    }
    gateway.assert_well().await;
    agent
        .status_by(&previewed.fingerprint)
        .await
        .assert_answer(200, "not_started", "not_yet");
    previewed.confirm().await.assert_told(201, "completed");
}

#[tokio::test]
async fn bytes_without_sense_hurt_nobody() {
    let gateway = Gateway::start(&[]);
    for seed in 1..=5 {
        let mut connection = gateway.connect().await;
        connection.send(noise(seed, 20_000)).await;
        connection.finish().await;
        let answer = connection.rest().await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{answer}"
        );
    }
    let head = b"GET /healthz HTTP/1.1\r\nHost: gateway\r\n";
    for rest in [
        &b"\0\0\0\r\n\r\n"[..],
        b"X-A: \xff\xfe\r\n\r\n",
        b"X-A\r\n\r\n",
        b": x\r\n\r\n",
        b" folded\r\n\r\n",
    ] {
        let mut connection = gateway.connect().await;
        connection.send([head, rest].concat()).await;
        connection.finish().await;
        connection.rest().await;
    }
    gateway.assert_well().await;
}

/// The same bytes for the same seed, by a xorshift.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    std::iter::repeat_with(next).take(len).collect()
}

#[tokio::test]
async fn requests_in_one_packet_are_each_answered() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let body = previewed.params.to_string();
    let confirm = format!(
        "POST {CONFIRM} HTTP/1.1\r\nHost: gateway\r\nAuthorization: {}\r\nContent-Type: application/json\r\n\
         Counterfoil-Fingerprint: {}\r\nContent-Length: {}\r\n\r\n{body}",
        agent.authorization(),
        previewed.fingerprint,
        body.len(),
    );
    let last = "GET /healthz HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n";
    let mut connection = gateway.connect().await;
    connection
        .send([confirm.as_str(), &confirm, last].concat())
        .await;
    let answers = connection.rest().await;
    assert_eq!(answers.matches("HTTP/1.1 201").count(), 2, "{answers}");
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 1, "{answers}");
    assert_eq!(
        answers.matches("counterfoil-status: completed").count(),
        1,
        "{answers}"
    );
    assert_eq!(
        answers
            .matches("counterfoil-status: already_completed")
            .count(),
        1,
        "{answers}"
    );
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn two_lengths_are_no_length() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let body = previewed.params.to_string();
    for lengths in [
        format!(
            "Content-Length: {}\r\nContent-Length: {}",
            body.len(),
            body.len() + 1
        ),
        format!("Content-Length: +{}", body.len()),
        "Content-Length: -1".to_owned(),
        "Transfer-Encoding: gzip".to_owned(),
        "Transfer-Encoding: chunked, identity".to_owned(),
    ] {
        let mut connection = gateway.connect().await;
        let request = format!(
            "POST {CONFIRM} HTTP/1.1\r\nHost: gateway\r\nAuthorization: {}\r\nContent-Type: application/json\r\n\
             Counterfoil-Fingerprint: {}\r\n{lengths}\r\nConnection: close\r\n\r\n{body}",
            agent.authorization(),
            previewed.fingerprint,
        );
        connection.send(request).await;
        connection.finish().await;
        let answer = connection.rest().await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{lengths}: {answer}");
    }
    agent
        .status_by(&previewed.fingerprint)
        .await
        .assert_told(200, "not_started");
}

#[tokio::test]
async fn a_ledger_query_is_read_strictly() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    // A query that is not understood must not read as "all of them", nor as "none".
    for query in ["operation_id=7", "operation_id=", "operation=7"] {
        let reply = agent.send(Call::get(format!("/ledger?{query}"))).await;
        assert_eq!(reply.status, 400, "{query}: {reply:#?}");
    }
}
