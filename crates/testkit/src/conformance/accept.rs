//! What is handed on, and the receipt for it.

use counterfoil_core::{
    lifecycle::{Ending, State},
    store::{Completed, Completion, Lease, Received},
};

use super::{
    Harness,
    op::{Op, accepted, done, found, stored},
};

/// A receipt ends what was accepted; what it brings replaces what the acceptance stored, and the rest stays.
pub async fn a_receipt_ends_what_was_accepted(h: &Harness) {
    for (ending, state) in [(Ending::Done, State::Done), (Ending::Failed, State::Failed)] {
        for brings in [None, Some("the receipt")] {
            let op = Op::new(h).await;
            let held = handed_on(&op).await;
            let record = found(h.acquire(&op.wish()).await);
            assert_eq!(record.life.state, State::Accepted);
            assert_eq!(record.result, Some(stored("handed on")));
            assert_eq!(record.result_ref.as_deref(), Some("OUT-1"));

            let mut receipt = op.receipt(&held, ending);
            receipt.result = brings.map(stored);
            receipt.result_ref = brings.map(|_| "INV-7".to_owned());
            assert_eq!(h.receive(&receipt).await, Received::Received);
            let record = found(h.acquire(&op.wish()).await);
            assert_eq!(record.life.state, state);
            let (result, reference) = match brings {
                Some(result) => (result, "INV-7"),
                None => ("handed on", "OUT-1"),
            };
            assert_eq!(record.result, Some(stored(result)));
            assert_eq!(record.result_ref.as_deref(), Some(reference));
        }
    }
}

/// A receipt that comes again changes nothing; one that says something else is refused.
pub async fn a_receipt_counts_once(h: &Harness) {
    let op = Op::new(h).await;
    let held = handed_on(&op).await;
    let mut receipt = op.receipt(&held, Ending::Done);
    receipt.result = Some(stored("the receipt"));
    assert_eq!(h.receive(&receipt).await, Received::Received);
    let before = op.record().await;
    assert_eq!(h.receive(&receipt).await, Received::Received);
    let other = op.receipt(&held, Ending::Failed);
    assert_eq!(h.receive(&other).await, Received::NotOwner);
    op.assert_unchanged(&before, "further receipts").await;
}

/// A receipt for another epoch is no proof for this one.
pub async fn a_receipt_of_another_epoch_changes_nothing(h: &Harness) {
    let op = Op::new(h).await;
    let held = handed_on(&op).await;
    let before = op.record().await;
    let stale = Lease {
        epoch: held.epoch.next(),
        ..held
    };
    let receipt = op.receipt(&stale, Ending::Done);
    assert_eq!(h.receive(&receipt).await, Received::NotOwner);
    op.assert_unchanged(&before, "another epoch's receipt")
        .await;
}

/// A receipt can be faster than the acceptance. Then the acceptance changes nothing.
pub async fn a_receipt_may_come_before_the_acceptance(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    let receipt = op.receipt(&held, Ending::Done);
    assert_eq!(h.receive(&receipt).await, Received::Received);
    let before = op.record().await;
    let answer = h.complete(&held, &accepted(None)).await;
    assert_eq!(answer, Completed::Completed);
    op.assert_unchanged(&before, "a late acceptance").await;
}

/// An acceptance whose reply was lost is sent again, and is completed; the outcome by its own owner is refused: it is
/// downstream's to say.
pub async fn an_acceptance_sent_again_is_completed(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    let said = accepted(Some(h.now().await + h.unit() * 100));
    for _ in 0..3 {
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
    }
    assert_eq!(op.state().await, State::Accepted);
    let answer = h.complete(&held, &done("paid")).await;
    assert_eq!(answer, Completed::NotOwner);
    assert_eq!(op.state().await, State::Accepted);
}

/// An acceptance without a deadline waits as long as it takes.
pub async fn an_acceptance_without_a_deadline_waits(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim_for(h.unit()).await;
    assert_eq!(
        h.complete(&held, &accepted(None)).await,
        Completed::Completed
    );
    h.advance(h.unit() * 5).await;
    assert_eq!(op.state().await, State::Accepted);
}

/// An overdue acceptance reads as unknown, and is not free to run.
pub async fn an_overdue_acceptance_reads_as_unknown(h: &Harness) {
    let op = Op::new(h).await;
    overdue(&op).await;
    assert_eq!(op.state().await, State::Unknown);
    let record = found(h.acquire(&op.wish()).await);
    assert_eq!(record.life.state, State::Unknown);
}

/// A receipt after its deadline still counts.
pub async fn a_receipt_after_its_deadline_still_counts(h: &Harness) {
    let op = Op::new(h).await;
    let held = overdue(&op).await;
    let receipt = op.receipt(&held, Ending::Done);
    assert_eq!(h.receive(&receipt).await, Received::Received);
    assert_eq!(op.state().await, State::Done);
}

/// After a takeover a receipt that says `failed` speaks of its own attempt only.
pub async fn a_failed_receipt_after_a_takeover_is_doubt(h: &Harness) {
    let op = Op::new(h).await;
    let (_, held) = op.taken_over().await;
    let said = accepted(None);
    assert_eq!(h.complete(&held, &said).await, Completed::Completed);
    let receipt = op.receipt(&held, Ending::Failed);
    assert_eq!(h.receive(&receipt).await, Received::InDoubt);
    assert_eq!(op.state().await, State::Unknown);
}

async fn handed_on(op: &Op<'_>) -> Lease {
    let held = op.claim().await;
    let said = Completion::Accepted {
        deadline: None,
        result: Some(stored("handed on")),
        result_ref: Some("OUT-1".to_owned()),
    };
    assert_eq!(op.h.complete(&held, &said).await, Completed::Completed);
    held
}

async fn overdue(op: &Op<'_>) -> Lease {
    let held = op.claim().await;
    let said = accepted(Some(op.h.now().await + op.h.unit()));
    assert_eq!(op.h.complete(&held, &said).await, Completed::Completed);
    assert_eq!(op.state().await, State::Accepted);
    op.h.advance(op.h.unit()).await;
    held
}
