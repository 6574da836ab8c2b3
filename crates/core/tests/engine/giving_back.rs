//! Claims that nobody runs: they are given back, and nothing else is touched.

use std::time::Duration;

use counterfoil_core::{
    answer::Status,
    engine::{Execution, Outcome, Recovery, Verdict},
    lifecycle::State,
};
use counterfoil_testkit::{Fault, Gate, Method};
use tokio::{sync::oneshot, time::sleep};

use crate::world::{Transfer, World};

/// Lets a claim be applied, while its caller is told that nothing is known of it.
async fn lose_a_claim(world: &World, preview: &counterfoil_core::engine::Preview) {
    world.store.always(Method::Acquire, Some(Fault::ReplyLost));
    assert_eq!(world.confirm(preview).await.status, Status::Unavailable);
    world.store.always(Method::Acquire, None);
}

async fn claimed(
    world: &World,
    preview: &counterfoil_core::engine::Preview,
) -> Execution<Transfer> {
    let fingerprint = preview.fingerprint.as_str();
    let verdict = world
        .gate
        .confirm(&world.agent, fingerprint, world.params())
        .await;
    let Verdict::Run(execution) = verdict else {
        panic!("nobody else claims it");
    };
    execution
}

#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_the_release_is_asked_again_with_pauses() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.always(Method::Release, Some(Fault::NotApplied));
    lose_a_claim(&world, &preview).await;
    sleep(Duration::from_secs(30)).await;
    let asked = world.store.calls(Method::Release);
    assert!((2..=30).contains(&asked), "{asked} times in 30 s");
    world.store.always(Method::Release, None);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(world.state(preview.operation_id).await, State::Released);
}

#[tokio::test(start_paused = true)]
async fn whoever_gives_a_claim_back_holds_its_place_until_then() {
    let world = World::new();
    let preview = world.preview().await;
    world
        .store
        .always(Method::Acquire, Some(Fault::RequestLost));
    assert_eq!(world.confirm(&preview).await.status, Status::Unavailable);
    assert_eq!(world.counterfoil.running(), 1, "it still asks the store");
    world.store.always(Method::Acquire, None);
    world.idle().await;
    assert_eq!(world.state(preview.operation_id).await, State::Released);
}

#[tokio::test(start_paused = true)]
async fn giving_up_a_takeover_takes_nothing_from_the_attempt_that_still_runs() {
    let world = World::with(|gate| {
        gate.with_recovery(Recovery::Takeover {
            window: Duration::from_secs(600),
        })
    });
    let preview = world.preview().await;
    let (go, wait) = oneshot::channel::<()>();
    let first = world.spawn(&preview, |_, _| async move {
        wait.await.unwrap();
        Outcome::done("paid")
    });
    // Past max_run it reads as unknown, and a retry means to take it over; its claim never arrives.
    sleep(Duration::from_secs(61)).await;
    world.store.next_acquire(Fault::Nothing);
    world
        .store
        .always(Method::Acquire, Some(Fault::RequestLost));
    assert_eq!(world.confirm(&preview).await.status, Status::Unavailable);
    world.store.always(Method::Acquire, None);
    sleep(Duration::from_secs(30)).await;
    go.send(()).unwrap();
    assert_eq!(first.await.unwrap().status, Status::Completed);
    assert_eq!(world.state(preview.operation_id).await, State::Done);
}

#[tokio::test(start_paused = true)]
async fn a_takeover_that_was_applied_unseen_ends_in_doubt_before_its_lease_does() {
    let world = World::with(|gate| {
        gate.with_recovery(Recovery::Takeover {
            window: Duration::from_secs(600),
        })
    });
    let preview = world.preview().await;
    world
        .confirm_with(&preview, Outcome::Unknown("timeout"))
        .await;
    world.store.next_acquire(Fault::Nothing);
    lose_a_claim(&world, &preview).await;
    sleep(Duration::from_secs(2)).await;
    let record = world.record(preview.operation_id).await;
    assert_eq!((record.life.state, record.attempts), (State::Unknown, 2));
    assert_eq!(world.effects(), 1);
    assert_eq!(world.counterfoil.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_lapsed_claim_is_given_back_although_the_store_fails_once() {
    let world = World::new();
    let preview = world.preview().await;
    let reply = Gate::new();
    world.store.next_acquire(Fault::HoldAfter(reply.clone()));
    world.store.next_release(Fault::NotApplied);
    let slow = async {
        reply.reached().await;
        sleep(Duration::from_secs(9)).await;
        reply.open();
    };
    let (answer, ()) = tokio::join!(world.confirm(&preview), slow);
    assert_eq!(answer.status, Status::Unavailable);
    world.idle().await;
    assert_eq!(world.state(preview.operation_id).await, State::Released);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_nobody_starts_is_released_although_the_store_fails_once() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.next_release(Fault::RequestLost);
    drop(claimed(&world, &preview).await);
    world.idle().await;
    assert_eq!(world.state(preview.operation_id).await, State::Released);
}

#[tokio::test(start_paused = true)]
async fn what_is_dropped_on_a_thread_without_a_runtime_ends_all_the_same() {
    let world = World::new();
    let (one, two) = (world.preview().await, world.preview().await);
    let execution = claimed(&world, &one).await;
    let running = claimed(&world, &two).await.start();
    std::thread::spawn(move || {
        drop(execution);
        drop(running);
    })
    .join()
    .unwrap();
    world.idle().await;
    assert_eq!(world.state(one.operation_id).await, State::Released);
    assert_eq!(world.state(two.operation_id).await, State::Unknown);
    let record = world.record(two.operation_id).await;
    assert_eq!(
        record.reason.as_deref(),
        Some("the run was dropped before it was completed")
    );
}

#[tokio::test(start_paused = true)]
async fn draining_gives_a_claim_back_before_it_ends() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.next_release(Fault::NotApplied);
    lose_a_claim(&world, &preview).await;
    let drained = world.counterfoil.drain(Duration::from_secs(5)).await;
    assert_eq!(drained, Ok(()));
    assert_eq!(world.state(preview.operation_id).await, State::Released);
}
