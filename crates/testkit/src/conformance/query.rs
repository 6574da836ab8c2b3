//! Find and list, calls on what is not there, and calls that end.

use counterfoil_core::{
    Epoch, Owner,
    lifecycle::{Ending, State, Verdict},
    store::{
        Annotated, Completed, Fenced, Lease, Listing, Page, Received, Record, Released, Renewed,
        Resolved,
    },
};

use super::{
    Harness,
    op::{LONG, Op, RETENTION, claimed, done, note},
};

/// Absence is told with the clock that judged it, and that clock moves.
pub async fn absence_is_told_with_the_clock(h: &Harness) {
    let op = Op::new(h).await;
    let first = h.find(op.id).await;
    assert_eq!(first.record, None);
    h.advance(h.unit()).await;
    let second = h.find(op.id).await;
    assert_eq!(second.record, None);
    assert!(second.now >= first.now + h.unit(), "{first:?} {second:?}");
    op.claim().await;
    let third = h.find(op.id).await;
    assert!(third.record.is_some());
    assert!(third.now >= second.now, "{second:?} {third:?}");
}

/// Nothing comes of calls on an operation that has no record.
pub async fn calls_on_an_absent_operation_change_nothing(h: &Harness) {
    let op = Op::new(h).await;
    let held = nobodys(&op);
    assert_eq!(h.renew(&held, LONG).await, Renewed::NotOwner);
    assert_eq!(h.complete(&held, &done("x")).await, Completed::NotOwner);
    assert_eq!(h.release(&held).await, Released::NotOwner);
    let noted = h.annotate(&held, &note(Some("x"), None)).await;
    assert_eq!(noted, Annotated::NotOwner);
    let receipt = op.receipt(&held, Ending::Done);
    assert_eq!(h.receive(&receipt).await, Received::Absent);
    let imagined = imagined(&op).await;
    assert_eq!(h.fence(&op.fence(&imagined)).await, Fenced::Refused(None));
    let resolution = op.resolution(&imagined, Owner::mint(), Verdict::Failed);
    assert_eq!(h.resolve(&resolution).await, Resolved::Refused(None));
    assert_eq!(op.find().await, None);
    assert_eq!(op.claim().await.epoch, Epoch::FIRST);
}

/// A listing shows what reads as the state now, in all of its fields.
pub async fn a_listing_shows_what_reads_as_the_state_now(h: &Harness) {
    let op = Op::new(h).await;
    op.claim_for(h.unit()).await;
    assert_eq!(list(&op, State::InFlight).await, [op.record().await]);
    assert_eq!(list(&op, State::Unknown).await, []);
    h.advance(h.unit()).await;
    assert_eq!(list(&op, State::InFlight).await, []);
    assert_eq!(list(&op, State::Unknown).await, [op.record().await]);
    let ended = op.sibling().await;
    ended.reach(State::Done).await;
    assert_eq!(list(&op, State::Done).await, [ended.record().await]);
}

/// A listing of a tenant shows nothing of another's.
pub async fn a_listing_keeps_to_its_tenant(h: &Harness) {
    let (one, other) = (Op::new(h).await, Op::new(h).await);
    one.claim().await;
    other.claim().await;
    assert_eq!(list(&one, State::InFlight).await, [one.record().await]);
    assert_eq!(list(&other, State::InFlight).await, [other.record().await]);
    // No subject has a tenant without a name, so that its listing is empty, and not everybody's.
    let nobodys = h.list(&Listing::new(State::InFlight).with_tenant("")).await;
    assert_eq!((nobodys.records, nobodys.more), (Vec::new(), false));
}

/// Pages follow each other in the order of the ids, without gaps and doubles.
pub async fn a_listing_pages_in_the_order_of_ids(h: &Harness) {
    let op = Op::new(h).await;
    let mut ids = vec![op.id];
    op.claim().await;
    for _ in 0..4 {
        let sibling = op.sibling().await;
        sibling.claim().await;
        ids.push(sibling.id);
    }
    ids.sort();

    let mut listed = Vec::new();
    let mut listing = tenants(&op, State::InFlight).with_limit(2);
    loop {
        let page = h.list(&listing).await;
        assert!(page.records.len() <= 2, "{}", page.records.len());
        listed.extend(page.records.iter().map(|record| record.id));
        match page.records.last() {
            Some(last) if page.more => listing = listing.with_after(last.id),
            _ => break,
        }
        assert!(listed.len() <= ids.len(), "{listed:?}");
    }
    assert_eq!(listed, ids);
}

/// Every call ends in a time of the store's own, whatever stands.
pub async fn every_call_ends_in_time(h: &Harness) {
    for exists in [false, true] {
        let op = Op::new(h).await;
        let held = if exists {
            claimed(h.acquire(&op.wish()).await).lease
        } else {
            nobodys(&op)
        };
        let imagined = imagined(&op).await;
        h.renew(&held, LONG).await;
        h.annotate(&held, &note(None, None)).await;
        h.fence(&op.fence(&imagined)).await;
        h.resolve(&op.resolution(&imagined, Owner::mint(), Verdict::Done))
            .await;
        h.complete(&held, &done("x")).await;
        h.receive(&op.receipt(&held, Ending::Done)).await;
        h.release(&held).await;
        h.find(op.id).await;
        list(&op, State::Done).await;
        h.purge(1).await;
        h.cancel(&op.cancellation()).await;
        h.acquire(&op.wish()).await;
    }
}

async fn list(op: &Op<'_>, state: State) -> Vec<Record> {
    let Page { records, more } = op.h.list(&tenants(op, state)).await;
    assert!(!more, "one page holds what a case makes");
    records
}

fn tenants(op: &Op<'_>, state: State) -> Listing {
    Listing::new(state).with_tenant(op.identity.subject.tenant())
}

/// A lease that nobody was given.
fn nobodys(op: &Op<'_>) -> Lease {
    Lease {
        id: op.id,
        owner: Owner::mint(),
        epoch: Epoch::FIRST,
    }
}

/// A record that the store does not have.
async fn imagined(op: &Op<'_>) -> Record {
    let mut life = counterfoil_core::lifecycle::Life::new(State::Unknown);
    life.epoch = Epoch::FIRST;
    let now = op.h.now().await;
    Record::new(op.id, op.identity.clone(), life, None, RETENTION, now)
}
