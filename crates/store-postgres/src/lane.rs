//! Calls that share a statement under load.
//!
//! A caller that finds the lane free goes straight through, with a statement of its own. Whoever comes while all of the
//! lane's statements are under way waits, and everything that has gathered goes out as one statement as soon as one of
//! them has ended. There is no timer: an idle system pays nothing, and a busy one commits once for many.

use std::{
    collections::VecDeque,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::oneshot, task::JoinSet, time::Instant};

/// Makes calls, alone or many in one statement.
pub(crate) trait Statements: Send + Sync + 'static {
    /// What is asked.
    type Call: Clone + Send + Sync + 'static;
    /// What is answered.
    type Answer: Send + 'static;

    /// Makes one call. Ends in a bounded time.
    fn one(&self, call: &Self::Call) -> impl Future<Output = Self::Answer> + Send;

    /// Makes many calls, and gives their answers in the same order: `None` for a call that was not applied and is to be
    /// made alone. Ends in a bounded time.
    fn many(&self, calls: &[Self::Call]) -> impl Future<Output = Vec<Option<Self::Answer>>> + Send;

    /// How much of [`Limits::weight`] a call is.
    fn weight(&self, call: &Self::Call) -> usize;

    /// The answer to a call that was never sent.
    fn never_sent(&self) -> Self::Answer;

    /// The answer to a call that was sent, and whose reply can't be known any more.
    fn lost(&self) -> Self::Answer;
}

/// Makes calls through a bounded number of statements. Clones are the same lane.
pub(crate) struct Lane<S: Statements>(Arc<Shared<S>>);

struct Shared<S: Statements> {
    statements: S,
    limits: Limits,
    state: Mutex<State<S>>,
}

/// What a lane may do at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Statements under way at once.
    pub(crate) width: usize,
    /// Calls in one statement.
    pub(crate) batch: usize,
    /// How much the calls of one statement weigh together, unless it is one call.
    pub(crate) weight: usize,
    /// How long a call waits for its statement to begin.
    pub(crate) wait: Duration,
}

struct State<S: Statements> {
    under_way: usize,
    waiting: VecDeque<Waiting<S>>,
}

struct Waiting<S: Statements> {
    call: S::Call,
    since: Instant,
    told: oneshot::Sender<S::Answer>,
}

impl<S: Statements> Lane<S> {
    pub(crate) fn new(statements: S, limits: Limits) -> Self {
        Self(Arc::new(Shared {
            statements,
            limits,
            state: Mutex::new(State {
                under_way: 0,
                waiting: VecDeque::new(),
            }),
        }))
    }

    /// Makes a call. It ends within the time to wait and the time of one statement.
    ///
    /// Cancellation: a call that waits is not made, one that is under way goes on or is given up with its connection.
    pub(crate) async fn call(&self, call: &S::Call) -> S::Answer {
        let told = {
            let mut state = self.0.state();
            if state.under_way < self.0.limits.width {
                state.under_way += 1;
                None
            } else {
                let (told, heard) = oneshot::channel();
                state.waiting.push_back(Waiting {
                    call: call.clone(),
                    since: Instant::now(),
                    told,
                });
                Some(heard)
            }
        };
        match told {
            None => {
                let _place = Place(Some(Arc::clone(&self.0)));
                self.0.statements.one(call).await
            }
            Some(heard) => match heard.await {
                Ok(answer) => answer,
                // The task that had it was lost with it.
                Err(_) => self.0.statements.lost(),
            },
        }
    }
}

impl<S: Statements> Clone for Lane<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Statements> Shared<S> {
    fn state(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has gathered, oldest first; gives the place back if that is nothing.
    fn next(&self) -> Option<Vec<Waiting<S>>> {
        let mut state = self.state();
        let now = Instant::now();
        // Those whose callers have gone are not made, and those that waited too long are told so.
        let mut batch = Vec::new();
        let mut weight = 0;
        while batch.len() < self.limits.batch {
            let Some(first) = state.waiting.front() else {
                break;
            };
            weight += self.statements.weight(&first.call);
            if weight > self.limits.weight && !batch.is_empty() {
                break;
            }
            let Some(first) = state.waiting.pop_front() else {
                break;
            };
            if now.duration_since(first.since) > self.limits.wait {
                // Its caller may have gone.
                let _ = first.told.send(self.statements.never_sent());
            } else if !first.told.is_closed() {
                batch.push(first);
            }
        }
        if batch.is_empty() {
            state.under_way -= 1;
            return None;
        }
        Some(batch)
    }
}

/// The right to one of the lane's statements. Whoever has it passes it on to what has gathered.
struct Place<S: Statements>(Option<Arc<Shared<S>>>);

impl<S: Statements> Drop for Place<S> {
    fn drop(&mut self) {
        let Some(shared) = self.0.take() else {
            return;
        };
        let Some(batch) = shared.next() else {
            return;
        };
        // A task of its own: no caller's end ends the calls of others.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(send(Self(Some(shared)), batch))),
            // Outside of a runtime nobody waits for an answer any more.
            Err(_) => shared.state().under_way -= 1,
        }
    }
}

/// How many calls go alone at once, so that one that has to wait holds up no other.
const ALONE: usize = 2;

/// Makes each call alone.
async fn one_by_one<S: Statements>(shared: &Arc<Shared<S>>, calls: Vec<Waiting<S>>) {
    let mut under_way = JoinSet::new();
    for waiting in calls {
        if under_way.len() >= ALONE {
            under_way.join_next().await;
        }
        if waiting.told.is_closed() {
            continue;
        }
        // Time passes while others are made alone.
        if waiting.since.elapsed() > shared.limits.wait {
            let _ = waiting.told.send(shared.statements.never_sent());
            continue;
        }
        let shared = Arc::clone(shared);
        under_way.spawn(async move {
            // Its caller may have gone.
            let _ = waiting
                .told
                .send(shared.statements.one(&waiting.call).await);
        });
    }
    while under_way.join_next().await.is_some() {}
}

/// Sends a batch, and what has gathered meanwhile, until nothing has.
async fn send<S: Statements>(mut place: Place<S>, mut batch: Vec<Waiting<S>>) {
    let Some(shared) = place.0.clone() else {
        return;
    };
    loop {
        let (calls, callers): (Vec<_>, Vec<_>) = batch
            .into_iter()
            .map(|waiting| (waiting.call, (waiting.since, waiting.told)))
            .unzip();
        let answers = match &calls[..] {
            [one] => vec![Some(shared.statements.one(one).await)],
            _ => shared.statements.many(&calls).await,
        };
        let mut alone = Vec::new();
        for ((call, (since, told)), answer) in calls.into_iter().zip(callers).zip(answers) {
            match answer {
                // Its caller may have gone.
                Some(answer) => drop(told.send(answer)),
                None => alone.push(Waiting { call, since, told }),
            }
        }
        one_by_one(&shared, alone).await;
        // Whoever was told just now may ask for more: those calls are to be in the next statement, and not the first of
        // them alone in one of its own, with the others waiting for it.
        tokio::task::yield_now().await;
        match shared.next() {
            Some(more) => batch = more,
            None => {
                // The place is given back already.
                place.0 = None;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::{sync::Semaphore, time::timeout};

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
        gated.gate.add_permits(10);
        assert_eq!(all(calls).await, [0]);
        assert_eq!(*gated.sizes.lock().expect("not poisoned"), [1]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_waited_too_long_is_told_that_it_was_never_sent() {
        let (lane, gated) = lane(1, 8);
        let mut calls = JoinSet::new();
        spawn(&mut calls, &lane, 0);
        while gated.begun.load(Ordering::SeqCst) < 1 {
            tokio::task::yield_now().await;
        }
        let late = tokio::spawn({
            let lane = lane.clone();
            async move { lane.call(&1).await }
        });
        waiting(&lane, 1).await;
        tokio::time::advance(Duration::from_secs(2)).await;
        gated.gate.add_permits(10);
        assert_eq!(late.await.expect("it ends"), Told::NeverSent);
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
}
