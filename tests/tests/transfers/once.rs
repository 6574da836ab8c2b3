//! One effect, one result.

use serde_json::Value;
use tests::{Call, Gateway, Previewed, transfer, with};

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
async fn a_caller_that_hangs_up_while_it_runs_loses_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let request = previewed.call_text("X-Chaos: delay=1000\r\n");
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
