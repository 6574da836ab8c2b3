//! Who, what, and which params: compared inside acquire, in every state.

use counterfoil_core::{
    ParamHash, Scope, Subject,
    store::{Acquire, Acquired},
};

use super::{
    Harness,
    op::{Op, REACHABLE, seen},
};

/// Another hash is told in every state, with the record, and changes nothing.
pub async fn another_hash_is_told_in_every_state(h: &Harness) {
    for state in REACHABLE {
        let op = Op::new(h).await;
        op.reach(state).await;
        let before = op.record().await;
        for mut wish in claims(&op).await {
            wish.identity.hash = ParamHash::from_bytes([8; 32]);
            match h.acquire(&wish).await {
                Acquired::ParamsChanged(record) => assert_eq!(record.life.state, state),
                other => panic!("{state:?}: {other:?}"),
            }
        }
        op.assert_unchanged(&before, "another hash").await;
    }
}

/// Another principal, or another tenant, learns nothing in any state, and changes nothing.
pub async fn another_subject_is_foreign_in_every_state(h: &Harness) {
    foreign_in_every_state(h, |op| {
        let subject = &op.identity.subject;
        let tenant = format!("{}x", subject.tenant());
        let mut wish = op.wish();
        wish.identity.subject = Subject::new(&tenant, subject.principal()).expect("a short one");
        wish
    })
    .await;
    foreign_in_every_state(h, |op| {
        let mut wish = op.wish();
        wish.identity.subject =
            Subject::new(op.identity.subject.tenant(), "other").expect("a short one");
        wish
    })
    .await;
}

/// Another scope learns nothing in any state, and changes nothing.
pub async fn another_scope_is_foreign_in_every_state(h: &Harness) {
    foreign_in_every_state(h, |op| {
        let mut wish = op.wish();
        wish.identity.scope = Scope::new("testkit.other");
        wish
    })
    .await;
}

/// A stranger with another hash is a stranger: subject and scope come first.
pub async fn a_stranger_learns_nothing_of_the_hash(h: &Harness) {
    foreign_in_every_state(h, |op| {
        let mut wish = op.wish();
        wish.identity.subject =
            Subject::new(op.identity.subject.tenant(), "other").expect("a short one");
        wish.identity.hash = ParamHash::from_bytes([8; 32]);
        wish
    })
    .await;
}

async fn foreign_in_every_state(h: &Harness, wish: impl Fn(&Op<'_>) -> Acquire) {
    for state in REACHABLE {
        let op = Op::new(h).await;
        op.reach(state).await;
        let before = op.record().await;
        let wish = wish(&op);
        assert_eq!(h.acquire(&wish).await, Acquired::Foreign, "{state:?}");
        let named = wish.with_seen(seen(&before));
        assert_eq!(h.acquire(&named).await, Acquired::Foreign, "{state:?}");
        op.assert_unchanged(&before, "a stranger").await;
    }
}

/// The claims that an operation with a record may see: a new one, one that names what it read, and the owner's again.
async fn claims(op: &Op<'_>) -> Vec<Acquire> {
    let record = op.record().await;
    let mut same = op.wish();
    if let Some(owner) = record.life.owner {
        same.claim.owner = owner;
    }
    vec![op.wish(), op.wish_seeing(&record), same]
}
