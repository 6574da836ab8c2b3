//! Calling off.

use counterfoil_core::{
    Scope, Subject,
    lifecycle::State,
    store::{Acquired, Cancelled},
};

use super::{
    Harness,
    op::{Op, found},
};

/// A tombstone stops a later claim.
pub async fn a_tombstone_stops_a_claim(h: &Harness) {
    let op = Op::new(h).await;
    let record = op.cancelled().await;
    assert_eq!(record.life.state, State::Cancelled);
    assert_eq!(record.identity, op.identity);
    assert_eq!(record.reason.as_deref(), Some("not needed any more"));
    let record = found(h.acquire(&op.wish()).await);
    assert_eq!(record.life.state, State::Cancelled);
    found(h.acquire(&op.wish_seeing(&record)).await);
    assert_eq!(op.state().await, State::Cancelled);
}

/// Called off twice is called off.
pub async fn a_cancellation_can_be_sent_again(h: &Harness) {
    let op = Op::new(h).await;
    op.cancelled().await;
    let before = op.record().await;
    op.cancelled().await;
    assert_eq!(op.record().await, before);
}

/// A released operation can be called off; then no claim names it any more.
pub async fn a_released_operation_can_be_cancelled(h: &Harness) {
    let op = Op::new(h).await;
    op.released().await;
    let released = op.record().await;
    let mut cancellation = op.cancellation();
    cancellation.tombstone = None;
    let answer = h.cancel(&cancellation).await;
    assert!(matches!(answer, Cancelled::Cancelled(_)), "{answer:?}");
    let record = found(h.acquire(&op.wish_seeing(&released)).await);
    assert_eq!(record.life.state, State::Cancelled);
}

/// It is too late for what runs, may have run, or has ended.
pub async fn what_runs_or_ran_is_not_cancelled(h: &Harness) {
    for state in [
        State::InFlight,
        State::Accepted,
        State::Unknown,
        State::Done,
        State::Failed,
    ] {
        let op = Op::new(h).await;
        op.reach(state).await;
        let before = op.record().await;
        match h.cancel(&op.cancellation()).await {
            Cancelled::TooLate(record) => assert_eq!(record.life.state, state),
            other => panic!("{state:?}: {other:?}"),
        }
        op.assert_unchanged(&before, "a late cancellation").await;
    }
}

/// Another subject, or a tombstone of another scope, calls nothing off and learns nothing.
pub async fn anothers_operation_is_not_cancelled(h: &Harness) {
    for state in [State::Released, State::InFlight, State::Done] {
        let op = Op::new(h).await;
        op.reach(state).await;
        let before = op.record().await;

        let mut by_another = op.cancellation();
        by_another.tombstone = None;
        let tenant = op.identity.subject.tenant();
        by_another.subject = Subject::new(tenant, "other").expect("a short subject");
        assert_eq!(h.cancel(&by_another).await, Cancelled::Foreign);

        let mut of_another = op.cancellation();
        if let Some(tombstone) = &mut of_another.tombstone {
            tombstone.identity.scope = Scope::new("testkit.other");
        }
        assert_eq!(h.cancel(&of_another).await, Cancelled::Foreign);
        op.assert_unchanged(&before, "another's cancellation").await;
    }
}

/// Where nothing stands and there is no tombstone to write, nothing is written.
pub async fn without_a_tombstone_absent_stays_absent(h: &Harness) {
    let op = Op::new(h).await;
    let mut cancellation = op.cancellation();
    cancellation.tombstone = None;
    assert_eq!(h.cancel(&cancellation).await, Cancelled::Absent);
    assert_eq!(op.find().await, None);
    op.claim().await;
}

/// At `exp` nothing can begin any more, so that there is no tombstone to write.
pub async fn a_tombstone_at_exp_is_refused(h: &Harness) {
    let now = h.now().await;
    let op = Op::minted(h, now, now + h.unit());
    h.advance(h.unit()).await;
    match h.cancel(&op.cancellation()).await {
        Cancelled::Expired { now } => assert!(now >= op.exp, "{now:?}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(op.find().await, None);
    let answer = h.acquire(&op.wish()).await;
    assert!(matches!(answer, Acquired::Expired { .. }), "{answer:?}");
}
