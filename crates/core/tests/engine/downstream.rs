//! What a handler sends downstream: its keys, and its grants.

use std::time::Duration;

use counterfoil_core::{
    Clock, InvalidStep, Step,
    answer::Status,
    engine::{Disposition, GrantRefused, LeaseLost, Outcome},
    fingerprint::Keyring,
    grant::{Audience, GrantRequest, GrantTerms},
};
use counterfoil_testkit::TokioClock;
use tokio::{sync::mpsc, time::sleep};

use crate::world::{World, key};

#[tokio::test(start_paused = true)]
async fn each_attempt_of_an_operation_has_the_same_keys_for_the_same_steps() {
    let world = World::new();
    let preview = world.preview().await;
    let (tx, mut rx) = mpsc::unbounded_channel();
    for (attempt, word) in [(1, Disposition::NotExecuted), (2, Disposition::Done)] {
        let tx = tx.clone();
        world
            .spawn(&preview, move |this, _| async move {
                assert_eq!(this.number(), attempt);
                let key = this.downstream_key().expect("the lease is held");
                let keys = [
                    key.clone(),
                    key.step("fee").expect("a name"),
                    key.step("refund").expect("a name"),
                ];
                assert_eq!(keys[1].step_name().map(|step| step.as_str()), Some("fee"));
                assert_eq!(keys[1].operation_id(), this.operation_id());
                assert_eq!(keys[1].epoch(), this.epoch());
                tx.send(keys.map(|key| key.to_string()))
                    .expect("it is read");
                this.declare(word);
                match word {
                    Disposition::Done => Outcome::done("paid"),
                    _ => Outcome::NotExecuted,
                }
            })
            .await
            .expect("it ends");
    }
    let first = rx.recv().await.expect("keys");
    assert_eq!(first[0], preview.operation_id.to_string());
    assert_ne!(first[1], first[0]);
    assert_ne!(first[1], first[2]);
    assert_eq!(rx.recv().await.expect("keys"), first);
}

#[tokio::test(start_paused = true)]
async fn a_step_has_a_good_name_and_no_steps() {
    let world = World::new();
    let preview = world.preview().await;
    let run = world.spawn(&preview, |attempt, _| async move {
        let key = attempt.downstream_key().expect("the lease is held");
        for name in ["", "Fee", "fee 1", "fee/1", &"f".repeat(65)] {
            assert_eq!(key.step(name), Err(InvalidStep::Name), "{name:?}");
        }
        let fee = key.step("fee").expect("a name");
        assert_eq!(fee.step("fee"), Err(InvalidStep::OfAStep));
        Outcome::done(&1)
    });
    assert_eq!(run.await.expect("it ends").status, Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_was_taken_in_time_says_when_nothing_more_may_be_sent() {
    let world = World::new();
    let preview = world.preview().await;
    let run = world.spawn(&preview, |attempt, _| async move {
        let key = attempt.downstream_key().expect("the lease is held");
        let fee = key.step("fee").expect("a name");
        assert_eq!(key.check_lease(), Ok(()));
        attempt.lease_lost().await;
        let lost: LeaseLost = key.check_lease().expect_err("max_run is over");
        assert_eq!(fee.check_lease(), Err(lost));
        // A key of a step made after the lapse is lost too.
        let late = key.step("refund").expect("a name");
        assert_eq!(late.check_lease(), Err(lost));
        sleep(Duration::from_secs(1)).await;
        Outcome::done(&1)
    });
    assert_eq!(run.await.expect("it ends").status, Status::Completed);
}

const LEDGER: Audience = Audience::new("ledger");

fn entry() -> GrantRequest {
    GrantRequest::new(&LEDGER, "POST", "/entries").with_body(b"{}")
}

#[tokio::test(start_paused = true)]
async fn a_grant_says_operation_step_and_epoch_of_the_run_that_asked_for_it() {
    let world = World::new();
    let preview = world.preview().await;
    let keys = Keyring::new(key("k1")).grant_keys();
    let (tx, mut rx) = mpsc::unbounded_channel();
    for epoch in [1, 2] {
        let (tx, keys) = (tx.clone(), keys.clone());
        world
            .spawn(&preview, move |attempt, _| async move {
                let key = attempt.downstream_key().expect("the lease is held");
                let fee = key.step("fee").expect("a name");
                for key in [key, fee] {
                    let grant = key.grant(&keys, &entry()).expect("the lease is held");
                    tx.send(grant).expect("it is read");
                }
                if epoch == 1 {
                    return Outcome::NotExecuted;
                }
                Outcome::done(&1)
            })
            .await
            .expect("it ends");
    }
    for (epoch, step) in [(1, None), (1, Some("fee")), (2, None), (2, Some("fee"))] {
        let grant = rx.recv().await.expect("a grant");
        assert_eq!(grant.operation_id(), preview.operation_id);
        let opened = keys.open(grant.as_str()).expect("it is ours");
        let terms = opened.terms();
        assert_eq!(terms.operation_id(), preview.operation_id);
        assert_eq!(terms.epoch().as_u64(), epoch);
        assert_eq!(terms.step().map(Step::as_str), step);
        let now = TokioClock::default().now();
        assert_eq!(opened.check(now, &LEDGER, "POST", "/entries"), Ok(()));
        assert!(terms.exp() <= now + GrantTerms::DEFAULT_LIFE);
    }
}

#[tokio::test(start_paused = true)]
async fn no_grant_is_minted_once_the_lease_is_lost() {
    let world = World::new();
    let preview = world.preview().await;
    let run = world.spawn(&preview, |attempt, _| async move {
        let keys = Keyring::new(key("k1")).grant_keys();
        let key = attempt.downstream_key().expect("the lease is held");
        let never = entry().with_life(Duration::from_secs(301));
        let refused = key.grant(&keys, &never).expect_err("too long");
        assert!(matches!(refused, GrantRefused::Life(_)), "{refused:?}");
        assert!(key.grant(&keys, &entry()).is_ok());
        attempt.lease_lost().await;
        let refused = key.grant(&keys, &entry()).expect_err("too late");
        assert!(matches!(refused, GrantRefused::LeaseLost(_)), "{refused:?}");
        Outcome::done(&1)
    });
    assert_eq!(run.await.expect("it ends").status, Status::Completed);
}
