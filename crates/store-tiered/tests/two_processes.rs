//! Two processes over one truth and one cache: what one of them does, the other is told of by the cache.

mod common;

use std::time::Duration;

use common::{Mood, tiers};
use counterfoil_core::{
    KeyId, Scope, Subject,
    answer::{Answer, Status},
    engine::{Counterfoil, Gate, Outcome, RawParams},
    fingerprint::{Key, Keyring},
};
use counterfoil_store_tiered::TieredStore;
use counterfoil_testkit::Watches;
use tokio::time::{Instant, sleep};

const SECOND: Duration = Duration::from_secs(1);

/// A run of five seconds in one process, and a duplicate that waits in another: its answer, and how long it took after
/// the run had ended.
async fn a_duplicate_elsewhere(mood: Mood) -> (Answer, Duration) {
    let (clock, truth, cache) = tiers();
    // As Postgres: it tells nobody.
    truth.watches(Watches::Silent);
    cache.be(mood);
    let process = || -> Gate<RawParams> {
        let key = Key::new(KeyId::parse("k1").unwrap(), &[7; 32]).unwrap();
        let store = TieredStore::new(truth.clone(), cache.clone());
        Counterfoil::builder(store, Keyring::new(key))
            .with_clock(clock.clone())
            .build()
            .unwrap()
            .raw_gate(Scope::new("payments.transfer"))
            .with_wait(60 * SECOND)
            .build()
            .unwrap()
    };
    let (here, there) = (process(), process());
    let agent = Subject::new("acme", "agent-7").unwrap();
    let params = here.read(br#"{"amount":"10"}"#).unwrap();
    let preview = here.preview(&agent, &params).await.unwrap();
    let confirm = |gate: Gate<RawParams>| {
        let (agent, params, preview) = (agent.clone(), params.clone(), preview.clone());
        tokio::spawn(async move {
            let handler = |_, _| async {
                sleep(5 * SECOND).await;
                Outcome::done("paid")
            };
            gate.run(&agent, preview.fingerprint.as_str(), params, handler)
                .await
        })
    };
    let run = confirm(here);
    sleep(Duration::from_millis(1)).await;
    let duplicate = confirm(there);
    assert_eq!(run.await.unwrap().status, Status::Completed);
    let ended = Instant::now();
    (duplicate.await.unwrap(), ended.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_that_waits_in_another_process_is_told_at_once() {
    let (answer, later) = a_duplicate_elsewhere(Mood::Well).await;
    assert_eq!(answer.status, Status::AlreadyCompleted);
    assert!(answer.result.is_some());
    assert!(later < Duration::from_millis(5), "{later:?}");
}

#[tokio::test(start_paused = true)]
async fn without_the_cache_it_finds_out_by_looking() {
    for mood in [Mood::Fails, Mood::Hangs] {
        let (answer, later) = a_duplicate_elsewhere(mood).await;
        assert_eq!(answer.status, Status::AlreadyCompleted);
        assert!(later <= Duration::from_millis(520), "{later:?}");
    }
}
