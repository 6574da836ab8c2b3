//! Nobody waits while a day is judged.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use counterfoil_core::store::{Completed, Renewed, Store};
use tokio::{task::JoinSet, time::Instant};

use crate::{
    common::{Op, claimed, done},
    stage::{BOUND, DAY, DAYS, OldDay},
};

/// Of so many rows that judging them takes far longer than a call.
const ROWS: u32 = 400_000;

/// What callers did, and the longest that one of them waited since it was set to zero.
#[derive(Default)]
struct Waits {
    calls: AtomicUsize,
    longest_us: AtomicUsize,
    stop: AtomicBool,
}

impl Waits {
    async fn measure<T>(&self, call: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let answer = call.await;
        let us = usize::try_from(begun.elapsed().as_micros()).expect("it is short");
        self.longest_us.fetch_max(us, Ordering::SeqCst);
        self.calls.fetch_add(1, Ordering::SeqCst);
        answer
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::SeqCst)
    }

    async fn more_calls(&self, count: usize) {
        let goal = self.calls.load(Ordering::SeqCst) + count;
        let more = async {
            while self.calls.load(Ordering::SeqCst) < goal {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(BOUND, more).await.expect("they go on");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_today_go_on_while_an_old_day_of_very_many_rows_is_judged_and_dropped() {
    let day = OldDay::alone().await;
    day.ended(ROWS).await;
    let (open, open_lease) = day.running(day.stage.now().await).await;
    day.stage.advance(DAYS).await;
    let now = day.stage.now().await;
    // Today has its partition, as in a process that runs.
    let janitor = day.another().await;
    let partitions = day.partitions().await;

    let waits = Arc::new(Waits::default());
    let mut callers = JoinSet::new();
    for _ in 0..2 {
        let (store, watch) = (day.store.clone(), Arc::clone(&waits));
        callers.spawn(async move {
            while watch.goes_on() {
                let op = Op::minted(now);
                let held = watch.measure(store.acquire(&op.wish())).await;
                let held = claimed(held.expect("it is free"));
                let answer = watch.measure(store.complete(&held, &done("paid"))).await;
                assert_eq!(answer.expect("it is ours"), Completed::Completed);
            }
        });
        let (store, watch) = (day.store.clone(), Arc::clone(&waits));
        let (_, held) = day.running(now).await;
        callers.spawn(async move {
            while watch.goes_on() {
                let answer = watch.measure(store.renew(&held, DAY)).await;
                assert_eq!(answer.expect("it is ours"), Renewed::Renewed);
            }
        });
    }
    waits.more_calls(100).await;

    waits.longest_us.store(0, Ordering::SeqCst);
    let begun = Instant::now();
    let report = janitor.drop_days().await.expect("it answers");
    let took = begun.elapsed();
    waits.more_calls(20).await;
    let longest = Duration::from_micros(waits.longest_us.load(Ordering::SeqCst) as u64);
    waits.stop.store(true, Ordering::SeqCst);
    while let Some(ended) = callers.join_next().await {
        ended.expect("no call failed");
    }

    assert_eq!((report.days, report.moved), (1, 1), "{report:?}");
    // An estimate.
    assert!(report.records.abs_diff(u64::from(ROWS)) < 100, "{report:?}");
    assert_eq!(day.partitions().await, partitions - 1);
    // Judging is nearly all of it, and none of what they waited for.
    assert!(
        longest < took / 4 && longest < Duration::from_millis(250),
        "a call waited {longest:?}, of {took:?}"
    );
    let answer = day.store.complete(&open_lease, &done("paid")).await;
    assert_eq!(answer.expect("it is ours"), Completed::Completed);
    let sighting = day.store.find(open.id).await.expect("it answers");
    assert!(sighting.record.is_some());
}
