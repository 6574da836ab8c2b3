//! A store that loses replies, refuses and stalls.

use std::time::Duration;

use counterfoil_core::{
    answer::{Executed, Status, ThisCall},
    engine::Outcome,
    lifecycle::State,
    store::StoreErrorKind,
};
use counterfoil_testkit::{Fault, Gate, Method};
use tokio::time::sleep;

use crate::world::World;

#[tokio::test(start_paused = true)]
async fn a_claim_whose_reply_was_lost_is_asked_again_and_runs_once() {
    for lost in [Fault::ReplyLost, Fault::RequestLost] {
        let world = World::new();
        let preview = world.preview().await;
        world.store.next_acquire(lost.clone());
        world.store.next_acquire(lost);
        assert_eq!(world.confirm(&preview).await.status, Status::Completed);
        assert_eq!(world.store.calls(Method::Acquire), 3);
        let record = world.record(preview.operation_id).await;
        assert_eq!((record.life.epoch.as_u64(), record.attempts), (1, 1));
        assert_eq!(world.effects(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_was_surely_not_applied_is_unavailable_and_runs_nothing() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.next_acquire(Fault::NotApplied);
    let answer = world.confirm(&preview).await;
    assert_eq!(
        (answer.status, answer.executed),
        (Status::Unavailable, Executed::Unknown)
    );
    assert!(answer.retryable);
    assert_eq!(world.effects(), 0);
    assert_eq!(world.confirm(&preview).await.status, Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_stays_indeterminate_runs_nothing_and_is_given_back() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.always(Method::Acquire, Some(Fault::ReplyLost));
    let answer = world.confirm(&preview).await;
    assert_eq!(
        (answer.status, answer.executed),
        (Status::Unavailable, Executed::Unknown)
    );
    assert_eq!(
        world.state(preview.operation_id).await,
        State::InFlight,
        "it was applied all the same"
    );
    world.store.always(Method::Acquire, None);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(world.state(preview.operation_id).await, State::Released);
    assert_eq!(world.confirm(&preview).await.status, Status::Completed);
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_lapsed_before_its_reply_came_is_given_back() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.next_acquire(Fault::ReplyLost);
    world
        .store
        .next_acquire(Fault::Delay(Duration::from_secs(20)));
    let answer = world.confirm(&preview).await;
    assert_eq!(
        (answer.status, answer.executed),
        (Status::Unavailable, Executed::NotYet)
    );
    assert_eq!(world.state(preview.operation_id).await, State::Released);
    assert_eq!(world.effects(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_took_longer_than_its_lease_runs_nothing() {
    let world = World::new();
    let preview = world.preview().await;
    let reply = Gate::new();
    world.store.next_acquire(Fault::HoldAfter(reply.clone()));
    let confirm = world.confirm(&preview);
    let slow = async {
        reply.reached().await;
        sleep(Duration::from_secs(9)).await;
        assert_eq!(world.state(preview.operation_id).await, State::Unknown);
        reply.open();
    };
    let (answer, ()) = tokio::join!(confirm, slow);
    assert_eq!(
        (answer.status, answer.executed),
        (Status::Unavailable, Executed::NotYet)
    );
    assert_eq!(world.effects(), 0);
    assert_eq!(world.confirm(&preview).await.status, Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_read_or_has_forgotten_is_unknown_and_runs_nothing() {
    for kind in [StoreErrorKind::Corrupt, StoreErrorKind::Forgotten] {
        let world = World::new();
        let preview = world.preview().await;
        world.store.next_acquire(Fault::Fails(kind));
        let answer = world.confirm(&preview).await;
        assert_eq!(
            (answer.status, answer.executed),
            (Status::OutcomeUnknown, Executed::Unknown)
        );
        assert_eq!(world.effects(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_completion_whose_reply_was_lost_is_sent_again() {
    for lost in [Fault::ReplyLost, Fault::RequestLost, Fault::NotApplied] {
        let world = World::new();
        let preview = world.preview().await;
        world.store.next_complete(lost);
        let answer = world.confirm(&preview).await;
        assert_eq!(
            (answer.status, answer.this_call),
            (Status::Completed, ThisCall::Ran)
        );
        assert_eq!(world.state(preview.operation_id).await, State::Done);
    }
}

#[tokio::test(start_paused = true)]
async fn a_done_that_could_not_be_stored_is_told_and_stored_when_the_store_is_back() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.fail_all_completes(true);
    let answer = world.confirm(&preview).await;
    assert_eq!(
        (answer.status, answer.executed),
        (Status::Completed, Executed::Yes)
    );
    assert_eq!(world.confirm(&preview).await.status, Status::InProgress);
    world.store.fail_all_completes(false);
    world.idle().await;
    assert_eq!(
        world.confirm(&preview).await.status,
        Status::AlreadyCompleted
    );
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_done_that_is_never_stored_reads_unknown_after_max_run() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.fail_all_completes(true);
    assert_eq!(world.confirm(&preview).await.status, Status::Completed);
    world.idle().await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(world.state(preview.operation_id).await, State::Unknown);
    assert_eq!(world.confirm(&preview).await.status, Status::OutcomeUnknown);
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn anything_but_done_that_could_not_be_stored_is_told_as_unknown() {
    for outcome in [
        Outcome::failed("no"),
        Outcome::accepted("later"),
        Outcome::NotExecuted,
    ] {
        let world = World::new();
        let preview = world.preview().await;
        world.store.fail_all(false);
        world.store.fail_all_completes(true);
        world.store.always(Method::Release, Some(Fault::NotApplied));
        let answer = world.confirm_with(&preview, outcome).await;
        assert_eq!(
            (answer.status, answer.executed),
            (Status::OutcomeUnknown, Executed::Unknown)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_in_which_the_store_panics_is_unknown_and_keeps_no_place() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.next_acquire(Fault::Panics);
    let answer = world.confirm(&preview).await;
    assert_eq!(
        (answer.status, answer.operation_id),
        (Status::OutcomeUnknown, Some(preview.operation_id))
    );
    assert_eq!((world.effects(), world.counterfoil.running()), (0, 0));
    assert_eq!(world.confirm(&preview).await.status, Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_completion_in_which_the_store_panics_is_told_and_not_kept_alive() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.next_complete(Fault::Panics);
    assert_eq!(world.confirm(&preview).await.status, Status::Completed);
    assert_eq!(world.counterfoil.running(), 0);
    // One lease, and not max_run: nobody is left who could complete it.
    sleep(Duration::from_secs(10)).await;
    assert_eq!(world.state(preview.operation_id).await, State::Unknown);
}

#[tokio::test(start_paused = true)]
async fn the_store_is_not_asked_before_the_fingerprint_is_good() {
    let world = World::new();
    let preview = world.preview().await;
    world.store.fail_all(true);
    let mut forged = preview.fingerprint.as_str().to_owned();
    let last = forged.pop().unwrap();
    forged.push(if last == 'A' { 'E' } else { 'A' });
    for (text, status) in [
        (forged.as_str(), Status::FingerprintInvalid),
        ("fp1.k1", Status::FingerprintMistyped),
        ("", Status::FingerprintMistyped),
    ] {
        let answer = world
            .gate
            .run(&world.agent, text, world.params(), |_, _| async {
                Outcome::NotExecuted
            })
            .await;
        assert_eq!(answer.status, status, "{text:?}");
        assert_eq!(answer.executed, Executed::Unknown);
    }
    assert_eq!(
        world.store.calls(Method::Acquire) + world.store.calls(Method::Find),
        0
    );
}
