//! The flaky store does what it is told, and nothing else.

use std::time::Duration;

use counterfoil_core::{
    Clock, OperationId, Owner, ParamHash, Scope, Subject,
    lifecycle::{Claim, State},
    store::{Acquire, Acquired, Identity, Store, StoreError, StoreErrorKind},
};
use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{Fault, Flaky, Gate, Method, TokioClock};

fn flaky() -> (Flaky, Acquire) {
    let clock = TokioClock::default();
    let identity = Identity {
        subject: Subject::new("acme", "agent-7").expect("a valid subject"),
        scope: Scope::new("payments.transfer"),
        hash: ParamHash::from_bytes([7; 32]),
    };
    let request = Acquire::new(
        OperationId::mint(clock.now()),
        identity,
        Claim::new(Owner::mint(), Duration::from_secs(30)),
        Duration::from_secs(3600),
    );
    (Flaky::new(MemoryStore::with_clock(clock)), request)
}

async fn state(flaky: &Flaky, id: OperationId) -> Option<State> {
    let sighting = flaky.inner().find(id).await.expect("it answers");
    sighting.record.map(|record| record.life.state)
}

fn kind<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> StoreErrorKind {
    answer.expect_err("a fault").kind()
}

#[tokio::test]
async fn a_lost_reply_is_applied_and_a_lost_request_is_not() {
    let (flaky, request) = flaky();
    flaky.next_acquire(Fault::RequestLost);
    flaky.next_acquire(Fault::NotApplied);
    flaky.next_acquire(Fault::Fails(StoreErrorKind::Corrupt));
    flaky.next_acquire(Fault::ReplyLost);
    for expected in [
        StoreErrorKind::Indeterminate,
        StoreErrorKind::NotApplied,
        StoreErrorKind::Corrupt,
    ] {
        assert_eq!(kind(flaky.acquire(&request).await), expected);
        assert_eq!(state(&flaky, request.id).await, None);
    }
    let lost = kind(flaky.acquire(&request).await);
    assert_eq!(lost, StoreErrorKind::Indeterminate);
    assert_eq!(state(&flaky, request.id).await, Some(State::InFlight));

    let again = flaky.acquire(&request).await;
    assert!(matches!(again, Ok(Acquired::Claimed(_))), "{again:?}");
    assert_eq!(flaky.calls(Method::Acquire), 5);
    assert_eq!(flaky.calls(Method::Find), 0);
}

#[tokio::test]
async fn a_standing_fault_lasts_until_it_is_taken_back() {
    let (flaky, request) = flaky();
    flaky.fail_all(true);
    flaky.next_acquire(Fault::Nothing);
    assert!(flaky.acquire(&request).await.is_ok());
    for _ in 0..3 {
        let failed = kind(flaky.clone().find(request.id).await);
        assert_eq!(failed, StoreErrorKind::NotApplied);
    }
    flaky.fail_all(false);
    assert!(flaky.find(request.id).await.is_ok());
    assert_eq!(flaky.calls(Method::Find), 4);
}

#[tokio::test(start_paused = true)]
async fn a_delayed_call_is_applied_late() {
    let (flaky, request) = flaky();
    flaky.next_acquire(Fault::Delay(Duration::from_secs(5)));
    let before = flaky.find(request.id).await.expect("it answers").now;
    assert!(flaky.acquire(&request).await.is_ok());
    let after = flaky.find(request.id).await.expect("it answers");
    assert_eq!(after.now, before + Duration::from_secs(5));
    assert_eq!(after.record.map(|record| record.created), Some(after.now));
}

#[tokio::test]
async fn a_gate_holds_a_call_before_it_is_applied_or_its_reply_after() {
    for (fault, applied) in [
        (Fault::HoldBefore as fn(Gate) -> Fault, None),
        (Fault::HoldAfter, Some(State::InFlight)),
    ] {
        let (flaky, request) = flaky();
        let gate = Gate::new();
        flaky.next_acquire(fault(gate.clone()));
        let call = tokio::spawn({
            let (flaky, request) = (flaky.clone(), request.clone());
            async move { flaky.acquire(&request).await }
        });
        gate.reached().await;
        assert_eq!(state(&flaky, request.id).await, applied);
        assert!(!call.is_finished());
        gate.open();
        let answer = call.await.expect("the call ends");
        assert!(matches!(answer, Ok(Acquired::Claimed(_))), "{answer:?}");
    }
}
