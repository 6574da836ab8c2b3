//! After which calls watches are told.

use std::time::Duration;

use counterfoil_core::{
    Owner, Subject,
    lifecycle::{Ending, Verdict},
    store::{
        Annotation, Cancellation, Cancelled, Completion, FenceRequest, Fenced, Lease, Receipt,
        Received, Released, Resolution, Resolved, Store,
    },
};

use crate::world::{LEASE, World, paid};

async fn announced(world: &World) -> usize {
    world.store.settled().await;
    let told = world.cache.announced();
    assert!(told.iter().all(|id| *id == world.id));
    told.len()
}

#[tokio::test(start_paused = true)]
async fn a_completion_is_told_and_one_that_came_too_late_is_not() {
    let world = World::new();
    let held = world.claim().await;
    assert_eq!(announced(&world).await, 0, "a claim is nobody's news");
    world.store.renew(&held, LEASE).await.unwrap();
    let note = Annotation::default();
    world.store.annotate(&held, &note).await.unwrap();
    assert_eq!(announced(&world).await, 0);
    world.store.complete(&held, &paid()).await.unwrap();
    assert_eq!(announced(&world).await, 1);
    let late = Lease {
        owner: Owner::mint(),
        ..held
    };
    world.store.complete(&late, &paid()).await.unwrap();
    assert_eq!(announced(&world).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_release_and_a_cancellation_are_told() {
    let world = World::new();
    let held = world.claim().await;
    let cancellation = Cancellation {
        id: world.id,
        subject: world.identity.subject.clone(),
        tombstone: None,
        reason: None,
    };
    let cancelled = world.store.cancel(&cancellation).await.unwrap();
    assert!(matches!(cancelled, Cancelled::TooLate(_)));
    assert_eq!(announced(&world).await, 0);
    let released = world.store.release(&held).await.unwrap();
    assert_eq!(released, Released::Released);
    assert_eq!(announced(&world).await, 1);
    let cancelled = world.store.cancel(&cancellation).await.unwrap();
    assert!(matches!(cancelled, Cancelled::Cancelled(_)));
    assert_eq!(announced(&world).await, 1);
    assert_eq!(
        world.store.release(&held).await.unwrap(),
        Released::NotOwner
    );
    assert_eq!(announced(&world).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_receipt_is_told() {
    let world = World::new();
    let held = world.claim().await;
    let accepted = Completion::Accepted {
        deadline: None,
        result: None,
        result_ref: None,
    };
    world.store.complete(&held, &accepted).await.unwrap();
    assert_eq!(announced(&world).await, 1);
    let receipt = Receipt {
        id: world.id,
        epoch: held.epoch,
        ending: Ending::Done,
        result: None,
        result_ref: None,
    };
    let received = world.store.receive(&receipt).await.unwrap();
    assert_eq!(received, Received::Received);
    assert_eq!(announced(&world).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_fence_and_a_resolution_are_told() {
    let world = World::new();
    let held = world.claim().await;
    world.clock.advance(LEASE);
    let fence = FenceRequest {
        id: world.id,
        owner: Owner::mint(),
        seen: held.epoch,
        hold: Duration::from_secs(60),
    };
    let fenced = world.store.fence(&fence).await.unwrap();
    assert!(matches!(fenced, Fenced::Fenced(_)));
    assert_eq!(announced(&world).await, 1);
    let resolution = Resolution {
        id: world.id,
        owner: fence.owner,
        seen: held.epoch.next(),
        verdict: Verdict::Done,
        vouched: false,
        result: None,
        result_ref: None,
        by: Some(Subject::new("acme", "operator").unwrap()),
        reason: "downstream was asked".to_owned(),
    };
    let resolved = world.store.resolve(&resolution).await.unwrap();
    assert!(matches!(resolved, Resolved::Resolved(_)));
    assert_eq!(announced(&world).await, 1);
    let again = world.store.resolve(&resolution).await.unwrap();
    assert!(matches!(again, Resolved::Refused(_)));
    assert_eq!(announced(&world).await, 0);
}
