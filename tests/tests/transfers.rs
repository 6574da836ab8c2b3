//! What a transfer is: run once, replayed to every retry, the same in every spelling, and asked for by its credential.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde_json::{Value, json};
use tests::{Call, Gateway, Previewed, transfer, until, with};

#[tokio::test]
async fn a_preview_gives_a_fingerprint_and_writes_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let summary = previewed.reply.text("summary");
    for word in ["120.50", "EUR", "payee-1", "account-1"] {
        assert!(summary.contains(word), "{summary}");
    }
    let life = previewed.reply.json()["expires_at"]
        .as_u64()
        .expect("seconds")
        - now();
    assert!((14 * 60..=15 * 60).contains(&life), "{life}");

    // Without a record there is nothing under the id; the credential is known all the same.
    agent
        .status(&previewed.id)
        .await
        .assert_answer(404, "not_found", "unknown");
    let status = agent.status_by(&previewed.fingerprint).await;
    status.assert_answer(200, "not_started", "not_yet");
    assert_eq!(status.text("state"), "queued");
    assert_eq!(status.text("operation_id"), previewed.id);
    assert_eq!(agent.effects(None).await.len(), 0);
}

#[tokio::test]
async fn a_retry_gets_the_result_of_the_first_run() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;

    let first = previewed.confirm().await;
    first.assert_told(201, "completed");
    assert_eq!(first.header("counterfoil-operation-id"), previewed.id);
    assert_eq!(first.text("status"), "settled");
    let location = format!("/v1/transfers/{}", first.text("transfer_id"));
    assert_eq!(first.header("location"), location);

    for _ in 0..3 {
        let retry = previewed.confirm().await;
        retry.assert_answer(201, "already_completed", "yes");
        assert_eq!(retry.json()["result"], first.json());
        assert_eq!(retry.json()["retryable"], false);
        assert_eq!(retry.text("this_call"), "not_run");
        assert_eq!(retry.text("operation_id"), previewed.id);
        assert_eq!(retry.header("counterfoil-operation-id"), previewed.id);
        assert_eq!(retry.header("location"), location);
    }
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn the_fingerprint_may_stand_in_the_body() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("5")).await;
    let body = with(
        &previewed.params,
        "fingerprint",
        previewed.fingerprint.as_str(),
    );
    let confirm = Call::post("/v1/transfers/confirm", body.to_string());
    agent
        .send(confirm.clone())
        .await
        .assert_told(201, "completed");
    agent
        .send(confirm)
        .await
        .assert_told(201, "already_completed");
    // The same credential twice contradicts nothing.
    previewed
        .confirm_with(&body)
        .await
        .assert_told(201, "already_completed");
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn two_hundred_confirms_at_once_have_one_effect_and_one_result() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let calls: Vec<_> = (0..200)
        .map(|_| {
            let previewed = previewed.clone();
            tokio::spawn(async move { settled(&previewed).await })
        })
        .collect();
    let (mut ran, mut results) = (0, Vec::new());
    for call in calls {
        let (word, result) = call.await.expect("a call");
        ran += usize::from(word == "completed");
        results.push(result);
    }
    assert_eq!(ran, 1, "one call ran it");
    assert_eq!(results.len(), 200);
    assert_eq!(results[0]["status"], "settled");
    assert!(results.iter().all(|result| *result == results[0]));
    assert_eq!(previewed.effects().await, 1);
}

/// Confirms; whoever is told that it runs asks until it has ended. Gives the first word, and the result.
async fn settled(previewed: &Previewed) -> (String, Value) {
    // Long enough that the others come while it runs.
    let reply = previewed.confirm_chaos("delay=150").await;
    let word = reply.word().to_owned();
    let result = match word.as_str() {
        "completed" => reply.json(),
        "already_completed" => reply.json()["result"].clone(),
        "in_progress" => {
            reply.assert_answer(202, "in_progress", "pending");
            assert!(!reply.header("retry-after").is_empty(), "{reply:#?}");
            previewed.until_state("succeeded").await.json()["result"].clone()
        }
        other => panic!("{other}: {reply:#?}"),
    };
    (word, result)
}

#[tokio::test]
async fn two_previews_of_the_same_params_are_two_transfers() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let params = transfer(7);
    let (one, other) = (agent.preview(&params).await, agent.preview(&params).await);
    assert_ne!(one.id, other.id);
    for previewed in [&one, &other] {
        previewed.confirm().await.assert_told(201, "completed");
        assert_eq!(previewed.effects().await, 1);
    }
    assert_eq!(agent.effects(None).await.len(), 2);
}

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
    let spellings = ["1", "1.0", "1.00", r#""1""#, r#""1.00""#];
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

#[tokio::test]
async fn a_caller_that_hangs_up_while_it_runs_loses_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let body = previewed.params.to_string();
    let request = format!(
        "POST /v1/transfers/confirm HTTP/1.1\r\nHost: gateway\r\nAuthorization: {}\r\nContent-Type: application/json\r\n\
         Counterfoil-Fingerprint: {}\r\nX-Chaos: delay=700\r\nContent-Length: {}\r\n\r\n{body}",
        agent.authorization(),
        previewed.fingerprint,
        body.len(),
    );
    let mut connection = gateway.connect().await;
    connection.send(request).await;
    previewed.until_state("running").await;
    drop(connection);

    // The one who asks at once is told that it runs; the run goes on without its caller.
    previewed
        .confirm()
        .await
        .assert_answer(202, "in_progress", "pending");
    assert_eq!(previewed.effects().await, 0);
    let ended = previewed.until_state("succeeded").await;
    ended.assert_answer(200, "already_completed", "yes");
    let retry = previewed.confirm().await;
    retry.assert_answer(201, "already_completed", "yes");
    assert_eq!(retry.json()["result"]["status"], "settled");
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn a_status_tells_where_it_stands_by_id_and_by_fingerprint() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    agent
        .status_by(&previewed.fingerprint)
        .await
        .assert_answer(200, "not_started", "not_yet");

    let running = previewed.start_running("delay=500").await;
    let meanwhile = agent.status_by(&previewed.fingerprint).await;
    meanwhile.assert_answer(200, "in_progress", "pending");
    assert_eq!(meanwhile.text("state"), "running");
    assert_eq!(
        meanwhile.text("poll_path"),
        format!("/v1/operations/{}", previewed.id)
    );
    assert!(
        !meanwhile.header("retry-after").is_empty(),
        "{meanwhile:#?}"
    );

    let first = running.await.expect("a call").expect("an answer");
    first.assert_told(201, "completed");
    let unhyphenated = previewed.id.replace('-', "");
    for status in [
        agent.status_by(&previewed.fingerprint).await,
        agent.status(&previewed.id).await,
        agent.status(&unhyphenated).await,
    ] {
        status.assert_answer(200, "already_completed", "yes");
        assert_eq!(status.text("state"), "succeeded");
        assert_eq!(status.json()["result"], first.json());
        assert_eq!(status.text("operation_id"), previewed.id);
    }
}

#[tokio::test]
async fn an_id_that_names_nothing_is_not_found() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let unconfirmed = agent.preview(&transfer(1)).await.id;
    for id in [
        unconfirmed.as_str(),
        &unconfirmed[1..],
        &unconfirmed[..35],
        "7",
        "0",
        "null",
        "%00",
        "..",
        "zzzzzzzz-zzzz-7zzz-8zzz-zzzzzzzzzzzz",
        "ffffffff-ffff-7fff-bfff-ffffffffffff",
    ] {
        let reply = agent.status(id).await;
        assert_eq!(reply.status, 404, "{id}: {reply:#?}");
    }
    agent.send(Call::get("/v1/operation")).await.assert_answer(
        428,
        "fingerprint_required",
        "unknown",
    );
}

#[tokio::test]
async fn before_it_runs_it_can_be_called_off_for_good() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    for _ in 0..2 {
        let cancelled = previewed.cancel().await;
        cancelled.assert_answer(200, "cancelled", "no");
        assert_eq!(cancelled.text("state"), "cancelled");
    }
    previewed
        .confirm()
        .await
        .assert_answer(410, "cancelled", "no");
    let status = previewed.status().await;
    status.assert_answer(200, "cancelled", "no");
    assert_eq!(status.text("state"), "cancelled");
    assert_eq!(previewed.effects().await, 0);
}

#[tokio::test]
async fn once_it_runs_it_is_too_late_to_call_it_off() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let running = previewed.start_running("delay=500").await;
    let refused = previewed.cancel().await;
    refused.assert_answer(409, "too_late", "pending");
    assert_eq!(refused.text("state"), "running");
    running
        .await
        .expect("a call")
        .expect("an answer")
        .assert_told(201, "completed");
    let refused = previewed.cancel().await;
    refused.assert_answer(409, "too_late", "yes");
    assert_eq!(refused.text("state"), "succeeded");
    // By id alone too.
    let by_id = Call::post(format!("/v1/operations/{}/cancel", previewed.id), "");
    agent
        .send(by_id)
        .await
        .assert_answer(409, "too_late", "yes");
    previewed
        .confirm()
        .await
        .assert_told(201, "already_completed");
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn a_fingerprint_can_be_confirmed_until_it_ends_and_retried_after() {
    let gateway = Gateway::start(&["--fingerprint-ttl", "2s"]);
    let agent = gateway.caller("acme/agent-7");
    let in_time = agent.preview(&transfer(1)).await;
    let too_late = agent.preview(&transfer(2)).await;
    let first = in_time.confirm().await;
    first.assert_told(201, "completed");
    // Told by the gateway's clock, which is the one that judges.
    until("the fingerprint's end", || async {
        let status = agent.status_by(&too_late.fingerprint).await;
        (status.word() != "not_started").then_some(())
    })
    .await;
    assert!(
        now()
            >= too_late.reply.json()["expires_at"]
                .as_u64()
                .expect("seconds")
    );

    too_late
        .confirm()
        .await
        .assert_answer(410, "fingerprint_expired", "no");
    // A change is told first, whatever the time.
    let changed = too_late.confirm_with(&transfer(3)).await;
    changed.assert_answer(422, "params_changed", "no");
    assert_eq!(
        agent.status_by(&too_late.fingerprint).await.text("state"),
        "cancelled"
    );
    assert_eq!(too_late.effects().await, 0);

    let retry = in_time.confirm().await;
    retry.assert_answer(201, "already_completed", "yes");
    assert_eq!(retry.json()["result"], first.json());
    assert_eq!(in_time.effects().await, 1);
    assert_eq!(agent.effects(None).await.len(), 1);
}

#[tokio::test]
async fn a_released_transfer_can_not_be_confirmed_after_the_end() {
    let gateway = Gateway::start(&["--fingerprint-ttl", "2s"]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer(1)).await;
    previewed
        .confirm_chaos("refuse=503")
        .await
        .assert_told(503, "not_executed");
    until("the fingerprint's end", || async {
        (previewed.status().await.text("executed") == "no").then_some(())
    })
    .await;
    previewed
        .confirm()
        .await
        .assert_answer(410, "not_executed", "no");
    assert_eq!(previewed.effects().await, 0);
}

#[tokio::test]
async fn a_fingerprint_ends_with_the_quote_at_the_latest() {
    let gateway = Gateway::start(&["--quote-ttl", "5s"]);
    let previewed = gateway.caller("acme/agent-7").preview(&transfer(1)).await;
    let ends = previewed.reply.json()["expires_at"]
        .as_u64()
        .expect("seconds");
    assert!(ends <= now() + 5, "{ends}");
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or(Duration::ZERO).as_secs()
}
