//! What follows an unknown outcome.

use std::time::Duration;

use counterfoil_core::{
    Owner,
    answer::{Executed, Status},
    engine::{Outcome, Recovery},
    lifecycle::{State, Verdict},
    store::{FenceRequest, Fenced, Resolution, Store},
};
use tokio::{sync::oneshot, time::sleep};

use crate::world::World;

fn takeover() -> World {
    World::with(|gate| {
        gate.with_recovery(Recovery::Takeover {
            window: Duration::from_secs(600),
        })
    })
}

#[tokio::test(start_paused = true)]
async fn by_default_an_unknown_outcome_is_never_run_again() {
    let world = World::new();
    let preview = world.preview().await;
    world
        .confirm_with(&preview, Outcome::Unknown("timeout"))
        .await;
    for _ in 0..5 {
        sleep(Duration::from_secs(100)).await;
        assert_eq!(world.confirm(&preview).await.status, Status::OutcomeUnknown);
    }
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_declared_takeover_runs_again_under_the_next_epoch_and_the_same_key() {
    let world = takeover();
    let preview = world.preview().await;
    world
        .confirm_with(&preview, Outcome::Unknown("timeout"))
        .await;
    let answer = world.confirm(&preview).await;
    assert_eq!(
        (answer.status, answer.attempt),
        (Status::Completed, Some(2))
    );
    assert_eq!(
        world.record(preview.operation_id).await.life.epoch.as_u64(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn after_a_takeover_failed_and_not_executed_are_doubt() {
    for outcome in [Outcome::failed("no funds"), Outcome::NotExecuted] {
        let world = takeover();
        let preview = world.preview().await;
        world
            .confirm_with(&preview, Outcome::Unknown("timeout"))
            .await;
        let answer = world.confirm_with(&preview, outcome).await;
        assert_eq!(
            (answer.status, answer.executed),
            (Status::OutcomeUnknown, Executed::Unknown)
        );
        assert_eq!(world.state(preview.operation_id).await, State::Unknown);
    }
}

#[tokio::test(start_paused = true)]
async fn past_the_window_a_takeover_is_manual() {
    let world = takeover();
    let preview = world.preview().await;
    world
        .confirm_with(&preview, Outcome::Unknown("timeout"))
        .await;
    // The window of 600 s, less the downstream budget of 48 s.
    sleep(Duration::from_secs(600 - 48)).await;
    assert_eq!(world.confirm(&preview).await.status, Status::OutcomeUnknown);
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_was_fenced_is_answered_from_the_record() {
    let world = World::new();
    let preview = world.preview().await;
    let (go, wait) = oneshot::channel::<()>();
    let run = world.spawn(&preview, |_, _| async move {
        wait.await.unwrap();
        Outcome::failed("said too late")
    });
    sleep(Duration::from_secs(61)).await;
    let reconciler = Owner::mint();
    let seen = world.record(preview.operation_id).await.life.epoch;
    let id = preview.operation_id;
    let request = FenceRequest {
        id,
        owner: reconciler,
        seen,
        hold: Duration::from_secs(30),
    };
    let Fenced::Fenced(held) = world.store.fence(&request).await.unwrap() else {
        panic!("it is unknown, and nobody holds it");
    };
    let resolution = Resolution {
        id,
        owner: reconciler,
        seen: held.life.epoch,
        verdict: Verdict::Done,
        vouched: false,
        result: Some(counterfoil_core::store::StoredResult::json(
            bytes::Bytes::from_static(b"\"found\""),
        )),
        result_ref: None,
        by: None,
        reason: "downstream has it".to_owned(),
    };
    world.store.resolve(&resolution).await.unwrap();
    go.send(()).unwrap();
    let told = run.await.unwrap();
    assert_eq!(
        (told.status, told.executed),
        (Status::AlreadyCompleted, Executed::Yes)
    );
    assert_eq!(&told.result.unwrap().bytes[..], b"\"found\"");
    let record = world.record(id).await;
    assert_eq!(record.evidence.len(), 1, "what it said is kept");
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_did_it_is_not_told_that_it_did_not_happen() {
    let world = World::new();
    let preview = world.preview().await;
    let (go, wait) = oneshot::channel::<()>();
    let run = world.spawn(&preview, |_, _| async move {
        wait.await.unwrap();
        Outcome::done("paid all the same")
    });
    sleep(Duration::from_secs(61)).await;
    let id = preview.operation_id;
    let mistaken = Resolution {
        id,
        owner: Owner::mint(),
        seen: world.record(id).await.life.epoch,
        verdict: Verdict::NotExecuted,
        vouched: true,
        result: None,
        result_ref: None,
        by: Some(world.agent.clone()),
        reason: "looked too early".to_owned(),
    };
    world.store.resolve(&mistaken).await.unwrap();
    go.send(()).unwrap();
    let told = run.await.unwrap();
    assert_eq!(
        (told.status, told.executed),
        (Status::OutcomeUnknown, Executed::Unknown)
    );
    assert_eq!(world.record(id).await.evidence.len(), 1);
}
