//! Which requests are the same, and which are not.

use bytes::Bytes;
use serde_json::{Value, json};
use tests::{Gateway, transfer, with};

#[tokio::test]
async fn what_an_agent_words_anew_is_the_same_transfer() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let params = with(&transfer("12.50"), "note", "for lunch");
    let previewed = agent.preview(&params).await;
    previewed.confirm().await.assert_told(201, "completed");
    let same = [
        transfer("12.50"),
        with(&params, "note", "for the lunch of yesterday"),
        with(&params, "note", Value::Null),
        with(&params, "client_ts", "2026-01-01T00:00:00Z"),
        with(&params, "client_ts", 1_767_225_600),
        with(&params, "ui", json!({"screen": ["a", {"b": null}]})),
        with(&params, "purchase_order", Value::Null),
    ];
    for params in same {
        previewed
            .confirm_with(&params)
            .await
            .assert_told(201, "already_completed");
    }
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn an_amount_is_one_value_in_every_spelling() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let body = |amount: &str| {
        format!(
            r#"{{"amount":{amount},"currency":"EUR","payee_id":"payee-1","source_account":"account-1"}}"#
        )
    };
    let spellings = [
        "1",
        "1.0",
        "1.00",
        "10e-1",
        r#""1""#,
        r#""1.00""#,
        r#""1e0""#,
    ];
    for previewed_as in spellings {
        let preview = agent.preview_bytes(body(previewed_as)).await;
        assert_eq!(preview.status, 200, "{preview:#?}");
        let fingerprint = preview.text("fingerprint");
        let mut words = Vec::new();
        for confirmed_as in spellings {
            let reply = agent.confirm_bytes(&fingerprint, body(confirmed_as)).await;
            words.push(reply.word().to_owned());
        }
        assert_eq!(words[0], "completed", "{previewed_as}");
        assert!(
            words[1..].iter().all(|word| word == "already_completed"),
            "{words:?}"
        );
        let id = preview.text("operation_id");
        let effects = agent.effects(Some(&id)).await;
        assert_eq!(effects.len(), 1);
        assert_eq!(effects[0]["amount"], "1");
    }
}

#[tokio::test]
async fn no_digit_of_an_amount_is_lost() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let body = |amount: &str| {
        format!(
            r#"{{"amount":{amount},"currency":"EUR","payee_id":"payee-1","source_account":"account-1"}}"#
        )
    };
    // Each pair is one double.
    for (amount, neighbour) in [
        ("1.00000000000000000001", "1"),
        ("0.1000000000000000055511151231257827", "0.1"),
        ("9007.199254740993001", "9007.199254740993"),
    ] {
        let preview = agent.preview_bytes(body(amount)).await;
        assert_eq!(preview.status, 200, "{preview:#?}");
        let fingerprint = preview.text("fingerprint");
        let changed = agent.confirm_bytes(&fingerprint, body(neighbour)).await;
        changed.assert_answer(422, "params_changed", "not_yet");
        agent
            .confirm_bytes(&fingerprint, body(amount))
            .await
            .assert_told(201, "completed");
        let effects = agent.effects(Some(&preview.text("operation_id"))).await;
        assert_eq!(effects[0]["amount"], amount);
    }
}

#[tokio::test]
async fn order_white_space_and_escapes_of_the_body_change_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let params = with(&transfer("12.50"), "payee_id", "Zoë/1");
    let previewed = agent.preview(&params).await;
    previewed.confirm().await.assert_told(201, "completed");
    for body in [
        r#"{"source_account":"account-1","payee_id":"Zoë/1","currency":"EUR","amount":"12.50"}"#,
        "\n{ \"amount\" :\t\"12.50\",\r\n\"currency\":\"EUR\" , \"payee_id\":\"Zoë/1\",\"source_account\":\"account-1\" }\n",
        r#"{"\u0061mount":"12.50","currency":"\u0045UR","payee_id":"Zo\u00eb\/1","source_account":"account-1"}"#,
    ] {
        let reply = agent.confirm_bytes(&previewed.fingerprint, body).await;
        reply.assert_told(201, "already_completed");
    }
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn what_differs_by_one_digit_letter_or_member_is_another_transfer() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let params = with(&transfer("1.00000000000000000001"), "payee_id", "Payee");
    let previewed = agent.preview(&params).await;
    let others = [
        with(&params, "amount", "1.00000000000000000002"),
        with(&params, "amount", 1),
        with(&params, "currency", "EUS"),
        with(&params, "payee_id", "payee"),
        // Composed, and with a combining mark behind it: two texts.
        with(&params, "payee_id", "Paye\u{65}\u{301}"),
        with(&params, "source_account", "account-2"),
        with(&params, "purchase_order", "po-1"),
    ];
    for other in &others {
        previewed
            .confirm_with(other)
            .await
            .assert_answer(422, "params_changed", "not_yet");
    }
    previewed.confirm().await.assert_told(201, "completed");
    for other in &others {
        previewed
            .confirm_with(other)
            .await
            .assert_answer(422, "params_changed", "yes");
    }
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn a_body_of_nearly_the_limit_is_the_same_in_one_piece_and_in_odd_ones() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let params = with(&transfer("3.14"), "note", "n".repeat(900_000));
    let previewed = agent.preview(&params).await;
    let text = Bytes::from(params.to_string());
    let pieces: Vec<Bytes> = odd_pieces(&text);
    assert!(pieces.len() > 50);
    let in_pieces = previewed.call().chunks(pieces);
    agent.send(in_pieces).await.assert_told(201, "completed");
    previewed
        .confirm()
        .await
        .assert_told(201, "already_completed");
    assert_eq!(previewed.effects().await, 1);
}

/// Pieces of 1, 2, 4 … 16,384 bytes, over and over.
fn odd_pieces(text: &Bytes) -> Vec<Bytes> {
    let mut pieces = Vec::new();
    let (mut at, mut len) = (0, 1);
    while at < text.len() {
        let end = (at + len).min(text.len());
        pieces.push(text.slice(at..end));
        at = end;
        len = if len == 16_384 { 1 } else { len * 2 };
    }
    pieces
}
