//! Params that break a rule, by field.

use bytes::Bytes;
use serde_json::{Value, json};
use tests::{Call, Caller, Gateway, transfer, with};

use crate::{PREVIEW, body};

/// Holds preview and confirm alike to the field that they name.
async fn assert_invalid(agent: &Caller, fingerprint: &str, body: impl Into<Bytes>, field: &str) {
    let body = body.into();
    let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
    for reply in [
        agent.preview_bytes(body.clone()).await,
        agent.confirm_bytes(fingerprint, body).await,
    ] {
        let told = (reply.status, reply.word(), reply.text("field"));
        assert_eq!(
            told,
            (422, "params_invalid", field.to_owned()),
            "{shown}: {reply:#?}"
        );
    }
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
