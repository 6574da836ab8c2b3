//! Bodies that are no params.

use bytes::Bytes;
use http::Method;
use tests::{Call, Gateway, transfer, with};

use crate::{CONFIRM, PREVIEW, body};

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
