//! The epoch: a later attempt shuts the earlier ones out.

use async_trait::async_trait;
use counterfoil_core::{
    Epoch, OperationId, Step,
    grant::{EpochMemory, Grant, GrantRequest, NotRemembered, RecentEpochs, Seen},
};

use crate::{
    ear::Ear,
    ledger::{BODY, LEDGER, Ledger, NOW, Stands, grant_for, mint, operation},
};

fn of_epoch(epoch: u64, step: Option<&'static str>) -> Grant {
    let asked = GrantRequest::new(&LEDGER, "POST", "/entries").with_body(BODY.as_bytes());
    mint(epoch, step.map(Step::new), &asked)
}

#[tokio::test]
async fn a_lower_epoch_than_was_seen_of_the_operation_is_refused_for_each_of_its_steps() {
    let ledger = Ledger::new();
    let ear = Ear::default();
    let _listening = ear.listen();
    assert_eq!(ledger.enter(&of_epoch(2, Some("fee"))).await.status, 200);
    for step in [None, Some("fee"), Some("refund")] {
        let told = ledger.enter(&of_epoch(1, step)).await;
        assert_eq!(
            (told.status.as_u16(), told.word.as_str()),
            (409, "epoch_stale")
        );
        let json = told.json();
        assert_eq!(json["type"], "/docs/problems.md#epoch_stale");
        assert_eq!(json["operation_id"], operation(1).to_string());
        assert_eq!(json["this_call"], "not_run");
        let heard = ear.heard();
        assert!(
            heard.len() == 1 && heard[0].contains("stale_epoch"),
            "{heard:?}"
        );
    }
    assert_eq!(ledger.writes(), 1);
    // The same attempt goes on, and a later one comes.
    assert_eq!(ledger.enter(&of_epoch(2, None)).await.status, 200);
    assert_eq!(ledger.enter(&of_epoch(3, None)).await.status, 200);
    assert_eq!(ledger.enter(&of_epoch(2, None)).await.status, 409);
}

#[tokio::test]
async fn an_epoch_counts_only_once_all_else_is_good() {
    let ledger = Ledger::new();
    // Somebody who has a grant of epoch 9 for another body shuts nobody out.
    let other = GrantRequest::new(&LEDGER, "POST", "/entries").with_body(b"{}");
    assert_eq!(ledger.enter(&mint(9, None, &other)).await.status, 403);
    assert_eq!(ledger.enter(&of_epoch(1, None)).await.status, 200);
}

#[derive(Debug)]
struct OutOfReach;

#[async_trait]
impl EpochMemory for OutOfReach {
    async fn see(&self, _: OperationId, _: Epoch) -> Result<Seen, NotRemembered> {
        Err(NotRemembered::because("no connection to 10.0.0.7"))
    }
}

#[tokio::test]
async fn what_cannot_be_remembered_is_not_let_through_and_may_be_sent_again() {
    let full = RecentEpochs::new().with_most(0).with_clock(Stands(NOW));
    for ledger in [
        Ledger::with(OutOfReach, |layer| layer),
        Ledger::with(full, |layer| layer),
    ] {
        let told = ledger
            .enter(&grant_for("POST", "/entries", BODY.as_bytes()))
            .await;
        assert_eq!(
            (told.status.as_u16(), told.word.as_str()),
            (503, "unavailable")
        );
        assert_eq!(told.json()["retryable"], true);
        assert!(!told.json().to_string().contains("10.0.0.7"));
        assert_eq!(ledger.writes(), 0);
    }
}
