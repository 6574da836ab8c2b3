//! What the builders refuse, and the words they do it with.

use std::time::Duration;

use async_trait::async_trait;
use counterfoil_core::{
    engine::{ApprovalTime, ConfigError, Counterfoil, GateBuilder, Guard, LeaseTime, Recovery},
    fingerprint::Keyring,
    idempotency::KeyRules,
    params::ParamsPolicy,
};
use counterfoil_store_memory::MemoryStore;

use crate::world::{TRANSFER, Transfer, key};

const SECOND: Duration = Duration::from_secs(1);

fn refused(configure: impl FnOnce(GateBuilder<Transfer>) -> GateBuilder<Transfer>) -> String {
    let counterfoil = Counterfoil::new(MemoryStore::new(), Keyring::new(key("k1")));
    let error: ConfigError = configure(counterfoil.gate(TRANSFER)).build().unwrap_err();
    error.to_string()
}

fn budget_of_ten_seconds() -> LeaseTime {
    LeaseTime::for_downstream(5 * SECOND, 3 * SECOND, 2 * SECOND)
}

#[test]
fn a_run_that_could_end_before_downstream_does() {
    let time = budget_of_ten_seconds().with_max_run(10 * SECOND);
    assert_eq!(
        refused(|gate| gate.with_lease_time(time)),
        "max_run 10s is not longer than the downstream budget 10s (worst case, own timeout and back-off)"
    );
}

#[test]
fn an_unrenewed_lease_that_could_lapse_before_downstream_answers() {
    let time = budget_of_ten_seconds().with_lease(9 * SECOND);
    let message = refused(|gate| gate.with_lease_time(time.without_renewal()));
    assert_eq!(
        message,
        "the unrenewed lease 9s is not longer than the downstream budget 10s (worst case, own timeout and back-off)"
    );
    let counterfoil = Counterfoil::new(MemoryStore::new(), Keyring::new(key("k1")));
    let renewed = counterfoil.gate::<Transfer>(TRANSFER).with_lease_time(time);
    assert!(renewed.build().is_ok(), "renewed, it may be shorter");
}

#[test]
fn a_shortest_key_that_no_key_could_have() {
    for (characters, asked) in [(0, "0"), (256, "256")] {
        let rules = KeyRules::default().with_min_len(characters);
        assert_eq!(
            refused(|gate| gate.with_key_rules(rules)),
            format!("the shortest key of {asked} characters must be from 1 to 255")
        );
    }
}

#[test]
fn a_key_that_could_be_used_after_its_record_is_gone() {
    let rules = KeyRules::default().with_max_age(8 * 86_400 * SECOND);
    assert_eq!(
        refused(|gate| gate.with_key_rules(rules)),
        "the age 691200s up to which keys are taken is longer than retention 604800s"
    );
}

#[test]
fn a_lease_too_short_to_be_renewed_in_time() {
    let time = budget_of_ten_seconds().with_lease(Duration::from_millis(1));
    assert_eq!(
        refused(|gate| gate.with_lease_time(time)),
        "the lease 1ms is shorter than the shortest one, 20ms"
    );
}

#[test]
fn retention_shorter_than_the_fingerprints_life() {
    assert_eq!(
        refused(|gate| gate
            .with_fingerprint_life(900 * SECOND)
            .with_retention(899 * SECOND)),
        "retention 899s is shorter than the fingerprint's life 900s"
    );
}

#[test]
fn a_life_under_a_second() {
    assert_eq!(
        refused(|gate| gate.with_fingerprint_life(Duration::from_millis(999))),
        "the fingerprint's life 999ms is shorter than the shortest one, 1s"
    );
}

#[test]
fn an_approval_that_outlives_its_fingerprint() {
    assert_eq!(
        refused(|gate| gate.with_approval(ApprovalTime(901 * SECOND))),
        "the approval's time 901s is longer than the fingerprint's life 900s"
    );
}

#[test]
fn an_approval_that_nothing_holds_yet() {
    let message = refused(|gate| gate.with_approval(ApprovalTime(600 * SECOND)));
    assert!(
        message.starts_with(
            "the gate payments.transfer asks for an approval, and the store MemoryStore"
        ),
        "{message}"
    );
}

#[test]
fn a_takeover_without_a_window() {
    let time = budget_of_ten_seconds();
    assert_eq!(
        refused(|gate| gate
            .with_lease_time(time)
            .with_recovery(Recovery::Takeover {
                window: 10 * SECOND
            })),
        "takeover needs the window in which downstream deduplicates: 10s is not longer than the downstream budget 10s"
    );
}

#[test]
fn a_poll_hint_of_zero() {
    assert_eq!(
        refused(|gate| gate.with_poll_after(Duration::ZERO)),
        "the poll hint 0ns is shorter than the shortest one, 1ms"
    );
}

#[test]
fn an_empty_scope_is_no_scope() {
    assert!(counterfoil_core::Scope::parse("").is_err());
}

#[test]
fn a_second_gate_for_one_scope() {
    let counterfoil = Counterfoil::new(MemoryStore::new(), Keyring::new(key("k1")));
    let _first = counterfoil.gate::<Transfer>(TRANSFER).build().unwrap();
    let second = counterfoil.gate::<Transfer>(TRANSFER).build().unwrap_err();
    assert_eq!(
        second.to_string(),
        "the scope payments.transfer has a gate already"
    );
}

#[test]
fn guards_that_the_store_does_not_hold() {
    for (guard, name) in [
        (
            Guard::unique("order", |t: &Transfer| Some(t.to.clone())),
            "a unique guard",
        ),
        (
            Guard::exclusive(|t: &Transfer| t.to.clone()),
            "an exclusive guard",
        ),
        (Guard::repeat(SECOND), "a repeat guard"),
    ] {
        let message = refused(|gate| gate.with_guard(guard));
        assert!(
            message.contains(name) && message.contains("MemoryStore"),
            "{message}"
        );
    }
}

#[test]
fn a_params_policy_that_contradicts_itself() {
    let message = refused(|gate| gate.with_params(ParamsPolicy::all_but(["/note", "/note"])));
    assert_eq!(message, "the params policy of payments.transfer is refused");
}

#[test]
fn a_cap_of_nothing() {
    let none = Counterfoil::builder(MemoryStore::new(), Keyring::new(key("k1")))
        .with_max_running(0)
        .build();
    assert_eq!(
        none.unwrap_err().to_string(),
        format!(
            "the cap of running operations is 0, and must be from 1 to {}",
            usize::MAX >> 3
        )
    );
}

#[test]
fn a_caller_answered_before_any_store_could_answer() {
    let hasty = Counterfoil::builder(MemoryStore::new(), Keyring::new(key("k1")))
        .with_answer_within(Duration::from_millis(99))
        .build();
    assert_eq!(
        hasty.unwrap_err().to_string(),
        "the time 99ms in which a caller is answered is shorter than the shortest one, 100ms"
    );
}

#[test]
fn a_store_that_may_lose_writes_for_an_action_that_may_not_be_repeated() {
    let lossy = || Counterfoil::new(Lossy(MemoryStore::new()), Keyring::new(key("k1")));
    let error = lossy().gate::<Transfer>(TRANSFER).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the store Lossy may lose a write that it acknowledged, and the gate payments.transfer is not marked as repeatable"
    );
    assert!(
        lossy()
            .gate::<Transfer>(TRANSFER)
            .repeatable()
            .build()
            .is_ok()
    );
}

/// A store that says what a cache alone would have to say.
struct Lossy(MemoryStore);

impl std::fmt::Debug for Lossy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lossy")
    }
}

mod lossy {
    use super::{Duration, Lossy, async_trait};
    use counterfoil_core::{OperationId, store::*};

    #[async_trait]
    impl Store for Lossy {
        fn capabilities(&self) -> Capabilities {
            let mut can = self.0.capabilities();
            can.may_lose_writes = true;
            can
        }
        async fn acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
            self.0.acquire(request).await
        }
        async fn renew(&self, held: &Lease, lease: Duration) -> Result<Renewed, StoreError> {
            self.0.renew(held, lease).await
        }
        async fn complete(&self, held: &Lease, c: &Completion) -> Result<Completed, StoreError> {
            self.0.complete(held, c).await
        }
        async fn release(&self, held: &Lease) -> Result<Released, StoreError> {
            self.0.release(held).await
        }
        async fn annotate(&self, held: &Lease, note: &Annotation) -> Result<Annotated, StoreError> {
            self.0.annotate(held, note).await
        }
        async fn receive(&self, receipt: &Receipt) -> Result<Received, StoreError> {
            self.0.receive(receipt).await
        }
        async fn fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
            self.0.fence(request).await
        }
        async fn resolve(&self, resolution: &Resolution) -> Result<Resolved, StoreError> {
            self.0.resolve(resolution).await
        }
        async fn propose(&self, proposal: &Proposal) -> Result<Proposed, StoreError> {
            self.0.propose(proposal).await
        }
        async fn decide(&self, decision: &Decision) -> Result<Decided, StoreError> {
            self.0.decide(decision).await
        }
        async fn cancel(&self, cancellation: &Cancellation) -> Result<Cancelled, StoreError> {
            self.0.cancel(cancellation).await
        }
        async fn find(&self, id: OperationId) -> Result<Sighting, StoreError> {
            self.0.find(id).await
        }
        async fn list(&self, listing: &Listing) -> Result<Page, StoreError> {
            self.0.list(listing).await
        }
        async fn purge(&self, limit: usize) -> Result<usize, StoreError> {
            self.0.purge(limit).await
        }

        fn watch(&self, id: OperationId) -> counterfoil_core::store::Watch {
            self.0.watch(id)
        }
    }
}
