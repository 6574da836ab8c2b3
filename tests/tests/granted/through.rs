//! Transfers through both processes, and what is known when one of them fails.

use counterfoil_servers::{Proxy, Weather};
use tests::{Gateway, GrantedLedger, Scratch, until};

use crate::{Both, GRANT_KEYS, grants::Grant, preview};

#[tokio::test]
async fn a_transfer_goes_through_both_and_happens_once() {
    let both = Both::start();
    let previewed = both.preview().await;
    let first = previewed.confirm().await;
    first.assert_told(201, "completed");
    for _ in 0..3 {
        previewed
            .confirm()
            .await
            .assert_told(201, "already_completed");
    }
    let entries = both.ledger.entries(Some(&previewed.id)).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["key"], previewed.id);
    assert_eq!(entries[0]["epoch"], 1);
    assert_eq!(entries[0]["entry"]["amount"], "120.5");
    assert_eq!(entries[0]["entry"]["tenant"], "acme");

    // The gateway reads it there, for its own tenant alone.
    assert_eq!(previewed.effects().await, 1);
    let stranger = both.gateway.caller("other/agent-7");
    assert_eq!(stranger.effects(Some(&previewed.id)).await.len(), 0);
    let at = first.header("location");
    let agent = both.gateway.caller("acme/agent-7");
    assert_eq!(agent.send(tests::Call::get(at)).await.status, 200);
}

#[tokio::test]
async fn a_ledger_that_cannot_be_reached_got_nothing_and_the_gateway_says_so() {
    let both = Both::start();
    let previewed = both.preview().await;
    let at = both.ledger.address().to_string();
    let Both {
        gateway,
        ledger,
        _file: file,
    } = both;
    ledger.kill();
    let refused = previewed.confirm().await;
    assert_eq!(
        (refused.status, refused.word()),
        (409, "not_executed"),
        "{refused:#?}"
    );

    // So the same fingerprint runs, once it is there.
    let ledger = GrantedLedger::start_at(&at, &file, GRANT_KEYS);
    previewed.confirm().await.assert_told(201, "completed");
    assert_eq!(ledger.entries(Some(&previewed.id)).await.len(), 1);
    drop(gateway);
}

#[tokio::test]
async fn a_ledger_with_another_key_takes_nothing_and_the_gateway_says_so() {
    let file = Scratch::new("granted.jsonl");
    let other = GRANT_KEYS.replace("2222", "4444");
    let ledger = GrantedLedger::start(&file, &other);
    let gateway = Gateway::start_with_ledger(ledger.address(), GRANT_KEYS, &[]);
    let previewed = preview(&gateway).await;
    let refused = previewed.confirm().await;
    assert_eq!(
        (refused.status, refused.word()),
        (409, "not_executed"),
        "{refused:#?}"
    );
    assert_eq!(ledger.entries(None).await.len(), 0);
}

#[tokio::test]
async fn a_ledger_killed_in_the_middle_leaves_an_unknown_outcome_that_never_runs_again() {
    let file = Scratch::new("granted.jsonl");
    let ledger = GrantedLedger::start(&file, GRANT_KEYS);
    let at = ledger.address();
    let wire = Proxy::start(at.port()).expect("a wire");
    let gateway = Gateway::start_with_ledger(([127, 0, 0, 1], wire.port()).into(), GRANT_KEYS, &[]);
    let previewed = preview(&gateway).await;

    // It writes, and its answer never comes.
    wire.set(Weather::RepliesSwallowed);
    let running = previewed.start_running("delay=1").await;
    until("the entry", || async {
        let entries = ledger.entries(Some(&previewed.id)).await;
        (entries.len() == 1).then_some(())
    })
    .await;
    ledger.kill();
    wire.cut();
    let told = running.await.expect("a call").expect("an answer");
    assert_eq!(told.word(), "outcome_unknown", "{told:#?}");
    let status = previewed.status().await;
    status.assert_answer(200, "outcome_unknown", "unknown");
    assert_eq!(status.text("state"), "unknown");

    // The ledger comes back with what it had. The passing of time frees nothing, and no retry runs.
    wire.set(Weather::Clear);
    let ledger = GrantedLedger::start_at(&at.to_string(), &file, GRANT_KEYS);
    for _ in 0..3 {
        let retry = previewed.confirm().await;
        retry.assert_answer(202, "outcome_unknown", "unknown");
    }
    assert_eq!(ledger.entries(Some(&previewed.id)).await.len(), 1);
}

#[tokio::test]
async fn a_stalled_gateway_of_a_lower_epoch_is_refused() {
    let file = Scratch::new("granted.jsonl");
    let ledger = GrantedLedger::start(&file, GRANT_KEYS);
    let wire = Proxy::start(ledger.address().port()).expect("a wire");
    let gateway = Gateway::start_with_ledger(([127, 0, 0, 1], wire.port()).into(), GRANT_KEYS, &[]);
    let previewed = preview(&gateway).await;

    // Its write is on the way, with a grant that was minted while its lease ran, and stalls there.
    wire.set(Weather::Frozen);
    let running = previewed.start_running("delay=1").await;
    until("the write on its way", || async {
        (wire.accepted() > 0).then_some(())
    })
    .await;

    // Meanwhile a gateway that took over makes the operation's write, in the next epoch.
    let body = r#"{"tenant":"acme","principal":"agent-7","by":"a later attempt"}"#;
    let later = Grant {
        epoch: 2,
        ..Grant::for_write(&previewed.id, body)
    };
    let written = ledger.send(later.call(body)).await;
    assert_eq!(written.status, 201, "{written:#?}");

    wire.set(Weather::Clear);
    let late = running.await.expect("a call").expect("an answer");
    assert_eq!(
        (late.status, late.word()),
        (409, "not_executed"),
        "{late:#?}"
    );
    until("the event", || async {
        ledger.log().contains("stale_epoch").then_some(())
    })
    .await;
    let entries = ledger.entries(Some(&previewed.id)).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["entry"]["by"], "a later attempt");
}
