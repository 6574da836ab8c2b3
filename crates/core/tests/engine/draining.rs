//! Draining: nothing new is taken, and what was taken is waited for.

use std::time::Duration;

use counterfoil_core::{
    answer::Status,
    engine::{Outcome, StillRunning, Verdict},
    lifecycle::State,
};

use crate::world::World;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn draining_waits_for_what_runs_and_takes_nothing_new() {
    let world = World::new();
    let (one, two) = (world.preview().await, world.preview().await);
    let running = world.spawn(&one, |_, _| async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        Outcome::done(&1)
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        world.counterfoil.drain(Duration::from_secs(2)).await,
        Err(StillRunning(1))
    );
    let refused = world.confirm(&two).await;
    assert_eq!(
        (refused.status, refused.retryable),
        (Status::Unavailable, true)
    );
    assert_eq!(
        world.counterfoil.drain(Duration::from_secs(30)).await,
        Ok(())
    );
    assert_eq!(running.await.unwrap().status, Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_was_won_and_not_started_is_waited_for() {
    let world = World::new();
    let preview = world.preview().await;
    let Verdict::Run(execution) = world
        .gate
        .confirm(&world.agent, preview.fingerprint.as_str(), world.params())
        .await
    else {
        panic!("nobody else claims it");
    };
    assert_eq!(
        world.counterfoil.drain(SECOND).await,
        Err(StillRunning(1)),
        "it may be started at any time"
    );
    let running = execution.start();
    // Past max_run nothing renews it any more, and it still runs.
    assert_eq!(
        world.counterfoil.drain(120 * SECOND).await,
        Err(StillRunning(1))
    );
    let settled = running.complete(Outcome::done("late")).await;
    assert_eq!(settled.answer.status, Status::Completed);
    assert_eq!(world.counterfoil.drain(SECOND).await, Ok(()));
    assert_eq!(world.state(preview.operation_id).await, State::Done);
}

#[tokio::test(start_paused = true)]
async fn a_place_that_was_taken_is_waited_for() {
    let world = World::new();
    let place = world.gate.admit().unwrap();
    assert_eq!(world.counterfoil.drain(SECOND).await, Err(StillRunning(1)));
    drop(place);
    assert_eq!(world.counterfoil.drain(SECOND).await, Ok(()));
}
