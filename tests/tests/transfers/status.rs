//! Where a transfer stands.

use tests::{Call, Gateway, transfer};

use crate::now;

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
async fn a_status_tells_where_it_stands_by_id_and_by_fingerprint() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    agent
        .status_by(&previewed.fingerprint)
        .await
        .assert_answer(200, "not_started", "not_yet");

    let running = previewed.start_running("delay=800").await;
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
