//! The lane, over statements that a test lets through.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::{sync::Semaphore, task::JoinHandle, time::timeout};

use super::*;

const BOUND: Duration = Duration::from_secs(10);

/// Answers each call with itself, once it is let through; keeps the sizes of its statements.
struct Gated {
    gate: Semaphore,
    begun: AtomicUsize,
    sizes: Mutex<Vec<usize>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Told {
    Answer(usize),
    NeverSent,
    Lost,
}

impl Gated {
    async fn statement(&self, size: usize) {
        self.sizes.lock().expect("not poisoned").push(size);
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.expect("it stays open").forget();
    }
}

impl Statements for Arc<Gated> {
    type Call = usize;
    type Answer = Told;

    async fn one(&self, call: &usize) -> Told {
        self.statement(1).await;
        Told::Answer(*call)
    }

    async fn many(&self, calls: &[usize]) -> Vec<Option<Told>> {
        self.statement(calls.len()).await;
        assert!(!calls.contains(&POISON), "a statement that panics");
        let apart = calls.contains(&LONER);
        let answer = |call: &usize| (!apart).then_some(Told::Answer(*call));
        calls.iter().map(answer).collect()
    }

    fn weight(&self, call: &usize) -> usize {
        *call
    }

    fn never_sent(&self) -> Told {
        Told::NeverSent
    }

    fn lost(&self) -> Told {
        Told::Lost
    }
}

const POISON: usize = 666;
const LONER: usize = 777;

fn lane(width: usize, batch: usize) -> (Lane<Arc<Gated>>, Arc<Gated>) {
    let gated = Arc::new(Gated {
        gate: Semaphore::new(0),
        begun: AtomicUsize::new(0),
        sizes: Mutex::default(),
    });
    let limits = Limits {
        width,
        batch,
        weight: 10_000,
        wait: Duration::from_secs(1),
    };
    (Lane::new(Arc::clone(&gated), limits), gated)
}

fn spawn(calls: &mut JoinSet<Told>, lane: &Lane<Arc<Gated>>, call: usize) {
    let lane = lane.clone();
    calls.spawn(async move { lane.call(&call).await });
}

async fn all(mut calls: JoinSet<Told>) -> Vec<usize> {
    let mut answers = Vec::new();
    while let Some(told) = timeout(BOUND, calls.join_next()).await.expect("it ends") {
        match told.expect("no caller panics") {
            Told::Answer(answer) => answers.push(answer),
            other => panic!("{other:?}"),
        }
    }
    answers.sort_unstable();
    answers
}

async fn waiting(lane: &Lane<Arc<Gated>>, count: usize) {
    timeout(BOUND, async {
        while lane.0.state().waiting.len() < count {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("they wait");
}

#[tokio::test]
async fn a_lone_caller_has_a_statement_of_its_own() {
    let (lane, gated) = lane(2, 8);
    gated.gate.add_permits(1);
    assert_eq!(lane.call(&1).await, Told::Answer(1));
    assert_eq!(*gated.sizes.lock().expect("not poisoned"), [1]);
    assert_eq!(lane.0.state().under_way, 0);
}

#[tokio::test]
async fn what_gathers_while_a_statement_runs_goes_out_as_one() {
    let (lane, gated) = lane(1, 64);
    let mut calls = JoinSet::new();
    for call in 0..20 {
        spawn(&mut calls, &lane, call);
    }
    waiting(&lane, 19).await;
    gated.gate.add_permits(2);
    assert_eq!(all(calls).await, (0..20).collect::<Vec<_>>());
    assert_eq!(*gated.sizes.lock().expect("not poisoned"), [1, 19]);
    timeout(BOUND, async {
        while lane.0.state().under_way > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the place is given back");
}

#[tokio::test]
async fn no_statement_has_more_than_a_batch() {
    let (lane, gated) = lane(1, 8);
    let mut calls = JoinSet::new();
    for call in 0..20 {
        spawn(&mut calls, &lane, call);
    }
    waiting(&lane, 19).await;
    gated.gate.add_permits(100);
    all(calls).await;
    assert_eq!(*gated.sizes.lock().expect("not poisoned"), [1, 8, 8, 3]);
}

#[tokio::test]
async fn no_statement_weighs_more_than_it_may_unless_it_is_one_call() {
    let (lane, gated) = lane(1, 8);
    let mut calls = JoinSet::new();
    for (waits, call) in [1, 6_000, 4_000, 1, 20_000, 2].into_iter().enumerate() {
        spawn(&mut calls, &lane, call);
        waiting(&lane, waits).await;
    }
    gated.gate.add_permits(100);
    all(calls).await;
    assert_eq!(*gated.sizes.lock().expect("not poisoned"), [1, 2, 1, 1, 1]);
}

#[tokio::test]
async fn a_batch_that_failed_for_one_of_its_calls_is_made_call_by_call() {
    let (lane, gated) = lane(1, 8);
    let mut calls = JoinSet::new();
    for (waits, call) in [0, 1, LONER, 2].into_iter().enumerate() {
        spawn(&mut calls, &lane, call);
        waiting(&lane, waits).await;
    }
    gated.gate.add_permits(100);
    assert_eq!(all(calls).await, [0, 1, 2, LONER]);
    let sizes = gated.sizes.lock().expect("not poisoned").clone();
    assert_eq!(sizes, [1, 3, 1, 1, 1]);
}

#[tokio::test]
async fn no_more_statements_run_than_the_lane_is_wide() {
    let (lane, gated) = lane(3, 4);
    let mut calls = JoinSet::new();
    for call in 0..40 {
        spawn(&mut calls, &lane, call);
    }
    waiting(&lane, 37).await;
    assert_eq!(gated.begun.load(Ordering::SeqCst), 3);
    gated.gate.add_permits(100);
    assert_eq!(all(calls).await.len(), 40);
}

#[tokio::test]
async fn a_caller_that_goes_ends_no_other_call() {
    let (lane, gated) = lane(1, 8);
    let first = tokio::spawn({
        let lane = lane.clone();
        async move { lane.call(&0).await }
    });
    while gated.begun.load(Ordering::SeqCst) < 1 {
        tokio::task::yield_now().await;
    }
    let mut calls = JoinSet::new();
    for call in 1..5 {
        spawn(&mut calls, &lane, call);
    }
    waiting(&lane, 4).await;
    first.abort();
    gated.gate.add_permits(10);
    assert_eq!(all(calls).await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_call_whose_caller_has_gone_while_it_waited_is_not_made() {
    let (lane, gated) = lane(1, 8);
    let mut calls = JoinSet::new();
    spawn(&mut calls, &lane, 0);
    while gated.begun.load(Ordering::SeqCst) < 1 {
        tokio::task::yield_now().await;
    }
    let gone = tokio::spawn({
        let lane = lane.clone();
        async move { lane.call(&1).await }
    });
    waiting(&lane, 1).await;
    gone.abort();
    assert!(gone.await.expect_err("it was told to end").is_cancelled());
    assert_eq!(lane.0.state().waiting.len(), 0);
    gated.gate.add_permits(10);
    assert_eq!(all(calls).await, [0]);
    assert_eq!(*gated.sizes.lock().expect("not poisoned"), [1]);
}

/// A call that has the only statement, which is held at the gate.
async fn busy(lane: &Lane<Arc<Gated>>, gated: &Gated) -> JoinSet<Told> {
    let mut calls = JoinSet::new();
    spawn(&mut calls, lane, 0);
    while gated.begun.load(Ordering::SeqCst) < 1 {
        tokio::task::yield_now().await;
    }
    calls
}

fn queue(lane: &Lane<Arc<Gated>>, call: usize) -> JoinHandle<Told> {
    let lane = lane.clone();
    tokio::spawn(async move { lane.call(&call).await })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_too_long_is_told_so_while_the_statement_before_it_runs() {
    let (lane, gated) = lane(1, 8);
    let calls = busy(&lane, &gated).await;
    let since = Instant::now();
    let late = queue(&lane, 1);
    let told = timeout(BOUND, late)
        .await
        .expect("nothing has to end first");
    assert_eq!(told.expect("no panic"), Told::NeverSent);
    assert_eq!(since.elapsed().as_secs(), 1);
    assert_eq!(lane.0.state().waiting.len(), 0);
    gated.gate.add_permits(10);
    assert_eq!(all(calls).await, [0]);
    assert_eq!(*gated.sizes.lock().expect("not poisoned"), [1]);
}

#[tokio::test(start_paused = true)]
async fn each_call_waits_for_its_own_time() {
    let (lane, gated) = lane(1, 8);
    let calls = busy(&lane, &gated).await;
    let early = queue(&lane, 1);
    waiting(&lane, 1).await;
    tokio::time::advance(Duration::from_millis(600)).await;
    let late = queue(&lane, 2);
    waiting(&lane, 2).await;
    let told = timeout(BOUND, early)
        .await
        .expect("nothing has to end first");
    assert_eq!(told.expect("no panic"), Told::NeverSent);
    gated.gate.add_permits(10);
    assert_eq!(late.await.expect("no panic"), Told::Answer(2));
    assert_eq!(all(calls).await, [0]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_in_a_statement_is_never_told_that_it_was_not_sent() {
    let (lane, gated) = lane(1, 8);
    let calls = busy(&lane, &gated).await;
    let taken = [1, 2].map(|call| queue(&lane, call));
    waiting(&lane, 2).await;
    gated.gate.add_permits(1);
    while gated.begun.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    // Their time to wait is long over when the statement ends.
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(taken.iter().all(|call| !call.is_finished()));
    gated.gate.add_permits(1);
    for (call, told) in [1, 2].into_iter().zip(taken) {
        assert_eq!(told.await.expect("no panic"), Told::Answer(call));
    }
    assert_eq!(all(calls).await, [0]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_to_be_made_alone_waits_no_longer_than_any_other() {
    let (lane, gated) = lane(1, 8);
    let calls = busy(&lane, &gated).await;
    let mut alone = Vec::new();
    for (waits, call) in [LONER, 1, 2].into_iter().enumerate() {
        alone.push(queue(&lane, call));
        waiting(&lane, waits + 1).await;
    }
    // The first statement, and the one that is rolled back. Two go alone, and are held at the gate.
    gated.gate.add_permits(2);
    let last = alone.pop().expect("there are three");
    let told = timeout(BOUND, last)
        .await
        .expect("nothing has to end first");
    assert_eq!(told.expect("no panic"), Told::NeverSent);
    gated.gate.add_permits(10);
    for (call, told) in [LONER, 1].into_iter().zip(alone) {
        assert_eq!(told.await.expect("no panic"), Told::Answer(call));
    }
    assert_eq!(all(calls).await, [0]);
}

#[tokio::test]
async fn a_statement_that_panics_leaves_the_lane_in_order() {
    let (lane, gated) = lane(1, 8);
    let mut calls = JoinSet::new();
    spawn(&mut calls, &lane, 0);
    while gated.begun.load(Ordering::SeqCst) < 1 {
        tokio::task::yield_now().await;
    }
    let lost = [POISON, 1].map(|call| {
        let lane = lane.clone();
        tokio::spawn(async move { lane.call(&call).await })
    });
    waiting(&lane, 2).await;
    gated.gate.add_permits(10);
    for lost in lost {
        assert_eq!(lost.await.expect("it ends"), Told::Lost);
    }
    assert_eq!(all(calls).await, [0]);
    assert_eq!(lane.call(&7).await, Told::Answer(7));
}
