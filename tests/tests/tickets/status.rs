//! How the operation of a key stands.

use tests::{Call, transfer};

use crate::{count, delete, file, fresh_key, start, ticket};

fn by_key(key: &str) -> Call {
    Call::get("/v1/operation").header("idempotency-key", key)
}

#[tokio::test]
async fn it_is_told_by_key_and_by_operation_id_to_its_own_subject_only() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let before = program.send(by_key(&key)).await;
    // A key has no end: no record may also mean one that was kept for its time.
    before.assert_answer(200, "not_started", "unknown");
    assert_eq!(before.text("state"), "unknown");
    let id = before.text("operation_id");
    let filed = program.send(file(&key, &ticket())).await;
    assert_eq!(filed.header("counterfoil-operation-id"), id);
    let quoted = by_key(&format!("\"{key}\""));
    for told in [
        program.send(by_key(&key)).await,
        program.send(quoted).await,
        program.status(&id).await,
    ] {
        told.assert_answer(200, "already_completed", "yes");
        assert_eq!(told.text("state"), "succeeded");
        assert_eq!(told.json()["result"], filed.json());
    }
    for subject in ["acme/shipping", "other/billing"] {
        let stranger = gateway.caller(subject);
        assert_eq!(stranger.status(&id).await.status, 404);
        stranger
            .send(by_key(&key))
            .await
            .assert_answer(200, "not_started", "unknown");
    }
    assert_eq!(count(&program).await, 1);
}

#[tokio::test]
async fn a_request_that_names_two_operations_is_told_of_neither() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let agent = gateway.caller("acme/billing");
    let previewed = agent.preview(&transfer(1)).await;
    let both = by_key(&key).header("counterfoil-fingerprint", &previewed.fingerprint);
    program
        .send(both)
        .await
        .assert_answer(400, "credentials_differ", "unknown");
    let other = Call::get(format!("/v1/operations/{}", previewed.id));
    program
        .send(other.header("idempotency-key", &key))
        .await
        .assert_answer(400, "credentials_differ", "unknown");
    for (call, reason) in [
        (by_key(&key).header("idempotency-key", &key), "given_twice"),
        (by_key(""), "empty"),
        (by_key("a, b"), "list"),
        (by_key(&"k".repeat(256)), "too_long"),
    ] {
        let told = program.send(call).await;
        told.assert_answer(400, "key_invalid", "unknown");
        assert_eq!(told.text("reason"), reason);
    }
    program
        .send(Call::get("/v1/operation"))
        .await
        .assert_answer(428, "fingerprint_required", "unknown");
}

#[tokio::test]
async fn what_was_done_under_a_key_is_called_off_too_late() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    let filed = program.send(file(&key, &ticket())).await;
    let id = filed.header("counterfoil-operation-id").to_owned();
    let cancel = Call::post(format!("/v1/operations/{id}/cancel"), "");
    program
        .send(cancel)
        .await
        .assert_answer(409, "too_late", "yes");
    // One that did nothing, and may still run, is called off for good.
    let key = fresh_key();
    let refused = delete(&key, "/v1/tickets/tk_1");
    let refused = program.send(refused.header("x-chaos", "refuse=503")).await;
    // The ticket isn't there, which is final: nothing is left to call off either.
    refused.assert_told(404, "already_failed");
    let key = fresh_key();
    let refused = file(&key, &ticket()).header("x-chaos", "refuse=503");
    let refused = program.send(refused).await;
    let id = refused.header("counterfoil-operation-id").to_owned();
    let cancel = Call::post(format!("/v1/operations/{id}/cancel"), "");
    program
        .send(cancel)
        .await
        .assert_answer(200, "cancelled", "no");
    let told = program.send(file(&key, &ticket())).await;
    crate::assert_problem(&told, 410, "cancelled");
    assert_eq!(count(&program).await, 1);
}

#[tokio::test]
async fn the_types_of_problems_lead_to_a_page_that_names_each() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let page = gateway.send(Call::get("/docs/problems.md")).await;
    assert_eq!(page.status, 200);
    let page = String::from_utf8(page.body.to_vec()).expect("a text");
    let none = Call::post("/v1/tickets", ticket().to_string());
    let told = crate::assert_problem(&program.send(none).await, 400, "key_required");
    let kind = told["type"].as_str().expect("a type");
    let (path, section) = kind.split_once('#').expect("a section");
    assert_eq!(path, "/docs/problems.md");
    assert!(page.contains(&format!("\n## {section}\n")), "{section}");
}
