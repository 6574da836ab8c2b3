//! What may be dropped, and when. These cases let hours pass, so that they need a clock that can be moved.

use counterfoil_core::{
    lifecycle::State,
    store::{RETENTION_SKEW, Released},
};

use super::{
    Harness,
    op::{LONG, Op, RETENTION, claimed},
};

/// What has ended is kept, and answered from, until its time is over.
pub async fn what_ended_is_kept_until_its_time(h: &Harness) {
    for state in [
        State::Done,
        State::Failed,
        State::Released,
        State::Cancelled,
    ] {
        let op = short_lived(h).await;
        op.reach(state).await;
        let before = op.record().await;
        h.advance(RETENTION + RETENTION_SKEW - h.unit() / 2).await;
        purge(h).await;
        op.assert_unchanged(&before, "a purge before its time")
            .await;
    }
}

/// What has ended is dropped once its time is over.
pub async fn what_ended_is_dropped_after_its_time(h: &Harness) {
    for state in [
        State::Done,
        State::Failed,
        State::Released,
        State::Cancelled,
    ] {
        let op = short_lived(h).await;
        op.reach(state).await;
        h.advance(h.unit() + RETENTION + RETENTION_SKEW).await;
        assert!(purge(h).await >= 1, "{state:?}");
        assert_eq!(op.find().await, None, "{state:?}");
    }
}

/// What is open is never dropped.
pub async fn what_is_open_is_never_dropped(h: &Harness) {
    for state in [State::InFlight, State::Accepted, State::Unknown] {
        let op = short_lived(h).await;
        op.reach(state).await;
        h.advance((LONG + RETENTION + RETENTION_SKEW) * 10).await;
        purge(h).await;
        let read = op.state().await;
        let open = [State::Accepted, State::Unknown];
        assert!(open.contains(&read), "{state:?}: {read:?}");
    }
}

/// Retention counts from `exp` where that is later than the end, so that no credential outlives its record.
pub async fn retention_counts_from_the_later_of_end_and_exp(h: &Harness) {
    let early = Op::new(h).await;
    early.reach(State::Done).await;
    h.advance(LONG - h.unit()).await;
    purge(h).await;
    assert_eq!(early.state().await, State::Done);
    h.advance(RETENTION + RETENTION_SKEW - h.unit()).await;
    purge(h).await;
    assert_eq!(early.state().await, State::Done);

    let late = short_lived(h).await;
    let held = late.claim().await;
    h.advance(RETENTION * 2).await;
    assert_eq!(h.release(&held).await, Released::Released);
    h.advance(RETENTION).await;
    purge(h).await;
    assert_eq!(late.state().await, State::Released);
}

/// A released operation that was claimed again is open business.
pub async fn a_reclaimed_operation_is_not_dropped(h: &Harness) {
    let op = Op::new(h).await;
    op.released().await;
    claimed(h.acquire(&op.wish_seeing(&op.record().await)).await);
    h.advance((LONG + RETENTION + RETENTION_SKEW) * 2).await;
    purge(h).await;
    assert_eq!(op.state().await, State::Unknown);
}

/// A purge drops no more than it is told to.
pub async fn a_purge_keeps_to_its_limit(h: &Harness) {
    purge(h).await;
    for _ in 0..3 {
        short_lived(h).await.reach(State::Done).await;
    }
    h.advance(h.unit() + RETENTION + RETENTION_SKEW).await;
    assert!(h.purge(1).await <= 1);
    assert!(h.purge(2).await <= 2);
}

/// An operation whose credential ends before its record's retention begins to count.
async fn short_lived(h: &Harness) -> Op<'_> {
    let now = h.now().await;
    Op::minted(h, now, now + h.unit() / 2)
}

/// Drops all that may be dropped; how many.
async fn purge(h: &Harness) -> usize {
    let mut dropped = 0;
    loop {
        match h.purge(1_000).await {
            0 => return dropped,
            some => dropped += some,
        }
    }
}
