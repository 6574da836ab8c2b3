//! References: what an owner notes while it runs, and what a completion brings.

use counterfoil_core::{
    lifecycle::{Ending, State},
    store::{Annotated, Completed, Completion},
};

use super::{
    Harness,
    lease::strangers,
    op::{Op, note},
};

/// A note is on record when the call returns, for everybody, and what a later note leaves out stays.
pub async fn a_note_is_on_record(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    let first = h.annotate(&held, &note(Some("tx-1"), None)).await;
    assert_eq!(first, Annotated::Annotated);
    assert_eq!(op.record().await.provider_ref.as_deref(), Some("tx-1"));
    let second = h.annotate(&held, &note(None, Some("INV-7"))).await;
    assert_eq!(second, Annotated::Annotated);
    let record = op.record().await;
    assert_eq!(record.provider_ref.as_deref(), Some("tx-1"));
    assert_eq!(record.result_ref.as_deref(), Some("INV-7"));
}

/// An owner whose lease lapsed may still note what it knows.
pub async fn a_late_note_of_the_same_owner_is_kept(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.lapse().await;
    let answer = h.annotate(&held, &note(Some("tx-1"), None)).await;
    assert_eq!(answer, Annotated::Annotated);
    let record = op.record().await;
    assert_eq!(record.provider_ref.as_deref(), Some("tx-1"));
    assert_eq!(record.life.state, State::Unknown);
}

/// Noting takes the owner and the epoch.
pub async fn a_note_by_another_owner_or_epoch_changes_nothing(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    let before = op.record().await;
    for stranger in strangers(&held) {
        let answer = h.annotate(&stranger, &note(Some("tx-x"), Some("x"))).await;
        assert_eq!(answer, Annotated::NotOwner);
    }
    op.assert_unchanged(&before, "a stranger's note").await;
}

/// What has ended takes no notes.
pub async fn an_ended_operation_takes_no_notes(h: &Harness) {
    for state in [State::Done, State::Failed, State::Released] {
        let op = Op::new(h).await;
        let held = op.reach(state).await.expect("an owner ended it");
        let before = op.record().await;
        let answer = h.annotate(&held, &note(Some("tx-x"), Some("x"))).await;
        assert_eq!(answer, Annotated::NotOwner, "{state:?}");
        op.assert_unchanged(&before, "a late note").await;
    }
}

/// References outlive the completion: it keeps those that it does not name, and replaces the one that it does.
pub async fn references_are_kept_by_a_completion(h: &Harness) {
    for (said, kept) in [(None, "INV-7"), (Some("INV-8"), "INV-8")] {
        let op = Op::new(h).await;
        let held = op.claim().await;
        h.annotate(&held, &note(Some("tx-1"), Some("INV-7"))).await;
        let said = Completion::Ended {
            ending: Ending::Done,
            result: None,
            result_ref: said.map(str::to_owned),
        };
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
        let record = op.record().await;
        assert_eq!(record.result_ref.as_deref(), Some(kept));
        assert_eq!(record.provider_ref.as_deref(), Some("tx-1"));
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
    }
}
