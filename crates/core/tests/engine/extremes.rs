//! The longest times that the builders accept: they have to work, not to overflow.

use std::time::Duration;

use counterfoil_core::{
    Subject,
    answer::Status,
    engine::{Counterfoil, Gate, LeaseTime, Outcome, Recovery, Verdict},
    fingerprint::Keyring,
    lifecycle::State,
    store::{Store, StoreErrorKind},
};
use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{Fault, Flaky, TokioClock};
use tokio::time::sleep;

use crate::world::{TRANSFER, Transfer, key};

const FOREVER: Duration = Duration::MAX;

struct Endless {
    store: Flaky,
    counterfoil: Counterfoil,
    gate: Gate<Transfer>,
    agent: Subject,
}

fn endless() -> Endless {
    let clock = TokioClock::default();
    let store = Flaky::new(MemoryStore::with_clock(clock));
    let counterfoil = Counterfoil::builder(store.clone(), Keyring::new(key("k1")))
        .with_clock(clock)
        .with_answer_within(FOREVER)
        .build()
        .unwrap();
    let gate = counterfoil
        .gate(TRANSFER)
        .with_lease_time(
            LeaseTime::default()
                .with_lease(FOREVER)
                .with_max_run(FOREVER),
        )
        .with_fingerprint_life(FOREVER)
        .with_retention(FOREVER)
        .with_poll_after(FOREVER)
        .with_recovery(Recovery::Takeover { window: FOREVER })
        .build()
        .unwrap();
    Endless {
        store,
        counterfoil,
        gate,
        agent: Subject::new("acme", "agent-7").unwrap(),
    }
}

fn transfer() -> Transfer {
    Transfer {
        amount: "10.00".to_owned(),
        to: "acct-7".to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_with_the_longest_times_runs_once_and_is_stored() {
    let world = endless();
    let params = world.gate.bind(transfer()).unwrap();
    let preview = world.gate.preview(&world.agent, &params).await.unwrap();
    for expected in [Status::Completed, Status::AlreadyCompleted] {
        let answer = world
            .gate
            .run(
                &world.agent,
                preview.fingerprint.as_str(),
                params.clone(),
                |attempt, _| async move {
                    assert!(attempt.downstream_key().is_ok());
                    sleep(Duration::from_secs(1_000_000)).await;
                    assert!(attempt.downstream_key().is_ok());
                    Outcome::done(&1)
                },
            )
            .await;
        assert_eq!(answer.status, expected);
    }
    let found = world.store.find(preview.operation_id).await.unwrap();
    assert_eq!(found.record.unwrap().life.state, State::Done);
    assert_eq!(world.counterfoil.running(), 0);
    assert!(world.counterfoil.drain(FOREVER).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_cannot_be_confirmed_is_given_back_with_the_longest_times_too() {
    let world = endless();
    let params = world.gate.bind(transfer()).unwrap();
    let preview = world.gate.preview(&world.agent, &params).await.unwrap();
    world.store.next_acquire(Fault::ReplyLost);
    world
        .store
        .next_acquire(Fault::Fails(StoreErrorKind::Corrupt));
    let fingerprint = preview.fingerprint.as_str();
    let Verdict::Answer(answer) = world.gate.confirm(&world.agent, fingerprint, params).await
    else {
        panic!("nothing is known of the claim");
    };
    assert_eq!(answer.status, Status::OutcomeUnknown);
    sleep(Duration::from_secs(10)).await;
    let found = world.store.find(preview.operation_id).await.unwrap();
    assert_eq!(found.record.unwrap().life.state, State::Released);
}
