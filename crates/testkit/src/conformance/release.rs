//! Released operations, and the claims that follow.

use counterfoil_core::{
    Epoch,
    lifecycle::{Seen, State},
    store::Released,
};

use super::{
    Harness,
    lease::strangers,
    op::{Op, claimed, found},
};

/// A release keeps the record, with owner and epoch.
pub async fn a_released_operation_keeps_its_epoch(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.released().await;
    let record = op.record().await;
    assert_eq!(record.life.state, State::Released);
    assert!(record.life.is_held_by(held.owner, held.epoch));
    assert_eq!(found(h.acquire(&op.wish()).await).life, record.life);
}

/// A release whose reply was lost is sent again, and is released.
pub async fn a_release_sent_again_is_released(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.released().await;
    let before = op.record().await;
    for _ in 0..3 {
        assert_eq!(h.release(&held).await, Released::Released);
    }
    assert_eq!(op.record().await, before);
}

/// Releasing takes the owner and the epoch.
pub async fn a_release_by_another_owner_or_epoch_changes_nothing(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    let before = op.record().await;
    for stranger in strangers(&held) {
        assert_eq!(h.release(&stranger).await, Released::NotOwner);
    }
    op.assert_unchanged(&before, "a stranger's release").await;
}

/// An owner whose lease lapsed may still say that it did nothing.
pub async fn a_late_release_of_the_same_owner_counts(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.lapse().await;
    assert_eq!(h.release(&held).await, Released::Released);
    assert_eq!(op.state().await, State::Released);
}

/// A claim from RELEASED names the state and the epoch that it read, and takes the next epoch.
pub async fn a_claim_from_released_names_what_it_read(h: &Harness) {
    let op = Op::new(h).await;
    op.released().await;
    let before = op.record().await;
    found(h.acquire(&op.wish()).await);
    let wrong = [
        Seen {
            state: State::Unknown,
            epoch: before.life.epoch,
        },
        Seen {
            state: State::Released,
            epoch: before.life.epoch.next(),
        },
    ];
    for seen in wrong {
        found(h.acquire(&op.wish().with_seen(seen)).await);
    }
    op.assert_unchanged(&before, "claims that named something else")
        .await;

    let wish = op.wish_seeing(&before);
    let claim = claimed(h.acquire(&wish).await);
    assert_eq!(claim.lease.epoch, before.life.epoch.next());
    assert_eq!(claim.attempt, 2);
    assert_eq!(claimed(h.acquire(&wish).await), claim);
    let record = op.record().await;
    assert_eq!(record.life.state, State::InFlight);
    assert_eq!(record.attempts, 2);
}

/// A delayed copy of a claim from an older RELEASED claims nothing.
pub async fn a_delayed_copy_of_an_older_claim_is_refused(h: &Harness) {
    let op = Op::new(h).await;
    op.released().await;
    let delayed = op.wish_seeing(&op.record().await);
    let second = claimed(h.acquire(&op.wish_seeing(&op.record().await)).await).lease;
    assert_eq!(h.release(&second).await, Released::Released);
    let before = op.record().await;

    let record = found(h.acquire(&delayed).await);
    assert_eq!(record.life.state, State::Released);
    assert_eq!(record.life.epoch, second.epoch);
    op.assert_unchanged(&before, "a delayed copy").await;
}

/// A delayed copy of the released owner's own claim claims nothing, whatever it names.
pub async fn the_released_owners_own_copy_is_refused(h: &Harness) {
    let op = Op::new(h).await;
    let wish = op.wish();
    let held = claimed(h.acquire(&wish).await).lease;
    assert_eq!(held.epoch, Epoch::FIRST);
    assert_eq!(h.release(&held).await, Released::Released);
    let before = op.record().await;

    found(h.acquire(&wish).await);
    let mut naming = op.wish_seeing(&before);
    naming.claim.owner = held.owner;
    found(h.acquire(&naming).await);
    op.assert_unchanged(&before, "the owner's own copy").await;
}
