//! Doubt that is said again.

mod common;

use std::time::Duration;

use common::{Op, Stage, builder, claimed, found, patient, seen};
use counterfoil_core::{
    lifecycle::State,
    store::{Completed, Completion, Released, Store},
};
use counterfoil_servers::{Shared, shared};

/// After a takeover a release is doubt. Where the owner has said already why it doubts, that stays on record.
#[tokio::test]
async fn a_release_that_changes_nothing_keeps_the_reason() {
    let url = shared(Shared::Postgres);
    let (stage, builder) = Stage::new(patient(builder(&url)), &url).await;
    let store = builder.connect().await.expect("it is fit for it");
    let op = Op::minted(stage.now().await);
    claimed(store.acquire(&op.wish()).await.expect("it is free"));
    stage.advance(Duration::from_secs(600)).await;
    let lapsed = found(store.acquire(&op.wish()).await.expect("it answers"));
    let mut takeover = op.wish().with_seen(seen(&lapsed));
    takeover.claim.takeover_within = Some(Duration::from_secs(3_600));
    let held = claimed(store.acquire(&takeover).await.expect("it is declared safe"));

    let doubt = Completion::Unknown {
        reason: "the connection broke".to_owned(),
    };
    let answer = store.complete(&held, &doubt).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    let before = found(store.acquire(&op.wish()).await.expect("it answers"));
    assert_eq!(before.life.state, State::Unknown);
    stage.advance(Duration::from_secs(1)).await;
    let answer = store.release(&held).await;
    assert_eq!(answer.expect("it is ours"), Released::InDoubt);
    let after = found(store.acquire(&op.wish()).await.expect("it answers"));
    assert_eq!(after, before);
}
