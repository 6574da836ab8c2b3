//! Fingerprints that were copied wrongly, made up, left out or sent twice.

use bytes::Bytes;
use serde_json::json;
use tests::{Call, Gateway, transfer, with};

use crate::{KEY, OTHER_KEY, forge, replace};

#[tokio::test]
async fn a_changed_character_anywhere_is_never_run() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let good = &previewed.fingerprint;
    for at in 0..good.len() {
        let reply = agent
            .confirm_bytes(&replace(good, at), previewed.params.to_string())
            .await;
        match (reply.status, reply.word()) {
            (400, "fingerprint_mistyped") | (403, "fingerprint_invalid") => {}
            _ => panic!("character {at}: {reply:#?}"),
        }
    }
    assert_eq!(previewed.effects().await, 0);
    previewed.confirm().await.assert_told(201, "completed");
}

#[tokio::test]
async fn a_copying_error_is_told_apart_from_a_forgery_and_never_mended() {
    let gateway = Gateway::start(&["--keys", &format!("k1={KEY},k2={OTHER_KEY}")]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let good = previewed.fingerprint.as_str();
    let parts: Vec<&str> = good.split('.').collect();
    let [prefix, kid, payload, tag] = parts[..] else {
        panic!("{good}")
    };
    assert_eq!((prefix, kid), ("fp1", "k1"));

    let mistyped = [
        format!("\"{good}\""),
        format!(" {good}"),
        format!("{good} "),
        format!("{good}\n"),
        format!("fingerprint: {good}"),
        format!("`{good}`"),
        format!("{good}="),
        format!("{good}."),
        format!("{good}{good}"),
        good.to_uppercase(),
        good[..good.len() - 1].to_owned(),
        good[1..].to_owned(),
        good[..20].to_owned(),
        format!("{prefix}.{kid}.{payload}"),
        format!("fp2.{kid}.{payload}.{tag}"),
        format!(
            "{prefix}.{kid}.{payload}.{}",
            tag.replace(['a', 'b', '-'], "/") + "/"
        ),
        format!("{prefix}..{payload}.{tag}"),
        "…".to_owned(),
        String::new(),
    ];
    for text in &mistyped {
        let body = with(&previewed.params, "fingerprint", text.as_str());
        let reply = agent
            .send(Call::post("/v1/transfers/confirm", body.to_string()))
            .await;
        reply.assert_answer(400, "fingerprint_mistyped", "unknown");
    }
    for value in [
        json!(7),
        json!(null),
        json!([good]),
        json!({"fingerprint": good}),
        json!(true),
    ] {
        let body = with(&previewed.params, "fingerprint", value.clone());
        let reply = agent
            .send(Call::post("/v1/transfers/confirm", body.to_string()))
            .await;
        assert_eq!(reply.word(), "fingerprint_mistyped", "{value}: {reply:#?}");
    }

    let forged = [
        forge(good),
        replace(good, prefix.len() + kid.len() + 12),
        format!("{prefix}.k2.{payload}.{tag}"),
        format!("{prefix}.unknown.{payload}.{tag}"),
        format!("{prefix}.{kid}.{payload}.{}", "A".repeat(tag.len())),
    ];
    for text in &forged {
        let reply = agent
            .confirm_bytes(text, previewed.params.to_string())
            .await;
        reply.assert_answer(403, "fingerprint_invalid", "unknown");
    }
    assert_eq!(previewed.effects().await, 0);
    previewed.confirm().await.assert_told(201, "completed");
}

#[tokio::test]
async fn a_fingerprint_as_long_as_a_book_is_refused() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let params = transfer(1).to_string();
    for len in [1_025, 8_000, 64_000] {
        let garbage = format!("fp1.k1.{}", "A".repeat(len));
        let reply = agent.confirm_bytes(&garbage, params.clone()).await;
        reply.assert_answer(400, "fingerprint_mistyped", "unknown");
    }
    // The server stops reading headers long before that; which way it says so is its own affair.
    let call = Call::post("/v1/transfers/confirm", params);
    let garbage = "x".repeat(1 << 20);
    if let Ok(reply) = agent
        .try_send(call.header("counterfoil-fingerprint", garbage))
        .await
    {
        assert!(matches!(reply.status, 400 | 431), "{}", reply.status);
    }
    gateway.assert_well().await;
    assert_eq!(agent.effects(None).await.len(), 0);
}

#[tokio::test]
async fn a_request_brings_one_fingerprint() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let (one, other) = (
        agent.preview(&transfer(1)).await,
        agent.preview(&transfer(1)).await,
    );
    let body = one.params.to_string();
    let none = Call::post("/v1/transfers/confirm", body.clone());
    agent
        .send(none.clone())
        .await
        .assert_answer(428, "fingerprint_required", "unknown");
    agent
        .send(none.body(Bytes::new()))
        .await
        .assert_answer(428, "fingerprint_required", "unknown");

    for second in [&one.fingerprint, &other.fingerprint] {
        let two_headers = one.call().header("counterfoil-fingerprint", second);
        agent
            .send(two_headers)
            .await
            .assert_answer(400, "credentials_differ", "unknown");
    }
    let in_body = with(&one.params, "fingerprint", other.fingerprint.as_str());
    one.confirm_with(&in_body)
        .await
        .assert_answer(400, "credentials_differ", "unknown");
    for previewed in [&one, &other] {
        assert_eq!(previewed.status().await.status, 404);
        previewed.confirm().await.assert_told(201, "completed");
    }
}
