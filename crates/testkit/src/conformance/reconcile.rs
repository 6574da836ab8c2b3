//! Fence and resolve: settling what is unknown.

use counterfoil_core::{
    Owner, Subject,
    lifecycle::{State, Verdict},
    store::{Completed, Fenced, Record, Resolved},
};

use super::{
    Harness,
    op::{LONG, Op, claimed, done, doubt, failed, found, stored},
};

/// A fence takes the next epoch: what the old owner still says is evidence, and the reconciler settles it.
pub async fn a_fence_shuts_the_old_owner_out(h: &Harness) {
    let op = Op::new(h).await;
    let old = op.lapse().await;
    let request = op.fence(&op.record().await);
    let held = fenced(h.fence(&request).await);
    assert_eq!(held.life.state, State::Unknown);
    assert!(held.life.is_held_by(request.owner, old.epoch.next()));
    assert_eq!(held.attempts, 1);

    let late = h.complete(&old, &done("late")).await;
    assert_eq!(late, Completed::NotOwner);
    op.assert_unchanged(&held, "the old owner").await;
    let evidence = op.record().await.evidence;
    assert_eq!(evidence.last().map(|kept| kept.owner), Some(old.owner));

    let by = Subject::new("acme", "operator").expect("a short subject");
    let mut resolution = op.resolution(&held, request.owner, Verdict::Done);
    resolution.result = Some(stored("found downstream"));
    resolution.result_ref = Some("INV-7".to_owned());
    resolution.by = Some(by.clone());
    let record = resolved(h.resolve(&resolution).await);
    assert_eq!(record.life.state, State::Done);
    let record = found(h.acquire(&op.wish()).await);
    assert_eq!(record.life.state, State::Done);
    assert_eq!(record.result, Some(stored("found downstream")));
    assert_eq!(record.result_ref.as_deref(), Some("INV-7"));
    assert_eq!(record.reason.as_deref(), Some("downstream was asked"));
    assert_eq!(record.settled_by, Some(by));
}

/// A fence whose reply was lost is asked again by the same owner, and is the same fence.
pub async fn a_fence_asked_again_is_the_same_fence(h: &Harness) {
    let op = Op::new(h).await;
    op.unknown().await;
    let request = op.fence(&op.record().await);
    let first = fenced(h.fence(&request).await);
    let again = fenced(h.fence(&request).await);
    assert_eq!(again.life, first.life);
}

/// Of two reconcilers one holds it, until its hold lapses; the other can neither fence nor resolve meanwhile.
pub async fn of_two_reconcilers_one_holds(h: &Harness) {
    let op = Op::new(h).await;
    op.unknown().await;
    let unheld = op.record().await;
    let mut first = op.fence(&unheld);
    first.hold = h.unit();
    let held = fenced(h.fence(&first).await);
    for seen in [&unheld, &held] {
        refused_fence(h.fence(&op.fence(seen)).await);
        let resolution = op.resolution(seen, Owner::mint(), Verdict::Done);
        refused(h.resolve(&resolution).await);
    }
    op.assert_unchanged(&held, "a second reconciler").await;

    h.advance(h.unit()).await;
    let record = op.record().await;
    assert_eq!(record.life.state, State::Unknown);
    let second = fenced(h.fence(&op.fence(&record)).await);
    assert_eq!(second.life.epoch, held.life.epoch.next());
    let late = op.resolution(&held, first.owner, Verdict::Done);
    refused(h.resolve(&late).await);
    assert_eq!(op.state().await, State::Unknown);
}

/// What a reconciler holds is not taken over.
pub async fn what_a_reconciler_holds_is_not_taken_over(h: &Harness) {
    let op = Op::new(h).await;
    op.unknown().await;
    let held = fenced(h.fence(&op.fence(&op.record().await)).await);
    found(h.acquire(&op.takeover(&held, LONG)).await);
    op.assert_unchanged(&held, "a takeover").await;
}

/// Only what is unknown is fenced or resolved.
pub async fn only_the_unknown_is_fenced_or_resolved(h: &Harness) {
    for state in [
        State::InFlight,
        State::Accepted,
        State::Released,
        State::Done,
        State::Failed,
        State::Cancelled,
    ] {
        let op = Op::new(h).await;
        op.reach(state).await;
        let before = op.record().await;
        refused_fence(h.fence(&op.fence(&before)).await);
        for verdict in [Verdict::Done, Verdict::Failed, Verdict::NotExecuted] {
            refused(
                h.resolve(&op.resolution(&before, Owner::mint(), verdict))
                    .await,
            );
        }
        op.assert_unchanged(&before, "a reconciler").await;
    }
}

/// `failed` and `not executed` need the vouch that nothing late can land; `done` does not.
pub async fn failed_and_not_executed_need_the_vouch(h: &Harness) {
    for (verdict, state) in [
        (Verdict::Failed, State::Failed),
        (Verdict::NotExecuted, State::Released),
    ] {
        let op = Op::new(h).await;
        op.unknown().await;
        let before = op.record().await;
        let mut resolution = op.resolution(&before, Owner::mint(), verdict);
        resolution.vouched = false;
        assert_eq!(h.resolve(&resolution).await, Resolved::Unvouched);
        op.assert_unchanged(&before, "an unvouched verdict").await;
        resolution.vouched = true;
        let record = resolved(h.resolve(&resolution).await);
        assert_eq!(record.life.state, state);
    }
    let op = Op::new(h).await;
    op.unknown().await;
    let resolution = op.resolution(&op.record().await, Owner::mint(), Verdict::Done);
    assert!(!resolution.vouched);
    resolved(h.resolve(&resolution).await);
    assert_eq!(op.state().await, State::Done);
}

/// `not executed` frees the operation for a claim that names it, in an epoch that no attempt was ever given, and the old
/// owner is out.
pub async fn not_executed_frees_it_in_the_next_epoch(h: &Harness) {
    let op = Op::new(h).await;
    let old = op.unknown().await;
    let resolution = op.resolution(&op.record().await, Owner::mint(), Verdict::NotExecuted);
    let record = resolved(h.resolve(&resolution).await);
    assert_eq!(record.life.state, State::Released);
    assert_eq!(record.life.epoch, old.epoch.next());
    let late = h.complete(&old, &done("late")).await;
    assert_eq!(late, Completed::NotOwner);

    let claim = claimed(h.acquire(&op.wish_seeing(&record)).await);
    assert_eq!(claim.lease.epoch, record.life.epoch.next());
    assert_eq!(claim.attempt, 2);
}

/// A vouched verdict ends the doubt of a takeover: the next attempt's `failed` is final.
pub async fn a_vouched_verdict_ends_the_doubt(h: &Harness) {
    let op = Op::new(h).await;
    let (_, held) = op.taken_over().await;
    h.complete(&held, &doubt("the connection broke")).await;
    let resolution = op.resolution(&op.record().await, Owner::mint(), Verdict::NotExecuted);
    let record = resolved(h.resolve(&resolution).await);
    let next = claimed(h.acquire(&op.wish_seeing(&record)).await).lease;
    let answer = h.complete(&next, &failed("no funds")).await;
    assert_eq!(answer, Completed::Completed);
    assert_eq!(op.state().await, State::Failed);
}

/// A verdict on an epoch that has passed changes nothing.
pub async fn a_verdict_on_a_stale_epoch_is_refused(h: &Harness) {
    let op = Op::new(h).await;
    op.lapse().await;
    let stale = op.record().await;
    let second = claimed(h.acquire(&op.takeover(&stale, LONG)).await).lease;
    h.complete(&second, &doubt("the connection broke")).await;
    let before = op.record().await;
    for verdict in [Verdict::Done, Verdict::Failed, Verdict::NotExecuted] {
        refused(
            h.resolve(&op.resolution(&stale, Owner::mint(), verdict))
                .await,
        );
    }
    refused_fence(h.fence(&op.fence(&stale)).await);
    op.assert_unchanged(&before, "a stale verdict").await;
}

fn fenced(answer: Fenced) -> Record {
    match answer {
        Fenced::Fenced(record) => *record,
        other => panic!("not fenced: {other:?}"),
    }
}

fn refused_fence(answer: Fenced) {
    assert!(matches!(answer, Fenced::Refused(Some(_))), "{answer:?}");
}

fn resolved(answer: Resolved) -> Record {
    match answer {
        Resolved::Resolved(record) => *record,
        other => panic!("not resolved: {other:?}"),
    }
}

fn refused(answer: Resolved) {
    assert!(matches!(answer, Resolved::Refused(Some(_))), "{answer:?}");
}
