//! What a store says under faults is told apart, and held against what it has.

use std::time::Duration;

use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{Fault, Flaky, Testimony};

const LIMIT: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn each_word_is_counted_by_whether_it_was_applied() {
    let store = Flaky::new(MemoryStore::new());
    let testimony = Testimony::new(LIMIT);
    for fault in [
        Fault::Nothing,
        Fault::ReplyLost,
        Fault::RequestLost,
        Fault::NotApplied,
    ] {
        store.next_acquire(fault.clone());
        testimony.claim(&store).await;
        let claimed = testimony.claim(&store).await.expect("nothing goes wrong");
        store.next_complete(fault);
        testimony.complete(&store, claimed).await;
    }
    let tally = testimony.hold(&store).await;
    assert_eq!(tally.claims.acknowledged, 5);
    assert_eq!(tally.completions.acknowledged, 1);
    for words in [tally.claims, tally.completions] {
        assert_eq!(words.not_applied, 1);
        assert_eq!(words.lost_and_applied, 1);
        assert_eq!(words.lost_and_not_applied, 1);
    }
    assert_eq!(tally.gone, 0);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "an acknowledged claim is lost")]
async fn a_store_that_lost_what_it_acknowledged_is_seen() {
    let testimony = Testimony::new(LIMIT);
    testimony.claim_and_complete(&MemoryStore::new()).await;
    testimony.hold(&MemoryStore::new()).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_may_lose_it_may() {
    let testimony = Testimony::new(LIMIT);
    testimony.claim_and_complete(&MemoryStore::new()).await;
    testimony.all_may_be_gone();
    let tally = testimony.hold(&MemoryStore::new()).await;
    assert_eq!(tally.gone, 1);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "a call has not ended")]
async fn a_call_that_does_not_end_is_seen() {
    let store = Flaky::new(MemoryStore::new());
    store.next_acquire(Fault::Delay(2 * LIMIT));
    Testimony::new(LIMIT).claim(&store).await;
}
