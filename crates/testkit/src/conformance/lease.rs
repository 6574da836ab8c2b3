//! Renewing.

use counterfoil_core::{
    Owner,
    lifecycle::State,
    store::{Completed, Lease, Renewed},
};

use super::{
    Harness,
    op::{LONG, Op, claimed, done},
};

/// A healthy owner that renews stays in flight for ten leases, and then completes.
pub async fn a_renewed_lease_outlives_ten_leases(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim_for(h.unit()).await;
    for _ in 0..20 {
        h.advance(h.unit() / 2).await;
        assert_eq!(h.renew(&held, h.unit()).await, Renewed::Renewed);
    }
    assert_eq!(op.state().await, State::InFlight);
    let completed = h.complete(&held, &done("the result")).await;
    assert_eq!(completed, Completed::Completed);
}

/// A claim that is asked again has its lease from then on: its caller counts from the call that was answered.
pub async fn a_claim_asked_again_begins_its_lease_anew(h: &Harness) {
    let op = Op::new(h).await;
    let mut wish = op.wish();
    wish.claim.lease = h.unit() * 2;
    let first = claimed(h.acquire(&wish).await);
    h.advance(h.unit()).await;
    assert_eq!(claimed(h.acquire(&wish).await), first);
    h.advance(h.unit() * 3 / 2).await;
    assert_eq!(op.state().await, State::InFlight);
}

/// A renewal whose reply was lost can be asked again.
pub async fn a_renewal_can_be_asked_again(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim_for(h.unit() * 2).await;
    for _ in 0..3 {
        assert_eq!(h.renew(&held, LONG).await, Renewed::Renewed);
    }
    h.advance(h.unit() * 3).await;
    assert_eq!(op.state().await, State::InFlight);
}

/// A renewal asks for at least so much: it never takes time away.
pub async fn a_renewal_never_shortens_a_lease(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    assert_eq!(h.renew(&held, h.unit()).await, Renewed::Renewed);
    h.advance(h.unit() * 2).await;
    assert_eq!(op.state().await, State::InFlight);
}

/// A renewal after the lapse is told so, and does not bring the lease back.
pub async fn a_renewal_after_the_lapse_is_told(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.lapse().await;
    assert_eq!(h.renew(&held, LONG).await, Renewed::Lapsed);
    assert_eq!(op.state().await, State::Unknown);
}

/// Renewing takes the owner and the epoch.
pub async fn a_renewal_by_another_owner_or_epoch_changes_nothing(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim_for(h.unit()).await;
    for stranger in strangers(&held) {
        assert_eq!(h.renew(&stranger, LONG).await, Renewed::NotOwner);
    }
    h.advance(h.unit()).await;
    assert_eq!(op.state().await, State::Unknown);
}

/// What has ended has no lease.
pub async fn an_ended_operation_is_not_renewed(h: &Harness) {
    for state in [State::Done, State::Failed, State::Released] {
        let op = Op::new(h).await;
        let held = op.reach(state).await.expect("an owner ended it");
        let before = op.record().await;
        assert_eq!(h.renew(&held, LONG).await, Renewed::NotOwner, "{state:?}");
        op.assert_unchanged(&before, "a renewal").await;
    }
}

/// Leases that differ from `held` in the owner, or in the epoch.
pub(crate) fn strangers(held: &Lease) -> [Lease; 2] {
    [
        Lease {
            owner: Owner::mint(),
            ..*held
        },
        Lease {
            epoch: held.epoch.next(),
            ..*held
        },
    ]
}
