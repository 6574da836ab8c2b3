//! Leases, runs and credentials against the clock.

use std::time::Duration;

use counterfoil_core::{
    Timestamp,
    answer::{Executed, Status},
    engine::Outcome,
    lifecycle::State,
    store::RETENTION_SKEW,
};
use counterfoil_testkit::{Fault, Gate, Method};
use tokio::time::sleep;

use crate::world::{World, lease_time};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_healthy_run_of_six_leases_is_never_unknown() {
    let world = World::new();
    let preview = world.preview().await;
    let run = world.spawn(&preview, |attempt, _| async move {
        sleep(Duration::from_secs(54)).await;
        assert!(!attempt.is_lease_lost());
        assert!(attempt.downstream_key().is_ok());
        Outcome::done(&1)
    });
    sleep(Duration::from_millis(500)).await;
    for _ in 0..53 {
        assert_eq!(world.state(preview.operation_id).await, State::InFlight);
        sleep(SECOND).await;
    }
    assert_eq!(run.await.unwrap().status, Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn past_max_run_it_reads_unknown_and_a_late_end_still_counts() {
    let world = World::new();
    let preview = world.preview().await;
    let run = world.spawn(&preview, |attempt, _| async move {
        let told = tokio::time::timeout(Duration::from_secs(61), attempt.lease_lost()).await;
        assert!(told.is_ok(), "the handler is told when max_run is over");
        assert!(
            attempt.downstream_key().is_err(),
            "nothing more goes downstream"
        );
        assert!(attempt.effect_started().is_err());
        sleep(Duration::from_secs(30)).await;
        Outcome::done("late")
    });
    sleep(Duration::from_secs(59)).await;
    assert_eq!(world.state(preview.operation_id).await, State::InFlight);
    sleep(2 * SECOND).await;
    assert_eq!(world.state(preview.operation_id).await, State::Unknown);
    assert_eq!(world.confirm(&preview).await.status, Status::OutcomeUnknown);
    assert_eq!(run.await.unwrap().status, Status::Completed);
    assert_eq!(
        world.confirm(&preview).await.status,
        Status::AlreadyCompleted
    );
    assert_eq!(world.effects(), 0, "no duplicate ran");
}

#[tokio::test(start_paused = true)]
async fn an_unrenewed_lease_lapses_and_nothing_runs_again() {
    let long = lease_time()
        .with_lease(Duration::from_secs(50))
        .without_renewal();
    let world = World::with(|gate| gate.with_lease_time(long));
    let preview = world.preview().await;
    let run = world.spawn(&preview, |_, _| async {
        sleep(Duration::from_secs(55)).await;
        Outcome::done("late")
    });
    sleep(Duration::from_secs(51)).await;
    assert_eq!(world.store.calls(Method::Renew), 0);
    assert_eq!(world.confirm(&preview).await.status, Status::OutcomeUnknown);
    assert_eq!(run.await.unwrap().status, Status::Completed);
    assert_eq!(world.effects(), 0);
}

#[tokio::test(start_paused = true)]
async fn renewals_that_fail_until_the_lease_lapses_are_told_to_the_handler() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.fail_all_renews(true);
    let answer = world
        .gate
        .run(
            &world.agent,
            preview.fingerprint.as_str(),
            world.params(),
            |attempt, _| async move {
                let told =
                    tokio::time::timeout(Duration::from_secs(10), attempt.lease_lost()).await;
                assert!(told.is_ok());
                Outcome::Unknown("stopped half way")
            },
        )
        .await;
    assert_eq!(answer.status, Status::OutcomeUnknown);
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_hangs_does_not_hide_the_lapse_from_the_handler() {
    let world = World::new();
    let preview = world.preview().await;
    let hung = Gate::new();
    world.store.next_renew(Fault::HoldBefore(hung.clone()));
    let answer = world
        .gate
        .run(
            &world.agent,
            preview.fingerprint.as_str(),
            world.params(),
            |attempt, _| async move {
                let told =
                    tokio::time::timeout(Duration::from_secs(10), attempt.lease_lost()).await;
                assert!(told.is_ok());
                Outcome::done("late")
            },
        )
        .await;
    assert_eq!(answer.status, Status::Completed);
    hung.open();
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_ends_past_max_run_is_stored_although_the_store_fails_once() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.next_complete(Fault::NotApplied);
    let answer = world
        .gate
        .run(
            &world.agent,
            preview.fingerprint.as_str(),
            world.params(),
            |_, _| async {
                sleep(Duration::from_secs(90)).await;
                Outcome::done("late")
            },
        )
        .await;
    assert_eq!(answer.status, Status::Completed);
    assert_eq!(world.state(preview.operation_id).await, State::Done);
}

#[tokio::test(start_paused = true)]
async fn one_second_before_exp_passes_and_at_exp_is_refused() {
    let world = World::new();
    let (in_time, late) = (world.preview().await, world.preview().await);
    let life = in_time.expires_at.since(in_time.now);
    sleep(life - SECOND).await;
    assert_eq!(world.confirm(&in_time).await.status, Status::Completed);
    sleep(SECOND).await;
    let refused = world.confirm(&late).await;
    assert_eq!(
        (refused.status, refused.executed),
        (Status::FingerprintExpired, Executed::No)
    );
    assert_eq!(world.effects(), 1);
    // A retry of an operation that has a record is answered after exp.
    assert_eq!(
        world.confirm(&in_time).await.status,
        Status::AlreadyCompleted
    );
}

#[tokio::test(start_paused = true)]
async fn after_exp_a_released_operation_is_not_executed_for_good() {
    let world = World::new();
    let preview = world.preview().await;
    world.confirm_with(&preview, Outcome::NotExecuted).await;
    sleep(preview.expires_at.since(preview.now)).await;
    let answer = world.confirm(&preview).await;
    assert_eq!(
        (answer.status, answer.executed),
        (Status::NotExecuted, Executed::No)
    );
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_released_operation_is_not_executed_yet_for_as_long_as_it_can_be_claimed() {
    let world = World::new();
    let preview = world.preview().await;
    world.confirm_with(&preview, Outcome::NotExecuted).await;
    let life = preview.expires_at.since(preview.now);
    for (wait, executed) in [(life - SECOND, Executed::NotYet), (SECOND, Executed::No)] {
        sleep(wait).await;
        let status = world
            .counterfoil
            .status_by_id(&world.agent, preview.operation_id)
            .await;
        assert_eq!(
            (status.status, status.executed),
            (Status::NotExecuted, executed)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn once_a_done_record_may_have_been_dropped_nobody_is_told_no() {
    let retention = Duration::from_secs(3600);
    let world = World::with(|gate| gate.with_retention(retention));
    let preview = world.preview().await;
    world.confirm(&preview).await;
    let life = preview.expires_at.since(preview.now);
    sleep(life + retention - SECOND).await;
    assert_eq!(
        world.confirm(&preview).await.status,
        Status::AlreadyCompleted
    );
    sleep(RETENTION_SKEW + 2 * SECOND).await;
    counterfoil_core::store::Store::purge(&world.store, 100)
        .await
        .unwrap();
    let answer = world.confirm(&preview).await;
    assert_eq!(
        (answer.status, answer.executed),
        (Status::FingerprintExpired, Executed::Unknown)
    );
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_preview_ends_with_its_quote() {
    let world = World::new();
    let now = world.preview().await.now;
    let quote = now + Duration::from_secs(90);
    let clamped = world
        .gate
        .preview_until(&world.agent, &world.params(), Some(quote))
        .await
        .unwrap();
    assert_eq!(clamped.expires_at, quote);
    let far = now + Duration::from_secs(86_400);
    let own = world
        .gate
        .preview_until(&world.agent, &world.params(), Some(far))
        .await
        .unwrap();
    assert_eq!(own.expires_at, now + Duration::from_secs(15 * 60));
    let over = Timestamp::from_unix_ms(now.unix_ms() + 999);
    let refused = world
        .gate
        .preview_until(&world.agent, &world.params(), Some(over))
        .await;
    let refused = refused.unwrap_err();
    assert_eq!(
        (refused.status, refused.executed),
        (Status::FingerprintExpired, Executed::No)
    );
}
