//! The end of a credential's life, by the store's clock.

use std::time::Duration;

use counterfoil_core::{lifecycle::State, store::Acquired};

use super::{
    Harness,
    op::{LONG, Op, done, found},
};

/// A claim just before `exp` passes.
pub async fn a_claim_just_before_exp_passes(h: &Harness) {
    let now = h.now().await;
    let op = Op::minted(h, now, now + h.unit());
    h.advance(h.unit() - h.tick()).await;
    op.claim().await;
}

/// A claim at `exp` is refused and leaves no record.
pub async fn a_claim_at_exp_is_refused(h: &Harness) {
    let now = h.now().await;
    let op = Op::minted(h, now, now + h.unit());
    h.advance(h.unit()).await;
    match h.acquire(&op.wish()).await {
        Acquired::Expired { record: None, now } => assert!(now >= op.exp, "{now:?}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(op.find().await, None);
}

/// A claim from RELEASED at `exp` is refused and changes nothing.
pub async fn a_claim_from_released_at_exp_is_refused(h: &Harness) {
    let now = h.now().await;
    let op = Op::minted(h, now, now + h.unit());
    op.released().await;
    let before = op.record().await;
    h.advance(h.unit()).await;
    match h.acquire(&op.wish_seeing(&before)).await {
        Acquired::Expired {
            record: Some(record),
            now,
        } => {
            assert_eq!(record.life.state, State::Released);
            assert!(now >= op.exp, "{now:?}");
        }
        other => panic!("{other:?}"),
    }
    op.assert_unchanged(&before, "a claim at exp").await;
}

/// A retry after `exp` of what is done gets the result: `exp` ends claims, not answers.
pub async fn a_retry_after_exp_gets_the_result(h: &Harness) {
    let now = h.now().await;
    let op = Op::minted(h, now, now + h.unit());
    let held = op.claim().await;
    h.complete(&held, &done("the result")).await;
    h.advance(h.unit() * 2).await;
    let record = found(h.acquire(&op.wish()).await);
    assert_eq!(record.life.state, State::Done);
    assert!(record.result.is_some());
}

/// A caller whose clock is five minutes behind, or ahead, changes nothing: neither `exp` nor a lease is judged by the
/// time in its ids.
pub async fn a_callers_wrong_clock_changes_nothing(h: &Harness) {
    let skew = Duration::from_secs(300);

    let now = h.now().await;
    let behind = Op::minted(h, now - skew, now + LONG);
    behind.claim().await;
    let over = Op::minted(h, now - skew, now);
    let answer = h.acquire(&over.wish()).await;
    assert!(
        matches!(answer, Acquired::Expired { record: None, .. }),
        "{answer:?}"
    );

    let now = h.now().await;
    let ahead = Op::minted(h, now + skew, now + h.unit() * 2);
    ahead.claim_for(h.unit()).await;
    assert_eq!(ahead.state().await, State::InFlight);
    h.advance(h.unit()).await;
    assert_eq!(ahead.state().await, State::Unknown);
}
