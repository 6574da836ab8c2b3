//! Duplicates that wait for the run in flight.

use std::{sync::Arc, time::Duration};

use counterfoil_core::{
    Owner,
    answer::{Answer, Executed, Status, ThisCall},
    engine::{Outcome, Preview, Recovery, Verdict},
    lifecycle::{Claim, Ending, State},
    store::{Acquire, Identity, Receipt, Store, StoreErrorKind},
};
use counterfoil_testkit::{Fault, Gate, Method, Watches};
use tokio::{
    sync::Notify,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use crate::world::{TRANSFER, World};

const SECOND: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_millis(20);

fn waiting(limit: Duration) -> World {
    World::with(|gate| gate.with_wait(limit))
}

/// A run that ends when it is told to.
struct Run {
    end: Arc<Notify>,
    task: JoinHandle<Answer>,
}

impl Run {
    async fn begin(world: &World, preview: &Preview, outcome: Outcome) -> Self {
        let end = Arc::new(Notify::new());
        let told = Arc::clone(&end);
        let effect = world.effect();
        let task = world.spawn(preview, move |_, _| async move {
            told.notified().await;
            effect();
            outcome
        });
        // It is claimed by then: nothing in memory takes time.
        sleep(Duration::from_millis(1)).await;
        assert_eq!(world.state(preview.operation_id).await, State::InFlight);
        Self { end, task }
    }

    async fn end(self) -> Answer {
        self.end.notify_one();
        self.task.await.unwrap()
    }
}

/// A duplicate in a task of its own, and how long it took.
fn duplicate(world: &World, preview: &Preview) -> JoinHandle<(Answer, Duration)> {
    let began = Instant::now();
    let effect = world.effect();
    let confirm = world.spawn(preview, |_, _| async move {
        effect();
        Outcome::done("by the duplicate")
    });
    tokio::spawn(async move { (confirm.await.unwrap(), began.elapsed()) })
}

async fn one_waits(world: &World) {
    sleep(Duration::from_millis(1)).await;
    assert_eq!(world.counterfoil.waiting(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_waits_and_gets_the_result_of_the_run_in_flight() {
    let world = waiting(60 * SECOND);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let duplicate = duplicate(&world, &preview);
    sleep(20 * SECOND).await;
    let first = run.end().await;
    let (second, took) = duplicate.await.unwrap();
    assert_eq!(
        (second.status, second.this_call, second.executed),
        (Status::AlreadyCompleted, ThisCall::NotRun, Executed::Yes)
    );
    assert_eq!(second.result, first.result);
    assert!(took < 20 * SECOND + SOON, "it is told at once: {took:?}");
    assert_eq!(world.effects(), 1);
    assert_eq!(world.counterfoil.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_shorter_than_the_run_ends_in_time_and_says_so() {
    let world = waiting(3 * SECOND);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let (answer, took) = duplicate(&world, &preview).await.unwrap();
    assert_eq!(
        (answer.status, answer.executed),
        (Status::InProgress, Executed::Pending)
    );
    assert!(answer.poll_after.is_some());
    assert_eq!(took, 3 * SECOND);
    assert_eq!(run.end().await.status, Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn without_a_wait_it_is_told_at_once_and_the_store_is_not_asked_again() {
    let world = World::new();
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let (answer, took) = duplicate(&world, &preview).await.unwrap();
    assert_eq!((answer.status, took), (Status::InProgress, Duration::ZERO));
    assert_eq!(world.store.calls(Method::Find), 0);
    run.end().await;
}

#[tokio::test(start_paused = true)]
async fn every_end_of_the_run_is_told_as_to_a_call_that_comes_after_it() {
    for (outcome, status) in [
        (Outcome::failed("no funds"), Status::AlreadyFailed),
        (Outcome::Unknown("timeout"), Status::OutcomeUnknown),
        // Its first caller is told no more, and the receipt may take days.
        (Outcome::accepted("queued"), Status::InProgress),
    ] {
        let world = waiting(60 * SECOND);
        let preview = world.preview().await;
        let run = Run::begin(&world, &preview, outcome).await;
        let waiting = duplicate(&world, &preview);
        sleep(SECOND).await;
        run.end().await;
        let (answer, took) = waiting.await.unwrap();
        assert_eq!(answer.status, status);
        assert!(took < SECOND + SOON, "{status:?}: {took:?}");
        let (late, at_once) = duplicate(&world, &preview).await.unwrap();
        assert_eq!((late.status, at_once), (status, Duration::ZERO));
        assert_eq!(world.effects(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_receipt_that_is_faster_than_the_run_is_told_too() {
    let world = waiting(60 * SECOND);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::accepted("queued")).await;
    let waiting = duplicate(&world, &preview);
    sleep(SECOND).await;
    let receipt = Receipt {
        id: preview.operation_id,
        epoch: world.record(preview.operation_id).await.life.epoch,
        ending: Ending::Done,
        result: None,
        result_ref: None,
    };
    world.store.receive(&receipt).await.unwrap();
    assert_eq!(waiting.await.unwrap().0.status, Status::AlreadyCompleted);
    run.end().await;
}

#[tokio::test(start_paused = true)]
async fn of_those_that_wait_for_a_run_that_did_nothing_one_runs_and_the_others_get_its_result() {
    let world = waiting(60 * SECOND);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::NotExecuted).await;
    let all: Vec<_> = (0..10).map(|_| duplicate(&world, &preview)).collect();
    sleep(SECOND).await;
    assert_eq!(world.counterfoil.waiting(), 10);
    assert_eq!(run.end().await.status, Status::NotExecuted);
    let mut ran = 0;
    for duplicate in all {
        let (answer, _) = duplicate.await.unwrap();
        let result = answer.result.expect("a result");
        assert_eq!(&result.bytes[..], b"\"by the duplicate\"");
        match answer.status {
            Status::Completed => {
                ran += 1;
                assert_eq!(answer.attempt, Some(2));
            }
            status => assert_eq!(status, Status::AlreadyCompleted),
        }
    }
    assert_eq!(ran, 1);
    assert_eq!(
        world.effects(),
        2,
        "the first run, which took it back, and one"
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_loses_that_race_waits_on_within_the_same_time() {
    let world = waiting(3 * SECOND);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::NotExecuted).await;
    let began = Instant::now();
    let long = || {
        let call = world.spawn(&preview, |_, _| async {
            sleep(50 * SECOND).await;
            Outcome::done("late")
        });
        tokio::spawn(async move { (call.await.unwrap().status, began.elapsed()) })
    };
    let both = [long(), long()];
    sleep(2 * SECOND).await;
    // Both have read that it is released before either claims it.
    for _ in 0..2 {
        let delay = Duration::from_millis(100);
        world.store.next_acquire(Fault::Delay(delay));
    }
    run.end().await;
    let mut told = Vec::new();
    for call in both {
        told.push(call.await.unwrap());
    }
    told.sort_by_key(|(_, took)| *took);
    assert_eq!(told[0], (Status::InProgress, 3 * SECOND));
    assert_eq!(told[1].0, Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn after_exp_nobody_runs_what_was_released_while_they_waited() {
    let world = World::with(|gate| {
        gate.with_wait(60 * SECOND)
            .with_fingerprint_life(10 * SECOND)
    });
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::NotExecuted).await;
    let waiting = duplicate(&world, &preview);
    sleep(11 * SECOND).await;
    run.end().await;
    let (answer, _) = waiting.await.unwrap();
    assert_eq!(
        (answer.status, answer.executed),
        (Status::NotExecuted, Executed::No)
    );
    assert_eq!(world.effects(), 1);
}

#[tokio::test(start_paused = true)]
async fn where_a_takeover_is_declared_safe_one_that_waits_takes_over() {
    let window = Recovery::Takeover {
        window: 600 * SECOND,
    };
    let world = World::with(|gate| gate.with_wait(60 * SECOND).with_recovery(window));
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::Unknown("timeout")).await;
    let waiting = duplicate(&world, &preview);
    sleep(SECOND).await;
    run.end().await;
    let (answer, _) = waiting.await.unwrap();
    assert_eq!(
        (answer.status, answer.attempt),
        (Status::Completed, Some(2))
    );
}

/// Nobody announces a lapse: it is found by looking.
#[tokio::test(start_paused = true)]
async fn the_lapse_of_a_dead_owners_lease_is_found() {
    let world = waiting(60 * SECOND);
    let preview = world.preview().await;
    dead_owner(&world, &preview, 9 * SECOND).await;
    let (answer, took) = duplicate(&world, &preview).await.unwrap();
    assert_eq!(answer.status, Status::OutcomeUnknown);
    assert!(
        (9 * SECOND..10 * SECOND).contains(&took),
        "found soon after: {took:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn without_news_the_end_is_found_by_looking_and_the_store_is_rarely_asked() {
    let world = waiting(60 * SECOND);
    world.store.watches(Watches::Silent);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let waiting = duplicate(&world, &preview);
    sleep(30 * SECOND).await;
    let looks = world.store.calls(Method::Find);
    assert!((60..=130).contains(&looks), "{looks} in 30 s");
    let ended = Instant::now();
    run.end().await;
    assert_eq!(waiting.await.unwrap().0.status, Status::AlreadyCompleted);
    assert!(ended.elapsed() <= Duration::from_millis(500));
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_without_a_change_makes_no_storm_of_reads() {
    let world = waiting(60 * SECOND);
    world.store.watches(Watches::Restless);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let waiting = duplicate(&world, &preview);
    sleep(30 * SECOND).await;
    let looks = world.store.calls(Method::Find);
    assert!(looks <= 140, "{looks} in 30 s");
    run.end().await;
    assert_eq!(waiting.await.unwrap().0.status, Status::AlreadyCompleted);
}

#[tokio::test(start_paused = true)]
async fn a_change_while_the_record_is_read_is_not_lost() {
    let world = waiting(60 * SECOND);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let waiting = duplicate(&world, &preview);
    // Pauses are long by now.
    sleep(10 * SECOND).await;
    let reply = Gate::new();
    world
        .store
        .next(Method::Find, Fault::HoldAfter(reply.clone()));
    reply.reached().await;
    assert_eq!(run.end().await.status, Status::Completed);
    let ended = Instant::now();
    reply.open();
    assert_eq!(waiting.await.unwrap().0.status, Status::AlreadyCompleted);
    assert!(ended.elapsed() <= SOON, "{:?}", ended.elapsed());
}

#[tokio::test(start_paused = true)]
async fn those_that_wait_hold_no_place_among_what_runs() {
    let world = World::built(
        |process| process.with_max_running(2),
        |gate| gate.with_wait(60 * SECOND),
    );
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let mut all = Vec::new();
    for n in 1..=50 {
        all.push(duplicate(&world, &preview));
        sleep(Duration::from_millis(1)).await;
        let counterfoil = &world.counterfoil;
        assert_eq!((counterfoil.running(), counterfoil.waiting()), (1, n));
    }
    let other = world.preview().await;
    assert_eq!(world.confirm(&other).await.status, Status::Completed);
    run.end().await;
    for duplicate in all {
        let (answer, _) = duplicate.await.unwrap();
        assert_eq!(answer.status, Status::AlreadyCompleted);
    }
}

#[tokio::test(start_paused = true)]
async fn past_the_cap_one_more_is_answered_at_once() {
    let world = World::built(
        |process| process.with_max_waiting(1),
        |gate| gate.with_wait(60 * SECOND),
    );
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let waiting = duplicate(&world, &preview);
    one_waits(&world).await;
    let (answer, took) = duplicate(&world, &preview).await.unwrap();
    assert_eq!((answer.status, took), (Status::InProgress, Duration::ZERO));
    run.end().await;
    assert_eq!(waiting.await.unwrap().0.status, Status::AlreadyCompleted);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_ends_its_wait() {
    let world = waiting(3_600 * SECOND);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let waited = timeout(10 * SECOND, world.confirm(&preview)).await;
    assert!(waited.is_err(), "it waits");
    let (agent, params) = (&world.agent, world.params());
    let confirm = world
        .gate
        .confirm(agent, preview.fingerprint.as_str(), params);
    let waited = timeout(10 * SECOND, confirm).await;
    assert!(waited.is_err(), "so does this");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(world.counterfoil.waiting(), 0);
    let looks = world.store.calls(Method::Find);
    sleep(10 * SECOND).await;
    assert_eq!(world.store.calls(Method::Find), looks, "nobody looks");
    run.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_confirm_without_a_handler_waits_too() {
    let world = waiting(60 * SECOND);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::NotExecuted).await;
    let (gate, agent, params) = (world.gate.clone(), world.agent.clone(), world.params());
    let fingerprint = preview.fingerprint.clone();
    let confirm =
        tokio::spawn(async move { gate.confirm(&agent, fingerprint.as_str(), params).await });
    one_waits(&world).await;
    run.end().await;
    assert!(matches!(confirm.await.unwrap(), Verdict::Run(_)));
    // The run's, the duplicate's, and the one that names what it read.
    assert_eq!(world.store.calls(Method::Acquire), 3);
}

#[tokio::test(start_paused = true)]
async fn a_drain_does_not_wait_for_those_that_wait() {
    let world = waiting(3_600 * SECOND);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let waiting = duplicate(&world, &preview);
    one_waits(&world).await;
    let counterfoil = world.counterfoil.clone();
    let drain = tokio::spawn(async move { counterfoil.drain(60 * SECOND).await });
    let (answer, took) = waiting.await.unwrap();
    assert_eq!(answer.status, Status::InProgress);
    assert!(took < SOON);
    assert_eq!(run.end().await.status, Status::Completed);
    drain.await.unwrap().expect("nothing runs any more");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_meanwhile_is_asked_again_within_the_time() {
    let world = waiting(10 * SECOND);
    world.store.watches(Watches::Silent);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let down = Some(Fault::NotApplied);
    world.store.always(Method::Find, down.clone());
    let (answer, took) = duplicate(&world, &preview).await.unwrap();
    assert_eq!((answer.status, took), (Status::InProgress, 10 * SECOND));

    let waiting = duplicate(&world, &preview);
    sleep(5 * SECOND).await;
    run.end().await;
    world.store.always(Method::Find, None);
    assert_eq!(waiting.await.unwrap().0.status, Status::AlreadyCompleted);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_meanwhile_does_not_lengthen_the_wait() {
    let world = waiting(10 * SECOND);
    let preview = world.preview().await;
    let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
    let hung = Gate::new();
    world
        .store
        .always(Method::Find, Some(Fault::HoldBefore(hung)));
    let (answer, took) = duplicate(&world, &preview).await.unwrap();
    assert_eq!((answer.status, took), (Status::InProgress, 10 * SECOND));
    run.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_record_that_can_no_longer_be_read_is_an_unknown_outcome() {
    for kind in [StoreErrorKind::Corrupt, StoreErrorKind::Forgotten] {
        let world = waiting(60 * SECOND);
        let preview = world.preview().await;
        let run = Run::begin(&world, &preview, Outcome::done("paid")).await;
        world.store.next(Method::Find, Fault::Fails(kind));
        let (answer, took) = duplicate(&world, &preview).await.unwrap();
        assert_eq!(answer.status, Status::OutcomeUnknown);
        assert!(took < SOON);
        run.end().await;
    }
}

/// A claim whose owner is never heard of again.
async fn dead_owner(world: &World, preview: &Preview, lease: Duration) {
    let identity = Identity {
        subject: world.agent.clone(),
        scope: TRANSFER,
        hash: world.params().hash(),
    };
    let mut claim = Claim::new(Owner::mint(), lease);
    claim.exp = Some(preview.expires_at);
    let retention = 3_600 * SECOND;
    let request = Acquire::new(preview.operation_id, identity, claim, retention);
    world.store.acquire(&request).await.unwrap();
}
