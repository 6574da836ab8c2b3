//! Takeover, where it is declared safe, and the doubt that it leaves.

use counterfoil_core::{
    lifecycle::State,
    store::{Acquired, Completed, Released},
};

use super::{
    Harness,
    op::{LONG, Op, claimed, done, failed, found},
};

/// Within its window a takeover takes the next epoch, and the old owner is only heard as evidence.
pub async fn a_takeover_within_its_window_takes_the_next_epoch(h: &Harness) {
    let op = Op::new(h).await;
    let old = op.lapse().await;
    let wish = op.takeover(&op.record().await, LONG);
    let claim = claimed(h.acquire(&wish).await);
    assert_eq!(claim.lease.epoch, old.epoch.next());
    assert_eq!(claim.attempt, 2);
    assert_eq!(claimed(h.acquire(&wish).await), claim);
    let before = op.record().await;
    assert_eq!(before.life.state, State::InFlight);
    assert!(before.life.in_doubt);

    let late = h.complete(&old, &done("late")).await;
    assert_eq!(late, Completed::NotOwner);
    op.assert_unchanged(&before, "the old owner").await;
    assert_eq!(op.record().await.evidence.len(), 1);
}

/// At the end of its window, counted from the first claim, a takeover is refused.
pub async fn a_takeover_past_its_window_is_refused(h: &Harness) {
    let op = Op::new(h).await;
    op.lapse().await;
    h.advance(h.unit()).await;
    let before = op.record().await;
    let record = found(h.acquire(&op.takeover(&before, h.unit() * 2)).await);
    assert_eq!(record.life.state, State::Unknown);
    op.assert_unchanged(&before, "a takeover past its window")
        .await;
}

/// A takeover names the state and the epoch that it read.
pub async fn a_takeover_names_what_it_read(h: &Harness) {
    let op = Op::new(h).await;
    op.lapse().await;
    let before = op.record().await;
    let mut unnamed = op.takeover(&before, LONG);
    unnamed.claim.seen = None;
    found(h.acquire(&unnamed).await);
    let mut wrong = op.takeover(&before, LONG);
    wrong.claim.seen = wrong.claim.seen.map(|mut seen| {
        seen.epoch = seen.epoch.next();
        seen
    });
    found(h.acquire(&wrong).await);
    op.assert_unchanged(&before, "takeovers that named something else")
        .await;
}

/// A takeover ends what was begun in time, so that `exp` does not stop it.
pub async fn a_takeover_after_exp_passes(h: &Harness) {
    let now = h.now().await;
    let op = Op::minted(h, now, now + h.unit());
    op.lapse().await;
    h.advance(h.unit()).await;
    claimed(h.acquire(&op.takeover(&op.record().await, LONG)).await);
}

/// What runs, or waits for its receipt, or has ended is not taken over.
pub async fn only_the_unknown_is_taken_over(h: &Harness) {
    for state in [State::InFlight, State::Accepted, State::Done, State::Failed] {
        let op = Op::new(h).await;
        op.reach(state).await;
        let before = op.record().await;
        let answer = h.acquire(&op.takeover(&before, LONG)).await;
        assert!(
            matches!(answer, Acquired::Found(_)),
            "{state:?}: {answer:?}"
        );
        op.assert_unchanged(&before, "a takeover").await;
    }
}

/// After a takeover `failed` speaks of its own attempt only: the outcome stays unknown.
pub async fn failed_after_a_takeover_is_doubt(h: &Harness) {
    let op = Op::new(h).await;
    let (_, held) = op.taken_over().await;
    for _ in 0..2 {
        let answer = h.complete(&held, &failed("no funds")).await;
        assert_eq!(answer, Completed::InDoubt);
        assert_eq!(op.state().await, State::Unknown);
    }
    assert_eq!(op.record().await.result, None);
}

/// After a takeover a release speaks of its own attempt only: the outcome stays unknown.
pub async fn a_release_after_a_takeover_is_doubt(h: &Harness) {
    let op = Op::new(h).await;
    let (_, held) = op.taken_over().await;
    for _ in 0..2 {
        assert_eq!(h.release(&held).await, Released::InDoubt);
        assert_eq!(op.state().await, State::Unknown);
    }
}

/// After a takeover `done` is done.
pub async fn done_after_a_takeover_stands(h: &Harness) {
    let op = Op::new(h).await;
    let (_, held) = op.taken_over().await;
    for _ in 0..2 {
        let answer = h.complete(&held, &done("paid")).await;
        assert_eq!(answer, Completed::Completed);
    }
    assert_eq!(op.state().await, State::Done);
}
