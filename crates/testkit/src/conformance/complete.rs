//! How a run ended: said by its owner, once.

use counterfoil_core::{
    Owner,
    lifecycle::{Ending, State},
    store::{Completed, Lease, Released, StoredResult},
};

use super::{
    Harness,
    op::{Op, done, doubt, ended, failed, found, stored},
};

/// A completion stands, and every retry gets it.
pub async fn a_completion_stands_and_every_retry_gets_it(h: &Harness) {
    for (said, state, result) in [
        (done("paid"), State::Done, "paid"),
        (failed("no funds"), State::Failed, "no funds"),
    ] {
        let op = Op::new(h).await;
        let held = op.claim().await;
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
        for _ in 0..3 {
            let record = found(h.acquire(&op.wish()).await);
            assert_eq!(record.life.state, state);
            assert_eq!(record.result, Some(stored(result)));
        }
    }
}

/// A completion whose reply was lost is sent again, and is completed.
pub async fn a_completion_sent_again_is_completed(h: &Harness) {
    for said in [done("paid"), failed("no funds")] {
        let op = Op::new(h).await;
        let held = op.claim().await;
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
        let before = op.record().await;
        for _ in 0..3 {
            assert_eq!(h.complete(&held, &said).await, Completed::Completed);
        }
        assert_eq!(op.record().await, before);
    }
}

/// An owner whose lease lapsed may still say what happened.
pub async fn a_late_completion_of_the_same_owner_is_kept(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.lapse().await;
    let completed = h.complete(&held, &done("late")).await;
    assert_eq!(completed, Completed::Completed);
    let record = op.record().await;
    assert_eq!(record.life.state, State::Done);
    assert_eq!(record.result, Some(stored("late")));
}

/// Doubt is an unknown outcome with its reason; whoever doubted may still find out.
pub async fn an_owner_that_doubted_may_still_complete(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    let said = doubt("the connection broke");
    for _ in 0..2 {
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
    }
    let record = found(h.acquire(&op.wish()).await);
    assert_eq!(record.life.state, State::Unknown);
    assert_eq!(record.reason.as_deref(), Some("the connection broke"));

    let completed = h.complete(&held, &failed("no funds")).await;
    assert_eq!(completed, Completed::Completed);
    assert_eq!(op.state().await, State::Failed);
}

/// Another owner's completion changes nothing, and is kept as evidence.
pub async fn a_completion_by_another_owner_is_only_evidence(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    let stranger = Lease {
        owner: Owner::mint(),
        ..held
    };
    refused_and_kept(&op, &stranger).await;
}

/// A completion of another epoch changes nothing, and is kept as evidence.
pub async fn a_completion_of_another_epoch_is_only_evidence(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    let stranger = Lease {
        epoch: held.epoch.next(),
        ..held
    };
    refused_and_kept(&op, &stranger).await;
}

async fn refused_and_kept(op: &Op<'_>, stranger: &Lease) {
    let before = op.record().await;
    let said = done("from a stranger");
    assert_eq!(op.h.complete(stranger, &said).await, Completed::NotOwner);
    op.assert_unchanged(&before, "a stranger's completion")
        .await;
    let evidence = op.record().await.evidence;
    let kept = evidence.last().expect("it is kept");
    assert_eq!((kept.owner, kept.epoch), (stranger.owner, stranger.epoch));
    assert_eq!(kept.completion, said);
}

/// The last four completions of lost owners are kept, oldest first.
pub async fn the_last_four_lost_completions_are_kept(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    let said = ["1", "2", "3", "4", "5", "6"].map(done);
    for said in &said {
        let stranger = Lease {
            owner: Owner::mint(),
            ..held
        };
        assert_eq!(h.complete(&stranger, said).await, Completed::NotOwner);
    }
    let evidence = op.record().await.evidence;
    let kept: Vec<_> = evidence.iter().map(|kept| &kept.completion).collect();
    assert!(kept.len() >= 4, "{kept:?}");
    assert!(
        kept.ends_with(&[&said[2], &said[3], &said[4], &said[5]]),
        "{kept:?}"
    );
}

/// A terminal outcome never changes, whatever its own owner says later.
pub async fn a_terminal_outcome_never_changes(h: &Harness) {
    for said in [done("paid"), failed("no funds")] {
        let op = Op::new(h).await;
        let held = op.claim().await;
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
        let before = op.record().await;
        for other in [
            done("paid twice"),
            failed("no funds at all"),
            ended(Ending::Done, None),
            ended(Ending::Failed, None),
            doubt("not sure any more"),
        ] {
            assert_eq!(h.complete(&held, &other).await, Completed::NotOwner);
        }
        assert_eq!(h.release(&held).await, Released::NotOwner);
        op.assert_unchanged(&before, "a second outcome").await;
    }
}

/// Results come back byte for byte, with the name of their format.
pub async fn a_result_is_kept_byte_for_byte(h: &Harness) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let one_mebibyte = every_byte.repeat(4096);
    for (format, bytes) in [
        ("json", b"{\"a\":1}\n\0".to_vec()),
        ("http/1", every_byte),
        ("sixteen-bytes-16", one_mebibyte),
    ] {
        let op = Op::new(h).await;
        let held = op.claim().await;
        let result = StoredResult {
            format: format.into(),
            bytes: bytes.into(),
        };
        let said = ended(Ending::Done, Some(result.clone()));
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
        assert!(
            op.record().await.result == Some(result.clone()),
            "{format}: find"
        );
        let record = found(h.acquire(&op.wish()).await);
        assert!(record.result == Some(result), "{format}: acquire");
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
    }
}

/// An empty result is a result, and none is none.
pub async fn an_empty_result_is_a_result(h: &Harness) {
    for result in [Some(stored("")), None] {
        let op = Op::new(h).await;
        let held = op.claim().await;
        let said = ended(Ending::Done, result.clone());
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
        assert_eq!(op.record().await.result, result);
        assert_eq!(h.complete(&held, &said).await, Completed::Completed);
    }
}
