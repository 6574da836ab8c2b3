//! What goes wrong under a key.

use std::time::Duration;

use tests::{Call, until};

use crate::{TICKETS, assert_problem, assert_replay, count, file, fresh_key, start, ticket};

#[tokio::test]
async fn an_outcome_that_nobody_knows_is_never_free_to_run() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    let first = file(&key, &ticket()).header("x-chaos", "status=500");
    program
        .send(first)
        .await
        .assert_told(500, "outcome_unknown");
    for _ in 0..2 {
        let reply = program.send(file(&key, &ticket())).await;
        let told = assert_problem(&reply, 409, "outcome_unknown");
        assert_eq!(told["executed"], "unknown");
        assert_eq!(told["retryable"], false);
        assert!(reply.header("retry-after").parse::<u64>().is_ok());
        let path = format!(
            "/v1/operations/{}",
            told["operation_id"].as_str().unwrap_or_default()
        );
        assert_eq!(told["poll_path"], path);
    }
    assert_eq!(count(&program).await, 1);
}

#[tokio::test]
async fn a_status_alone_is_neither_a_result_nor_a_proof_that_nothing_happened() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    for code in [
        302, 400, 401, 403, 404, 408, 409, 422, 425, 429, 500, 502, 503, 504,
    ] {
        let [doubtful, refused, failed] = [fresh_key(), fresh_key(), fresh_key()];
        let with = |key: &str, fault: &str| {
            file(key, &ticket()).header("x-chaos", format!("{fault}={code}"))
        };
        let before = count(&program).await;
        let first = program.send(with(&doubtful, "status")).await;
        first.assert_told(code, "outcome_unknown");
        let again = program.send(file(&doubtful, &ticket())).await;
        assert_problem(&again, 409, "outcome_unknown");
        assert_eq!(count(&program).await, before + 1, "{code}");

        // The handler's word decides, whatever the status is.
        for _ in 0..2 {
            let first = program.send(with(&refused, "refuse")).await;
            first.assert_told(code, "not_executed");
        }
        assert_eq!(count(&program).await, before + 1, "{code}");
        let ran = program.send(file(&refused, &ticket())).await;
        ran.assert_told(201, "completed");
        let first = program.send(with(&failed, "fail")).await;
        first.assert_told(code, "already_failed");
        let again = program.send(file(&failed, &ticket())).await;
        assert_replay(&again, &first, "already_failed");
        assert_eq!(count(&program).await, before + 2, "{code}");
    }
}

#[tokio::test]
async fn a_success_without_a_body_is_a_result() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    for (ran, code) in (1..).zip([200, 203, 204, 205, 206, 303]) {
        let key = fresh_key();
        let empty = file(&key, &ticket()).header("x-chaos", format!("status={code}"));
        let first = program.send(empty).await;
        first.assert_told(code, "completed");
        // These have no content, in either version of HTTP.
        assert_eq!(first.body.is_empty(), [204, 205].contains(&code), "{code}");
        for _ in 0..2 {
            let again = program.send(file(&key, &ticket())).await;
            assert_replay(&again, &first, "already_completed");
        }
        assert_eq!(count(&program).await, ran, "{code}");
    }
}

#[tokio::test]
async fn a_body_in_chunks_is_replayed_whole_and_one_that_breaks_off_leaves_doubt() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    for fault in ["stream=8", "big=300000", "stream=1"] {
        let key = fresh_key();
        let first = program
            .send(file(&key, &ticket()).header("x-chaos", fault))
            .await;
        first.assert_told(201, "completed");
        let again = program.send(file(&key, &ticket())).await;
        assert_replay(&again, &first, "already_completed");
        let length: usize = again.header("content-length").parse().expect("a length");
        assert_eq!(length, first.body.len(), "{fault}");
    }
    let broken = file(&key, &ticket()).header("x-chaos", "break=2");
    program
        .try_send(broken)
        .await
        .expect_err("the connection is cut");
    let again = program.send(file(&key, &ticket())).await;
    assert_problem(&again, 409, "outcome_unknown");
    assert_eq!(count(&program).await, 4);
    gateway.assert_well().await;
}

#[tokio::test]
async fn what_did_nothing_runs_when_the_same_request_comes_again() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    let refused = file(&key, &ticket()).header("x-chaos", "refuse=503");
    program.send(refused).await.assert_told(503, "not_executed");
    assert_eq!(count(&program).await, 0);
    let first = program.send(file(&key, &ticket())).await;
    first.assert_told(201, "completed");
    let again = program.send(file(&key, &ticket())).await;
    assert_replay(&again, &first, "already_completed");
    assert_eq!(count(&program).await, 1);
}

#[tokio::test]
async fn a_final_failure_is_repeated_as_it_was() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    let failing = file(&key, &ticket()).header("x-chaos", "fail=402");
    let first = program.send(failing).await;
    first.assert_told(402, "already_failed");
    let again = program.send(file(&key, &ticket())).await;
    assert_replay(&again, &first, "already_failed");
    assert_eq!(count(&program).await, 0);
}

#[tokio::test]
async fn a_client_that_lost_the_answer_gets_it_under_its_key() {
    let key = fresh_key();
    let (gateway, program) = start(&key);
    let cut = file(&key, &ticket()).header("x-chaos", "drop-response");
    program
        .try_send(cut)
        .await
        .expect_err("the connection is cut");
    let again = program.send(file(&key, &ticket())).await;
    again.assert_told(201, "already_completed");
    assert_eq!(again.header("idempotent-replayed"), "true");

    // And one that hangs up while it runs.
    let key = fresh_key();
    let body = ticket().to_string();
    let mut connection = gateway.connect().await;
    let request = format!(
        "POST {TICKETS} HTTP/1.1\r\nHost: gateway\r\nAuthorization: {}\r\nIdempotency-Key: {key}\r\n\
         Content-Type: application/json\r\nX-Chaos: delay=300\r\nContent-Length: {}\r\n\r\n{body}",
        program.authorization(),
        body.len(),
    );
    connection.send(request).await;
    until("the request under way", || async {
        let status = Call::get("/v1/operation").header("idempotency-key", &key);
        let told = program.send(status).await;
        (told.word() == "in_progress").then_some(())
    })
    .await;
    drop(connection);
    let replay = until("its end", || async {
        let told = program.send(file(&key, &ticket())).await;
        (told.word() == "already_completed").then_some(told)
    })
    .await;
    assert_eq!(replay.header("idempotent-replayed"), "true");
    assert_eq!(count(&program).await, 2);
}

#[tokio::test]
async fn accepted_work_is_under_way_until_its_receipt_and_then_told_as_done() {
    let key = fresh_key();
    let (_gateway, program) = start(&key);
    let accepted = file(&key, &ticket()).header("x-chaos", "accept");
    program.send(accepted).await.assert_told(202, "in_progress");
    let told = assert_problem(
        &program.send(file(&key, &ticket())).await,
        409,
        "in_progress",
    );
    assert_eq!(told["retryable"], true);
    let done = until("the receipt", || async {
        let told = program.send(file(&key, &ticket())).await;
        (told.word() == "already_completed").then_some(told)
    })
    .await;
    done.assert_told(201, "already_completed");
    assert_eq!(count(&program).await, 1);
}

#[tokio::test]
async fn a_duplicate_may_wait_for_the_answer() {
    let key = fresh_key();
    let gateway = tests::Gateway::start(&["--wait", "10s"]);
    let program = gateway.caller("acme/billing");
    let slow = file(&key, &ticket()).header("x-chaos", "delay=500");
    let first = tokio::spawn({
        let program = program.clone();
        async move { program.send(slow).await }
    });
    until("the request under way", || async {
        let status = Call::get("/v1/operation").header("idempotency-key", &key);
        (program.send(status).await.word() == "in_progress").then_some(())
    })
    .await;
    let began = std::time::Instant::now();
    let again = program.send(file(&key, &ticket())).await;
    let first = first.await.expect("the first ends");
    assert_replay(&again, &first, "already_completed");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_body_too_large_to_keep_is_told_as_done_without_it() {
    let gateway = tests::Gateway::start(&["--max-body", "2000"]);
    let program = gateway.caller("acme/billing");
    for (ran, fault, len) in [(1, "big=5000", 5000), (2, "stream=4", 4 * 4096)] {
        let key = fresh_key();
        let large = file(&key, &ticket()).header("x-chaos", fault);
        let first = program.send(large).await;
        assert_eq!((first.status, first.body.len()), (201, len));
        let again = program.send(file(&key, &ticket())).await;
        again.assert_answer(201, "already_completed", "yes");
        assert_eq!(again.json().get("result"), None, "neither cut nor emptied");
        assert_eq!(again.json()["result_ref"], first.json()["ticket_id"]);
        assert_eq!(count(&program).await, ran);
    }
}
