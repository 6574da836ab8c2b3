//! Idempotency keys: the client names the operation, and the engine is the same.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use counterfoil_core::{
    Clock, OperationId, Scope, Subject,
    answer::{Answer, Executed, OperationState, Status},
    engine::{Attempt, Gate, Outcome},
    idempotency::{IdempotencyKey, KeyRules},
    lifecycle::State,
    store::Store,
};
use counterfoil_testkit::{Fault, ManualClock, Method, TokioClock};
use tokio::{task::JoinHandle, time::sleep};

use crate::world::{Transfer, World};

const KEY: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";
const DAY: Duration = Duration::from_secs(86_400);

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::from_text(text).unwrap()
}

/// Sends a request that has one effect, and says so.
async fn send(world: &World, text: &str, amount: &str) -> Answer {
    send_by(world, &world.gate, &world.agent, text, amount).await
}

async fn send_by(
    world: &World,
    gate: &Gate<Transfer>,
    subject: &Subject,
    text: &str,
    amount: &str,
) -> Answer {
    let keyed = match gate.keyed(subject, &key(text)) {
        Ok(keyed) => keyed,
        Err(answer) => return answer,
    };
    let effect = world.effect();
    let handler = |_: Attempt, _: Arc<Transfer>| async move {
        effect();
        Outcome::done("paid")
    };
    gate.run_keyed(keyed, world.bind(amount), handler).await
}

/// A request that runs for a while, without an effect.
async fn under_way(world: &World) -> JoinHandle<Answer> {
    let keyed = world.gate.keyed(&world.agent, &key(KEY)).unwrap();
    let (gate, params) = (world.gate.clone(), world.params());
    let run = tokio::spawn(async move {
        let handler = |_: Attempt, _: Arc<Transfer>| async {
            sleep(Duration::from_secs(20)).await;
            Outcome::done("paid")
        };
        gate.run_keyed(keyed, params, handler).await
    });
    sleep(Duration::from_secs(1)).await;
    run
}

/// A world whose gate refuses all params once it is told to.
fn with_a_newer_rule() -> (World, Arc<AtomicBool>) {
    let strict = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&strict);
    let check = move |_: &Transfer| match asked.load(SeqCst) {
        true => Err(Answer::new(Status::ParamsInvalid)),
        false => Ok(()),
    };
    (World::with(|gate| gate.with_check(check)), strict)
}

async fn status(world: &World) -> Answer {
    let key = key(KEY);
    world.counterfoil.status_by_key(&world.agent, &key).await
}

fn id(world: &World) -> OperationId {
    key(KEY).operation_id(&world.agent)
}

#[tokio::test(start_paused = true)]
async fn a_key_runs_its_request_once_and_every_later_one_gets_the_result() {
    let world = World::new();
    let first = send(&world, KEY, "10.00").await;
    assert_eq!(first.status, Status::Completed);
    assert_eq!(first.operation_id, Some(id(&world)));
    for wait in [Duration::ZERO, Duration::from_secs(3600), 6 * DAY] {
        sleep(wait).await;
        let again = send(&world, KEY, "10.00").await;
        assert_eq!(again.status, Status::AlreadyCompleted);
        assert_eq!(again.result, first.result);
    }
    assert_eq!(world.effects(), 1);
    assert_eq!(world.record(id(&world)).await.exp, None);
}

#[tokio::test(start_paused = true)]
async fn two_equal_requests_under_two_keys_are_two_operations() {
    let world = World::new();
    for text in [KEY, "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        assert_eq!(send(&world, text, "10.00").await.status, Status::Completed);
    }
    assert_eq!(world.effects(), 2);
}

#[tokio::test(start_paused = true)]
async fn another_subjects_same_key_is_an_operation_of_its_own() {
    let world = World::new();
    send(&world, KEY, "10.00").await;
    for (tenant, principal) in [("acme", "agent-8"), ("other", "agent-7")] {
        let subject = Subject::new(tenant, principal).unwrap();
        let told = world.counterfoil.status_by_key(&subject, &key(KEY)).await;
        assert_eq!(told.status, Status::NotStarted, "nothing of it is told");
        let ran = send_by(&world, &world.gate, &subject, KEY, "99.00").await;
        assert_eq!(ran.status, Status::Completed);
    }
    assert_eq!(world.effects(), 3);
}

fn assert_reused(answer: &Answer, world: &World) {
    assert_eq!(answer.status, Status::KeyReused);
    assert_eq!(answer.executed, Executed::Unknown);
    assert_eq!(answer.operation_id, Some(id(world)));
    // Before anything about the state.
    assert_eq!((answer.state, &answer.result), (None, &None));
}

#[tokio::test(start_paused = true)]
async fn a_key_with_another_request_is_told_so_in_every_state() {
    for (state, outcome) in [
        (State::Done, Outcome::done("paid")),
        (State::Failed, Outcome::failed("no funds")),
        (State::Accepted, Outcome::accepted("taken on")),
        (State::Released, Outcome::NotExecuted),
        (State::Unknown, Outcome::Unknown("nobody knows")),
    ] {
        let world = World::new();
        let keyed = world.gate.keyed(&world.agent, &key(KEY)).unwrap();
        let handler = |_: Attempt, _: Arc<Transfer>| async move { outcome };
        world.gate.run_keyed(keyed, world.params(), handler).await;
        assert_eq!(world.state(id(&world)).await, state);
        assert_reused(&send(&world, KEY, "11.00").await, &world);
        assert_eq!(world.state(id(&world)).await, state);
        assert_eq!(world.effects(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_on_another_action_or_another_line_is_told_so() {
    let world = World::new();
    send(&world, KEY, "10.00").await;
    let refund = world
        .counterfoil
        .gate(Scope::new("payments.refund"))
        .build()
        .unwrap();
    let other = send_by(&world, &refund, &world.agent, KEY, "10.00").await;
    assert_reused(&other, &world);
    let keyed = world.gate.keyed(&world.agent, &key(KEY)).unwrap();
    let other = world
        .gate
        .run_keyed(
            keyed.with_request("PUT", "/transfers/1", None),
            world.params(),
            |_, _| async { Outcome::done("paid") },
        )
        .await;
    assert_reused(&other, &world);
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn while_it_runs_a_request_is_told_that_it_may_be_sent_again() {
    let world = World::new();
    let run = under_way(&world).await;
    let told = send(&world, KEY, "10.00").await;
    assert_eq!(told.status, Status::InProgress);
    assert!(told.retryable && told.poll_after.is_some());
    assert_reused(&send(&world, KEY, "11.00").await, &world);
    let status = status(&world).await;
    assert_eq!(
        (status.status, status.retryable),
        (Status::InProgress, false)
    );
    assert_eq!(run.await.unwrap().status, Status::Completed);
    assert_eq!(
        send(&world, KEY, "10.00").await.status,
        Status::AlreadyCompleted
    );
    assert_eq!(world.effects(), 0, "no duplicate ran");
}

#[tokio::test(start_paused = true)]
async fn what_did_nothing_runs_when_the_same_request_comes_again() {
    let world = World::new();
    let keyed = world.gate.keyed(&world.agent, &key(KEY)).unwrap();
    let refuse = |_: Attempt, _: Arc<Transfer>| async { Outcome::NotExecuted };
    world.gate.run_keyed(keyed, world.params(), refuse).await;
    let status = status(&world).await;
    assert_eq!(status.status, Status::NotExecuted);
    assert_eq!(status.executed, Executed::NotYet);
    sleep(DAY).await;
    assert_eq!(send(&world, KEY, "10.00").await.status, Status::Completed);
    assert_eq!(world.record(id(&world)).await.attempts, 2);
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_reply_is_lost_is_asked_again_and_runs_once() {
    let world = World::new();
    world.store.next_acquire(Fault::ReplyLost);
    assert_eq!(send(&world, KEY, "10.00").await.status, Status::Completed);
    assert_eq!(world.store.calls(Method::Acquire), 2);
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_bounded_key_claims_until_its_time_is_over_and_is_answered_after_it() {
    let rules = KeyRules::default().with_max_age(DAY);
    let world = World::with(|gate| gate.with_key_rules(rules));
    let clock = TokioClock::default();
    let used = OperationId::mint(clock.now()).to_string();
    let unused = OperationId::mint(clock.now()).to_string();
    assert_eq!(send(&world, &used, "10.00").await.status, Status::Completed);
    let named = send(&world, KEY, "10.00").await;
    assert_eq!(named.status, Status::KeyInvalid);
    assert_eq!(named.reason, Some("not_uuid_v7"));
    sleep(DAY + Duration::from_secs(1)).await;
    assert_eq!(
        send(&world, &used, "10.00").await.status,
        Status::AlreadyCompleted
    );
    let late = send(&world, &unused, "10.00").await;
    assert_eq!(
        (late.status, late.reason),
        (Status::KeyInvalid, Some("too_old"))
    );
    assert_eq!(late.executed, Executed::Unknown);
    // Nor once its record is gone: that is what the bound is for.
    sleep(30 * DAY).await;
    world.store.inner().purge(100).await.unwrap();
    let gone = send(&world, &used, "10.00").await;
    assert_eq!(
        (gone.status, gone.reason),
        (Status::KeyInvalid, Some("too_old"))
    );
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_did_nothing_under_a_bounded_key_never_runs_once_its_time_is_over() {
    let rules = KeyRules::default().with_max_age(DAY);
    let world = World::with(|gate| gate.with_key_rules(rules));
    let text = OperationId::mint(TokioClock::default().now()).to_string();
    let keyed = world.gate.keyed(&world.agent, &key(&text)).unwrap();
    let refuse = |_: Attempt, _: Arc<Transfer>| async { Outcome::NotExecuted };
    world.gate.run_keyed(keyed, world.params(), refuse).await;
    sleep(DAY + Duration::from_secs(1)).await;
    let late = send(&world, &text, "10.00").await;
    assert_eq!(
        (late.status, late.executed),
        (Status::NotExecuted, Executed::No)
    );
    assert_eq!(world.effects(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_process_whose_clock_is_behind_claims_no_early_key_and_keeps_no_result_back() {
    let clock = ManualClock::new(TokioClock::default().now());
    let world = World::built(
        |counterfoil| counterfoil.with_clock(clock.clone()),
        |gate| gate.with_key_rules(KeyRules::default().with_max_age(DAY)),
    );
    let [done, released, early] = [1, 2, 3].map(|_| OperationId::mint(clock.now()).to_string());
    let first = send(&world, &done, "10.00").await;
    assert_eq!(first.status, Status::Completed);
    let keyed = world.gate.keyed(&world.agent, &key(&released)).unwrap();
    let refuse = |_: Attempt, _: Arc<Transfer>| async { Outcome::NotExecuted };
    world.gate.run_keyed(keyed, world.params(), refuse).await;

    clock.rewind(KeyRules::MAX_AHEAD + Duration::from_secs(1));
    let again = send(&world, &done, "10.00").await;
    assert_eq!(again.status, Status::AlreadyCompleted);
    assert_eq!(again.result, first.result);
    let id = key(&done).operation_id(&world.agent);
    let other = send(&world, &done, "11.00").await;
    assert_eq!(
        (other.status, other.operation_id),
        (Status::KeyReused, Some(id))
    );
    let claims = world.store.calls(Method::Acquire);
    for text in [&released, &early] {
        let told = send(&world, text, "10.00").await;
        assert_eq!(
            (told.status, told.reason, told.executed),
            (Status::KeyInvalid, Some("ahead_of_time"), Executed::Unknown)
        );
    }
    assert_eq!(world.store.calls(Method::Acquire), claims);
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_unbounded_key_runs_again_once_its_record_was_dropped() {
    let world = World::new();
    send(&world, KEY, "10.00").await;
    sleep(8 * DAY).await;
    world.store.inner().purge(100).await.unwrap();
    let gone = status(&world).await;
    assert_eq!(
        (gone.status, gone.executed),
        (Status::NotStarted, Executed::Unknown),
        "it did run, and nobody knows any more"
    );
    // Said in the docs; whoever can't have it bounds the age of keys.
    assert_eq!(send(&world, KEY, "10.00").await.status, Status::Completed);
    assert_eq!(world.effects(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_is_newer_than_a_record_refuses_what_is_new_only() {
    let (world, strict) = with_a_newer_rule();
    send(&world, KEY, "10.00").await;
    strict.store(true, SeqCst);
    assert_eq!(
        send(&world, KEY, "10.00").await.status,
        Status::AlreadyCompleted
    );
    assert_reused(&send(&world, KEY, "11.00").await, &world);
    let new = send(&world, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "10.00").await;
    assert_eq!(new.status, Status::ParamsInvalid);
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_newer_rule_tells_of_a_run_under_way_what_is_told_without_it() {
    let (world, strict) = with_a_newer_rule();
    let run = under_way(&world).await;
    let before = send(&world, KEY, "10.00").await;
    strict.store(true, SeqCst);
    let told = send(&world, KEY, "10.00").await;
    assert_eq!((told.status, told.retryable), (Status::InProgress, true));
    assert_eq!(told, before);
    assert_eq!(run.await.unwrap().status, Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_key_is_an_operation_of_its_own() {
    let world = World::new();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let keyed = world.gate.unkeyed(&world.agent);
        ids.push(keyed.operation_id());
        let effect = world.effect();
        let handler = |_: Attempt, _: Arc<Transfer>| async move {
            effect();
            Outcome::done("paid")
        };
        let ran = world.gate.run_keyed(keyed, world.params(), handler).await;
        assert_eq!(ran.status, Status::Completed);
    }
    assert_ne!(ids[0], ids[1]);
    assert_eq!(world.effects(), 2);
    let status = world.counterfoil.status_by_id(&world.agent, ids[0]).await;
    assert_eq!(status.status, Status::AlreadyCompleted);
}

#[tokio::test(start_paused = true)]
async fn how_a_keys_operation_stands_is_told_by_key_and_by_id() {
    let world = World::new();
    let before = status(&world).await;
    assert_eq!(before.status, Status::NotStarted);
    // A key has no end: its record may be missing because it was dropped.
    assert_eq!(
        (before.executed, before.state),
        (Executed::Unknown, Some(OperationState::Unknown))
    );
    assert_eq!(before.operation_id, Some(id(&world)));
    send(&world, KEY, "10.00").await;
    let by_id = world.counterfoil.status_by_id(&world.agent, id(&world));
    assert_eq!(status(&world).await, by_id.await);
    assert_eq!(status(&world).await.status, Status::AlreadyCompleted);
    world.store.fail_all(true);
    assert_eq!(status(&world).await.status, Status::Unavailable);
}
