//! Under one key a request runs once.

use bytes::Bytes;
use serde_json::json;
use tests::{Call, odd_pieces};

use crate::{assert_problem, assert_replay, count, delete, file, fresh_key, put, start, ticket};

#[tokio::test]
async fn a_ticket_is_filed_once_and_a_retry_gets_the_first_answer_as_it_was() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    let first = program.send(file(&key, &ticket())).await;
    first.assert_told(201, "completed");
    let id = first.text("ticket_id");
    assert_eq!(first.header("location"), format!("/v1/tickets/{id}"));
    assert_eq!(first.json()["title"], "Printer on fire");
    for spelling in [key.clone(), format!("\"{key}\""), key.clone()] {
        let again = program.send(file(&spelling, &ticket())).await;
        assert_replay(&again, &first, "already_completed");
    }
    let effects = program.effects(None).await;
    assert_eq!(effects.len(), 1);
    assert_eq!(effects[0]["action"], "created");
    assert_eq!(effects[0]["ticket_id"], id);
    let operation = first.header("counterfoil-operation-id");
    assert_eq!(effects[0]["operation_id"], operation);
    assert_eq!(operation.as_bytes()[14], b'8', "a UUIDv8: {operation}");
}

#[tokio::test]
async fn the_same_request_in_another_spelling_is_the_same_request() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    let first = program.send(file(&key, &ticket())).await;
    for body in [
        r#"{"title":"Printer on fire","priority":"high","project":"printers"}"#,
        "{ \"project\" : \"printers\",\n\"title\":\"Printer \\u006fn fire\", \"priority\":\"high\" }",
        r#"{"project":"printers","title":"Printer on fire","priority":"high","source_event_id":null}"#,
    ] {
        let call = Call::post("/v1/tickets", body).header("idempotency-key", &key);
        assert_replay(&program.send(call).await, &first, "already_completed");
    }
    let call = Call::new(http::Method::POST, "/v1/tickets")
        .header("content-type", "application/json; charset=utf-8")
        .header("idempotency-key", &key)
        .body(ticket().to_string());
    assert_replay(&program.send(call).await, &first, "already_completed");
    assert_eq!(count(&program).await, 1);
}

#[tokio::test]
async fn a_body_of_the_limit_is_the_same_in_one_piece_and_in_odd_ones() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    let of = |title: &str| {
        let end = format!(r#""project":"printers","title":"{title}"}}"#);
        let room = " ".repeat((1 << 20) - 1 - end.len());
        Bytes::from(format!("{{{room}{end}"))
    };
    let whole = of("Printer on fire");
    assert_eq!(whole.len(), 1 << 20);
    let sent = |key: &str| Call::post("/v1/tickets", "").header("idempotency-key", key);
    let first = program.send(sent(&key).chunks(odd_pieces(&whole))).await;
    first.assert_told(201, "completed");
    assert_eq!(first.text("title"), "Printer on fire");
    let again = program.send(sent(&key).body(whole.clone())).await;
    assert_replay(&again, &first, "already_completed");
    let changed = program.send(sent(&key).body(of("Printer on firf"))).await;
    crate::assert_problem(&changed, 422, "key_reused");
    let longer = Bytes::from([b" ", &whole[..]].concat());
    let longer = program.send(sent(&fresh_key()).body(longer)).await;
    crate::assert_problem(&longer, 413, "body_too_large");
    assert_eq!(count(&program).await, 1);
}

#[tokio::test]
async fn equal_tickets_under_two_keys_are_two() {
    let (one, other) = (fresh_key(), fresh_key());
    let (_gateway, program) = start(&one);
    let with_event = json!({"project": "p", "title": "t", "source_event_id": "event-1"});
    let first = program.send(file(&one, &with_event)).await;
    let second = program.send(file(&other, &with_event)).await;
    for filed in [&first, &second] {
        filed.assert_told(201, "completed");
        assert_eq!(filed.text("source_event_id"), "event-1");
    }
    assert_ne!(first.text("ticket_id"), second.text("ticket_id"));
    assert_eq!(count(&program).await, 2);
}

#[tokio::test]
async fn five_requests_at_once_under_one_key_are_one_ticket() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    let calls = (0..5).map(|_| {
        let (program, call) = (program.clone(), file(&key, &ticket()));
        tokio::spawn(async move { program.send(call.header("x-chaos", "delay=300")).await })
    });
    let calls: Vec<_> = calls.collect();
    let mut ran = 0;
    for call in calls {
        let reply = call.await.expect("a call ends");
        match reply.word() {
            "completed" => ran += 1,
            _ => {
                let told = assert_problem(&reply, 409, "in_progress");
                assert_eq!(told["retryable"], true);
                assert_eq!(told["executed"], "pending");
                let seconds: u64 = reply.header("retry-after").parse().expect("seconds");
                assert!(seconds > 0);
            }
        }
    }
    assert_eq!((ran, count(&program).await), (1, 1));
}

#[tokio::test]
async fn a_ticket_is_changed_and_deleted_once_per_key() {
    let (key, change, end) = (fresh_key(), fresh_key(), fresh_key());
    let (_gateway, program) = start(&key);
    let filed = program.send(file(&key, &ticket())).await;
    let path = filed.header("location").to_owned();
    let other = json!({"project": "printers", "title": "Printer out"});
    let changed = program.send(put(&change, &path, &other)).await;
    changed.assert_told(200, "completed");
    assert_eq!(changed.text("title"), "Printer out");
    let deleted = program.send(delete(&end, &path)).await;
    deleted.assert_told(200, "completed");
    assert_eq!(deleted.text("status"), "deleted");
    // Whatever became of the ticket since: a retry gets what its own request got.
    for _ in 0..2 {
        let again = program.send(put(&change, &path, &other)).await;
        assert_replay(&again, &changed, "already_completed");
        let again = program.send(delete(&end, &path)).await;
        assert_replay(&again, &deleted, "already_completed");
    }
    assert_eq!(count(&program).await, 3);
    assert_eq!(program.send(Call::get(&path)).await.status, 404);
    // A ticket that isn't there is a final failure under this key.
    let late = fresh_key();
    let missing = program.send(delete(&late, &path)).await;
    missing.assert_told(404, "already_failed");
    let again = program.send(delete(&late, &path)).await;
    assert_replay(&again, &missing, "already_failed");
    assert_eq!(count(&program).await, 3);
}

#[tokio::test]
async fn a_get_passes_whatever_its_key_is() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let filed = program.send(file(&key, &ticket())).await;
    let path = filed.header("location").to_owned();
    for keys in [&[][..], &[key.as_str()], &[&key, &key], &["a, b"], &[""]] {
        let mut call = Call::get(&path);
        for key in keys {
            call = call.header("idempotency-key", key);
        }
        let shown = program.send(call).await;
        assert_eq!((shown.status, shown.word()), (200, ""), "{keys:?}");
        assert_eq!(shown.body, filed.body);
    }
    let stranger = gateway.caller("other/billing");
    assert_eq!(stranger.send(Call::get(&path)).await.status, 404);
    assert_eq!(count(&program).await, 1);
}

#[tokio::test]
async fn another_subjects_same_key_is_a_request_of_its_own() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let first = program.send(file(&key, &ticket())).await;
    let other_ticket = json!({"project": "p", "title": "Something else"});
    for subject in ["acme/shipping", "other/billing"] {
        let stranger = gateway.caller(subject);
        let status = Call::get("/v1/operation").header("idempotency-key", &key);
        stranger
            .send(status)
            .await
            .assert_answer(200, "not_started", "unknown");
        let filed = stranger.send(file(&key, &other_ticket)).await;
        filed.assert_told(201, "completed");
        assert_ne!(filed.text("ticket_id"), first.text("ticket_id"));
    }
    let again = program.send(file(&key, &ticket())).await;
    assert_replay(&again, &first, "already_completed");
}
