//! One run, its retries, and what a handler says of it.

use std::{sync::Arc, time::Duration};

use counterfoil_core::{
    answer::{Executed, Status, ThisCall},
    engine::{Disposition, Outcome, Verdict},
    lifecycle::State,
};
use counterfoil_testkit::Method;
use tokio::sync::{Notify, oneshot};

use crate::world::World;

#[tokio::test(start_paused = true)]
async fn a_retry_gets_the_first_result_byte_for_byte() {
    let world = World::new();
    let preview = world.preview().await;
    let first = world.confirm(&preview).await;
    assert_eq!(
        (first.status, first.this_call),
        (Status::Completed, ThisCall::Ran)
    );
    let again = world.confirm(&preview).await;
    assert_eq!(
        (again.status, again.this_call),
        (Status::AlreadyCompleted, ThisCall::NotRun)
    );
    assert_eq!(again.executed, Executed::Yes);
    assert_eq!(again.operation_id, Some(preview.operation_id));
    assert_eq!(first.result.unwrap().bytes, again.result.unwrap().bytes);
    assert_eq!(world.effects(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_confirms_at_once_run_once() {
    let world = Arc::new(World::new());
    let preview = Arc::new(world.preview().await);
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let (world, preview) = (Arc::clone(&world), Arc::clone(&preview));
        all.spawn(async move { world.confirm(&preview).await.status });
    }
    let statuses = all.join_all().await;
    let ran = statuses.iter().filter(|s| **s == Status::Completed).count();
    assert_eq!(ran, 1);
    assert!(statuses.iter().all(|s| matches!(
        s,
        Status::Completed | Status::AlreadyCompleted | Status::InProgress
    )));
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_in_flight_is_told_at_once_with_a_time_to_ask_again() {
    let world = World::with(|gate| gate.with_poll_after(Duration::from_millis(700)));
    let preview = world.preview().await;
    let go = Arc::new(Notify::new());
    let (started, wait) = oneshot::channel();
    let gate = world.gate.clone();
    let (agent, params, fingerprint, held) = (
        world.agent.clone(),
        world.params(),
        preview.fingerprint.clone(),
        Arc::clone(&go),
    );
    let first = tokio::spawn(async move {
        gate.run(
            &agent,
            fingerprint.as_str(),
            params,
            move |_, _| async move {
                started.send(()).unwrap();
                held.notified().await;
                Outcome::done(&1)
            },
        )
        .await
    });
    wait.await.unwrap();
    let second = world.confirm(&preview).await;
    assert_eq!(
        (second.status, second.executed),
        (Status::InProgress, Executed::Pending)
    );
    assert_eq!(second.poll_after, Some(Duration::from_millis(700)));
    assert!(!second.retryable);
    go.notify_one();
    assert_eq!(first.await.unwrap().status, Status::Completed);
    assert_eq!(world.effects(), 0, "the duplicate's handler never ran");
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_changes_nothing() {
    let world = World::new();
    let preview = world.preview().await;
    let effect = world.effect();
    let run = world.gate.run(
        &world.agent,
        preview.fingerprint.as_str(),
        world.params(),
        |_, _| async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            effect();
            Outcome::done("paid")
        },
    );
    assert!(
        tokio::time::timeout(Duration::from_secs(1), run)
            .await
            .is_err(),
        "the caller left"
    );
    world.idle().await;
    assert_eq!(world.effects(), 1);
    assert_eq!(
        world.confirm(&preview).await.status,
        Status::AlreadyCompleted
    );
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_before_the_claim_is_sent_changes_nothing_either() {
    // Dropped after its first poll: the task has the operation already.
    let world = World::new();
    let preview = world.preview().await;
    let run = world.confirm(&preview);
    assert!(tokio::time::timeout(Duration::ZERO, run).await.is_err());
    world.idle().await;
    assert_eq!(world.effects(), 1);
    assert_eq!(world.state(preview.operation_id).await, State::Done);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_unknown_and_never_runs_again() {
    let world = World::new();
    let preview = world.preview().await;
    let answer = world
        .gate
        .run(
            &world.agent,
            preview.fingerprint.as_str(),
            world.params(),
            |_, _| async {
                if true {
                    panic!("the handler broke: secret-of-the-handler");
                }
                Outcome::NotExecuted
            },
        )
        .await;
    assert_eq!(
        (answer.status, answer.executed),
        (Status::OutcomeUnknown, Executed::Unknown)
    );
    assert!(!format!("{answer:?}").contains("secret-of-the-handler"));
    assert_eq!(world.confirm(&preview).await.status, Status::OutcomeUnknown);
    assert_eq!(world.effects(), 0);
    let record = world.record(preview.operation_id).await;
    assert_eq!(record.life.state, State::Unknown);
    assert_eq!(record.reason.as_deref(), Some("the handler panicked"));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_did_nothing_frees_the_operation_for_the_next_epoch() {
    let world = World::new();
    let preview = world.preview().await;
    let first = world.confirm_with(&preview, Outcome::NotExecuted).await;
    assert_eq!(
        (first.status, first.executed),
        (Status::NotExecuted, Executed::NotYet)
    );
    assert_eq!(world.state(preview.operation_id).await, State::Released);
    let second = world.confirm(&preview).await;
    assert_eq!(
        (second.status, second.attempt),
        (Status::Completed, Some(2))
    );
    assert_eq!(
        world.record(preview.operation_id).await.life.epoch.as_u64(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn failed_is_final_and_its_result_is_kept() {
    let world = World::new();
    let preview = world.preview().await;
    let first = world
        .confirm_with(&preview, Outcome::failed("no funds"))
        .await;
    assert_eq!(
        (first.status, first.executed),
        (Status::AlreadyFailed, Executed::No)
    );
    let again = world.confirm(&preview).await;
    assert_eq!(again.status, Status::AlreadyFailed);
    assert_eq!(&again.result.unwrap().bytes[..], br#""no funds""#);
    assert_eq!(world.effects(), 1, "the second handler never ran");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_encoded_is_unknown() {
    let world = World::new();
    let preview = world.preview().await;
    let keyed_by_list = std::collections::HashMap::from([(vec![1], 1)]);
    let answer = world
        .confirm_with(&preview, Outcome::done(&keyed_by_list))
        .await;
    assert_eq!(answer.status, Status::OutcomeUnknown);
}

#[tokio::test(start_paused = true)]
async fn a_word_that_contradicts_the_outcome_leaves_doubt() {
    let world = World::new();
    let preview = world.preview().await;
    let answer = world
        .gate
        .run(
            &world.agent,
            preview.fingerprint.as_str(),
            world.params(),
            |attempt, _| async move {
                assert!(attempt.declare(Disposition::NotExecuted));
                assert!(
                    !attempt.declare(Disposition::Done),
                    "another word does not take"
                );
                Outcome::done(&1)
            },
        )
        .await;
    assert_eq!(answer.status, Status::OutcomeUnknown);
}

#[tokio::test(start_paused = true)]
async fn a_word_after_the_end_does_not_take() {
    let world = World::new();
    let preview = world.preview().await;
    let (leak, leaked) = oneshot::channel();
    world
        .gate
        .run(
            &world.agent,
            preview.fingerprint.as_str(),
            world.params(),
            |attempt, _| async move {
                leak.send(attempt).unwrap();
                Outcome::done(&1)
            },
        )
        .await;
    let attempt = leaked.await.unwrap();
    assert!(!attempt.declare(Disposition::NotExecuted));
    assert_eq!(world.state(preview.operation_id).await, State::Done);
}

#[tokio::test(start_paused = true)]
async fn the_context_names_the_operation_and_gets_the_params_that_were_hashed() {
    let world = World::new();
    let preview = world.preview().await;
    let id = preview.operation_id;
    let answer = world
        .gate
        .run(
            &world.agent,
            preview.fingerprint.as_str(),
            world.params(),
            move |attempt, params| async move {
                assert_eq!(attempt.operation_id(), id);
                assert!(attempt.is_clean());
                assert_eq!(
                    attempt.downstream_key().unwrap().to_string(),
                    id.to_string()
                );
                assert!(!attempt.is_clean());
                assert_eq!(
                    *params,
                    *attempt.params::<crate::world::Transfer>().unwrap()
                );
                attempt.set_provider_ref("ch_17").await.unwrap();
                attempt.set_result_ref("INV-9").unwrap();
                assert!(attempt.set_result_ref("x".repeat(257)).is_err());
                Outcome::Done(None)
            },
        )
        .await;
    assert_eq!(answer.result_ref.as_deref(), Some("INV-9"));
    let record = world.record(id).await;
    assert_eq!(record.provider_ref.as_deref(), Some("ch_17"));
    assert_eq!(record.result_ref.as_deref(), Some("INV-9"));
    let again = world.confirm(&preview).await;
    assert_eq!(
        (again.status, again.result),
        (Status::AlreadyCompleted, None)
    );
}

#[tokio::test(start_paused = true)]
async fn each_way_to_tell_of_an_effect_makes_the_attempt_dirty() {
    for way in 0..3 {
        let world = World::new();
        let preview = world.preview().await;
        let run = world.gate.run(
            &world.agent,
            preview.fingerprint.as_str(),
            world.params(),
            move |attempt, _| async move {
                attempt.set_result_ref("INV-1").unwrap();
                assert!(attempt.is_clean(), "a number of ours is no effect");
                match way {
                    0 => attempt.effect_started().unwrap(),
                    1 => assert!(attempt.downstream_key().is_ok()),
                    _ => attempt.set_provider_ref("ch_17").await.unwrap(),
                }
                assert!(!attempt.is_clean());
                Outcome::done(&1)
            },
        );
        assert_eq!(run.await.status, Status::Completed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_document_number_that_comes_too_late_is_told_to_nobody() {
    let world = World::new();
    let preview = world.preview().await;
    let held = counterfoil_testkit::Gate::new();
    world
        .store
        .next_complete(counterfoil_testkit::Fault::HoldBefore(held.clone()));
    let (leak, leaked) = oneshot::channel();
    let run = world.gate.run(
        &world.agent,
        preview.fingerprint.as_str(),
        world.params(),
        |attempt, _| async move {
            attempt.set_result_ref("INV-1").unwrap();
            leak.send(attempt).unwrap();
            Outcome::done(&1)
        },
    );
    let late = async {
        let attempt = leaked.await.unwrap();
        held.reached().await;
        attempt.set_result_ref("INV-2").unwrap();
        held.open();
    };
    let (answer, ()) = tokio::join!(run, late);
    assert_eq!(answer.result_ref.as_deref(), Some("INV-1"));
    let record = world.record(preview.operation_id).await;
    assert_eq!(record.result_ref.as_deref(), Some("INV-1"));
}

#[tokio::test(start_paused = true)]
async fn past_the_cap_a_confirm_is_refused_before_its_claim() {
    let world = World::new();
    let tight = counterfoil_core::engine::Counterfoil::builder(
        world.store.clone(),
        counterfoil_core::fingerprint::Keyring::new(crate::world::key("k1")),
    )
    .with_clock(counterfoil_testkit::TokioClock::default())
    .with_max_running(1)
    .build()
    .unwrap();
    let gate = tight
        .gate::<crate::world::Transfer>(crate::world::TRANSFER)
        .build()
        .unwrap();
    let preview = gate.preview(&world.agent, &world.params()).await.unwrap();
    let held = gate.admit().unwrap();
    let before = world.store.calls(Method::Acquire);
    let Verdict::Answer(answer) = gate
        .confirm(&world.agent, preview.fingerprint.as_str(), world.params())
        .await
    else {
        panic!("over the cap");
    };
    assert_eq!(
        (answer.status, answer.retryable),
        (Status::OverCapacity, true)
    );
    assert_eq!(answer.operation_id, Some(preview.operation_id));
    assert_eq!(
        world.store.calls(Method::Acquire),
        before,
        "the store was not asked"
    );
    drop(held);
    let verdict = gate
        .confirm(&world.agent, preview.fingerprint.as_str(), world.params())
        .await;
    assert!(matches!(verdict, Verdict::Run(_)));
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_nobody_starts_is_released_and_a_started_one_is_doubt() {
    let world = World::new();
    let preview = world.preview().await;
    let fingerprint = preview.fingerprint.as_str();
    let verdict = world
        .gate
        .confirm(&world.agent, fingerprint, world.params())
        .await;
    assert!(matches!(verdict, Verdict::Run(_)));
    drop(verdict);
    world.idle().await;
    assert_eq!(world.state(preview.operation_id).await, State::Released);

    let Verdict::Run(execution) = world
        .gate
        .confirm(&world.agent, fingerprint, world.params())
        .await
    else {
        panic!("released, so it is there to claim");
    };
    drop(execution.start());
    world.idle().await;
    assert_eq!(world.state(preview.operation_id).await, State::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_confirm_that_is_dropped_leaves_no_claim() {
    let world = World::new();
    let preview = world.preview().await;
    let confirm = world
        .gate
        .confirm(&world.agent, preview.fingerprint.as_str(), world.params());
    assert!(tokio::time::timeout(Duration::ZERO, confirm).await.is_err());
    world.idle().await;
    assert_eq!(world.state(preview.operation_id).await, State::Released);
}
