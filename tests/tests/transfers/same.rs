//! Which requests are the same, and which are not.

use bytes::Bytes;
use serde_json::{Value, json};
use tests::{Call, Gateway, odd_pieces, transfer, with};

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
async fn a_body_of_the_limit_is_the_same_in_one_piece_and_in_odd_ones() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    // What is bound stands last, and so the last byte of it counts.
    let of = |payee: &str| {
        let end = format!(
            r#"","amount":"3.14","currency":"EUR","source_account":"account-1","payee_id":"{payee}"}}"#
        );
        let start = r#"{"note":""#;
        let room = "n".repeat((1 << 20) - start.len() - end.len());
        Bytes::from(format!("{start}{room}{end}"))
    };
    let whole = of("payee-1");
    assert_eq!(whole.len(), 1 << 20);
    let preview = agent.preview_bytes(whole.clone()).await;
    assert_eq!(preview.status, 200, "{preview:#?}");
    let fingerprint = preview.text("fingerprint");
    let changed = agent.confirm_bytes(&fingerprint, of("payee-2")).await;
    changed.assert_answer(422, "params_changed", "not_yet");
    let pieces = odd_pieces(&whole);
    assert!(pieces.len() > 50);
    let in_pieces = Call::post("/v1/transfers/confirm", "")
        .header("counterfoil-fingerprint", &fingerprint)
        .chunks(pieces);
    agent.send(in_pieces).await.assert_told(201, "completed");
    let again = agent.confirm_bytes(&fingerprint, whole.clone()).await;
    again.assert_told(201, "already_completed");
    let changed = agent.confirm_bytes(&fingerprint, of("payee-2")).await;
    changed.assert_answer(422, "params_changed", "yes");
    let longer = Bytes::from([b" ", &whole[..]].concat());
    let longer = agent.confirm_bytes(&fingerprint, longer).await;
    longer.assert_answer(413, "body_too_large", "unknown");
    let id = preview.text("operation_id");
    assert_eq!(agent.effects(Some(&id)).await.len(), 1);
}

#[tokio::test]
async fn a_key_beside_a_fingerprint_names_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    let with_key = |key: &str| previewed.call().header("idempotency-key", key);
    let words = ["a-key-of-its-own-1", "a-key-of-its-own-2", "a, b", ""].map(with_key);
    let mut told = Vec::new();
    for call in words {
        told.push(agent.send(call).await.word().to_owned());
    }
    // Client libraries add one by themselves, a new one each time. The fingerprint is the operation's name.
    assert_eq!(told[0], "completed");
    assert!(
        told[1..].iter().all(|word| word == "already_completed"),
        "{told:?}"
    );
    assert_eq!(previewed.effects().await, 1);
    let other = agent.preview(&transfer(2)).await;
    let reused = other.call().header("idempotency-key", "a-key-of-its-own-1");
    agent.send(reused).await.assert_told(201, "completed");
}
