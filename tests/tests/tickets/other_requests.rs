//! The same key with another request: told so in every state, and before anything about it.

use serde_json::{Value, json};
use tests::{Call, Caller, Reply};

use crate::{assert_problem, count, delete, file, fresh_key, put, start, ticket};

#[track_caller]
fn assert_reused(reply: &Reply) {
    let told = assert_problem(reply, 422, "key_reused");
    assert_eq!(told["executed"], "unknown", "{told}");
    assert_eq!(told["retryable"], false, "{told}");
    for member in ["state", "result", "result_ref", "attempt"] {
        assert_eq!(told.get(member), None, "{told}");
    }
}

#[tokio::test]
async fn another_body_path_query_method_or_action_is_another_request() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    program
        .send(file(&key, &ticket()))
        .await
        .assert_told(201, "completed");
    let another = json!({"project": "printers", "title": "Printer on fire", "priority": "low"});
    let query = Call::post("/v1/tickets?urgent=1", ticket().to_string());
    for call in [
        file(&key, &another),
        file(
            &key,
            &json!({"project": "printers", "title": "Printer on fire"}),
        ),
        query.header("idempotency-key", &key),
        put(&key, "/v1/tickets/tk_1", &ticket()),
        delete(&key, "/v1/tickets/tk_1"),
    ] {
        assert_reused(&program.send(call).await);
    }
    let event = gateway.security_event(&["key_reused", "acme"]).await;
    assert!(!event.contains(&key), "{event}");
    let on_one = fresh_key();
    program
        .send(put(&on_one, "/v1/tickets/tk_1", &ticket()))
        .await
        .assert_told(404, "already_failed");
    for path in ["/v1/tickets/tk_2", "/v1/tickets/tk%5F1"] {
        assert_reused(&program.send(put(&on_one, path, &ticket())).await);
    }
    assert_eq!(count(&program).await, 1);
}

/// Leaves an operation in the state that this fault makes, and sends another request under its key.
async fn after(program: &Caller, fault: &str) -> (Reply, Value) {
    let key = fresh_key();
    let before = count(program).await;
    let first = file(&key, &ticket()).header("x-chaos", fault);
    program.send(first).await;
    let effects = count(program).await;
    let another = json!({"project": "p", "title": "Something else"});
    let reply = program.send(file(&key, &another)).await;
    assert_eq!(count(program).await, effects, "{fault}: {before} before");
    let status = Call::get("/v1/operation").header("idempotency-key", &key);
    (reply, program.send(status).await.json())
}

#[tokio::test]
async fn it_is_told_in_every_state() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    for (fault, state) in [
        ("delay=0", "succeeded"),
        ("fail=402", "failed"),
        ("refuse=503", "queued"),
        ("status=500", "unknown"),
        ("accept", "running"),
    ] {
        let (reply, status) = after(&program, fault).await;
        assert_reused(&reply);
        assert_eq!(status["state"], state, "{fault}: {status}");
    }
    let running = file(&key, &ticket()).header("x-chaos", "delay=1000");
    let running = tokio::spawn({
        let program = program.clone();
        async move { program.send(running).await }
    });
    tests::until("the first request under way", || async {
        let status = Call::get("/v1/operation").header("idempotency-key", &key);
        (program.send(status).await.word() == "in_progress").then_some(())
    })
    .await;
    let another = json!({"project": "p", "title": "Something else"});
    assert_reused(&program.send(file(&key, &another)).await);
    running
        .await
        .expect("the first ends")
        .assert_told(201, "completed");
}
