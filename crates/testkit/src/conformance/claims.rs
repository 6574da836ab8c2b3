//! Who gets a claim.

use std::collections::HashSet;

use counterfoil_core::{Epoch, lifecycle::State, store::Acquired};

use super::{
    Harness,
    op::{LONG, Op, claimed, found, seen},
};

/// The first claim of an operation is given, in its first epoch, and is on record.
pub async fn a_first_acquire_claims_in_the_first_epoch(h: &Harness) {
    let op = Op::new(h).await;
    let wish = op.wish();
    let claimed = claimed(h.acquire(&wish).await);
    assert_eq!(claimed.lease.id, op.id);
    assert_eq!(claimed.lease.owner, wish.claim.owner);
    assert_eq!(claimed.lease.epoch, Epoch::FIRST);
    assert_eq!(claimed.attempt, 1);

    let record = op.record().await;
    assert_eq!(record.id, op.id);
    assert_eq!(record.identity, op.identity);
    assert_eq!(record.life.state, State::InFlight);
    assert!(record.life.is_held_by(wish.claim.owner, Epoch::FIRST));
    assert_eq!(record.life.first_claimed, Some(record.created));
    assert_eq!(record.exp, Some(op.exp));
}

/// Of 64 concurrent acquires exactly one claims, and the others get the record.
pub async fn of_64_concurrent_acquires_one_claims(h: &Harness) {
    race(h, 64).await;
}

/// Of 1,000 concurrent acquires exactly one claims, and the others get the record.
pub async fn of_1000_concurrent_acquires_one_claims(h: &Harness) {
    race(h, 1_000).await;
}

async fn race(h: &Harness, callers: usize) {
    let op = Op::new(h).await;
    let calls: Vec<_> = (0..callers)
        .map(|_| {
            let (h, wish) = (h.clone(), op.wish());
            tokio::spawn(async move { h.acquire(&wish).await })
        })
        .collect();
    let mut winners = Vec::new();
    let mut owners = HashSet::new();
    for call in calls {
        match call.await.expect("no acquire panics") {
            Acquired::Claimed(claimed) => winners.push(claimed.lease),
            answer => {
                let record = found(answer);
                assert_eq!(record.life.state, State::InFlight);
                owners.extend(record.life.owner);
            }
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?}");
    let owner = winners[0].owner;
    assert!(owners.iter().all(|&other| other == owner), "{owners:?}");
    assert!(op.record().await.life.is_held_by(owner, winners[0].epoch));
}

/// An owner whose reply was lost asks again and gets the same claim.
pub async fn the_same_owner_gets_the_same_claim_again(h: &Harness) {
    let op = Op::new(h).await;
    let wish = op.wish();
    let first = claimed(h.acquire(&wish).await);
    let again = claimed(h.acquire(&wish).await);
    assert_eq!(again, first);
    assert_eq!(op.record().await.attempts, 1);
}

/// Another owner meets the record of the one that runs.
pub async fn another_owner_finds_it_in_flight(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.claim().await;
    let before = op.record().await;
    let record = found(h.acquire(&op.wish()).await);
    assert_eq!(record.life.state, State::InFlight);
    assert!(record.life.is_held_by(held.owner, held.epoch));
    op.assert_unchanged(&before, "another owner's acquire")
        .await;
}

/// A lapsed lease is an unknown outcome: neither another owner nor the same one gets the claim.
pub async fn a_lapsed_lease_reads_as_unknown_and_is_not_claimed(h: &Harness) {
    let op = Op::new(h).await;
    let mut wish = op.wish();
    wish.claim.lease = h.unit();
    let held = claimed(h.acquire(&wish).await).lease;
    h.advance(h.unit()).await;
    assert_eq!(op.state().await, State::Unknown);

    let record = found(h.acquire(&op.wish()).await);
    assert_eq!(record.life.state, State::Unknown);
    assert!(record.life.is_held_by(held.owner, held.epoch));
    let named = op.wish().with_seen(seen(&record));
    assert_eq!(found(h.acquire(&named).await).life.state, State::Unknown);
    assert_eq!(found(h.acquire(&wish).await).life.state, State::Unknown);
}

/// However long it takes, the passing of time frees nothing.
pub async fn time_alone_never_frees_an_operation(h: &Harness) {
    let op = Op::new(h).await;
    let held = op.lapse().await;
    for _ in 0..5 {
        h.advance(h.unit()).await;
        let record = found(h.acquire(&op.wish()).await);
        assert_eq!(record.life.state, State::Unknown);
        assert_eq!(record.life.epoch, held.epoch);
    }
}

/// A claim that names a record that is not there is told so, and claims nothing.
pub async fn a_claim_that_names_a_missing_record_is_told(h: &Harness) {
    let op = Op::new(h).await;
    let other = op.sibling().await;
    other.released().await;
    let record = other.record().await;
    for mut wish in [op.wish_seeing(&record), op.takeover(&record, LONG)] {
        wish.claim.lease = h.unit();
        assert_eq!(h.acquire(&wish).await, Acquired::Gone);
    }
    assert_eq!(op.find().await, None);
}

/// A credential that needs an approval is no way in where none is on record, and writes nothing.
pub async fn a_missing_approval_is_not_an_approval(h: &Harness) {
    let op = Op::new(h).await;
    let mut wish = op.wish();
    wish.claim.needs_approval = true;
    assert_eq!(h.acquire(&wish).await, Acquired::ApprovalMissing);
    assert_eq!(op.find().await, None);

    op.released().await;
    let mut wish = op.wish_seeing(&op.record().await);
    wish.claim.needs_approval = true;
    assert_eq!(h.acquire(&wish).await, Acquired::ApprovalMissing);
    assert_eq!(op.state().await, State::Released);
}
