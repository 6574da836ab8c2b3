//! Calls on the day itself while it is dropped: what was acknowledged is on record afterwards.

use std::sync::Arc;

use counterfoil_core::{
    lifecycle::State,
    store::{Acquired, Completed, Released, Renewed, Store},
};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::{
    common::{Op, claimed, done, seen},
    stage::{BOUND, DAY, DAYS, OldDay, cleared, dropped},
};

const ROUNDS: usize = 4;
/// Each kind of caller has so many operations in a round. All of them together may stay.
const EACH: usize = 60;

/// What a caller was told last.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Word {
    Runs,
    Ended,
    /// It had been released and is past its time: whoever came too late for it found nothing.
    Gone,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_word_on_a_day_that_is_dropped_is_on_record_afterwards_and_once() {
    let day = Arc::new(OldDay::alone().await);
    for round in 0..ROUNDS {
        cleared(&day).await;
        let then = day.stage.now().await;
        day.ended(20_000).await;
        // Kept from before: some run, and some are free to be claimed again and past their time unless they are.
        let (mut running, mut free) = (Vec::new(), Vec::new());
        for _ in 0..EACH {
            running.push(day.running(then).await);
            let (op, held) = day.running(then).await;
            let released = day.store.release(&held).await;
            assert_eq!(released.expect("it is ours"), Released::Released);
            let record = day.store.find(op.id).await.expect("it answers").record;
            free.push((op, seen(&record.expect("it stands"))));
        }
        day.stage.advance(DAYS).await;

        let (is_over, over) = watch::channel(false);
        let mut callers: JoinSet<(Op, Word)> = JoinSet::new();
        for (n, (op, held)) in running.into_iter().enumerate() {
            let (day, over) = (Arc::clone(&day), over.clone());
            callers.spawn(async move {
                // Until it is over, or some of them in the middle of it.
                let until = Instant::now() + std::time::Duration::from_millis(n as u64 * 10);
                while !*over.borrow() && Instant::now() < until {
                    let answer = day.store.renew(&held, DAY * 90).await;
                    assert_eq!(answer.expect("it answers"), Renewed::Renewed);
                }
                let answer = day.store.complete(&held, &done("paid")).await;
                assert_eq!(answer.expect("it answers"), Completed::Completed);
                (op, Word::Ended)
            });
        }
        for (n, (op, seen)) in free.into_iter().enumerate() {
            let (day, mut over) = (Arc::clone(&day), over.clone());
            callers.spawn(async move {
                let moment = std::time::Duration::from_millis(n as u64 * 10);
                // At its own moment, whether or not the day has gone by then.
                let _ = timeout(moment, over.wait_for(|over| *over)).await;
                let mut wish = op.wish().with_seen(seen);
                wish.claim.lease = DAY * 90;
                match day.store.acquire(&wish).await.expect("it answers") {
                    Acquired::Claimed(claimed) => {
                        assert_eq!(claimed.lease.epoch, seen.epoch.next());
                        (op, Word::Runs)
                    }
                    Acquired::Gone => (op, Word::Gone),
                    other => panic!("{other:?}"),
                }
            });
        }
        for n in 0..EACH {
            let (day, mut over) = (Arc::clone(&day), over.clone());
            callers.spawn(async move {
                let moment = std::time::Duration::from_millis(n as u64 * 10);
                let _ = timeout(moment, over.wait_for(|over| *over)).await;
                // Claimed for the first time, days late.
                let (op, held) = day.running(then).await;
                if n % 2 == 0 {
                    return (op, Word::Runs);
                }
                let answer = day.store.complete(&held, &done("paid")).await;
                assert_eq!(answer.expect("it answers"), Completed::Completed);
                (op, Word::Ended)
            });
        }

        let report = dropped(&day).await;
        is_over.send_replace(true);
        assert!(report.moved > 0, "{report:?}");
        let mut words = Vec::new();
        while let Some(told) = timeout(BOUND, callers.join_next()).await.expect("it ends") {
            words.push(told.expect("nobody was told anything untrue"));
        }
        assert_eq!(words.len(), 3 * EACH);
        for (op, word) in words {
            let record = day.store.find(op.id).await.expect("it answers").record;
            let state = record.map(|record| record.life.state);
            let expected = match word {
                Word::Runs => Some(State::InFlight),
                Word::Ended => Some(State::Done),
                Word::Gone => None,
            };
            assert_eq!(
                state, expected,
                "round {round}: {} was told {word:?}",
                op.id
            );
            let once = format!(
                "SELECT count(*) FROM {{schema}}.operations WHERE operation_id = '{}'",
                op.id
            );
            assert_eq!(day.stage.count(&once).await, i64::from(expected.is_some()));
        }
        assert_eq!(day.left_behind().await, 0);
    }
}

/// An id of a day that was dropped is as good as any: it lives in the default partition, once.
#[tokio::test]
async fn an_id_that_is_claimed_after_its_day_has_gone_is_unique_and_an_expired_one_is_refused() {
    let day = OldDay::shared().await;
    let op = day.ended(1).await;
    let then = day.stage.now().await;
    day.stage.advance(DAYS).await;
    dropped(&day).await;
    // Whatever has been dropped is past its `exp`, so that it is not run again.
    let mut late = op.wish();
    late.claim.exp = Some(then + DAY);
    let answer = day.store.acquire(&late).await.expect("it answers");
    assert!(matches!(answer, Acquired::Expired { .. }), "{answer:?}");
    let fresh = Op::minted(then);
    let held = claimed(day.store.acquire(&fresh.wish()).await.expect("it is free"));
    let again = day.store.acquire(&fresh.wish()).await.expect("it answers");
    assert!(matches!(again, Acquired::Found(_)), "{again:?}");
    let answer = day.store.complete(&held, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    assert_eq!((day.in_default().await, day.rows().await), (1, 1));
}
