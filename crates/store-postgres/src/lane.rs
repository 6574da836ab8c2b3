//! Calls that share a statement under load.
//!
//! A caller that finds the lane free goes straight through, with a statement of its own. Whoever comes while all of the
//! lane's statements are under way waits, and everything that has gathered goes out as one statement as soon as one of
//! them has ended. No timer makes anybody wait for others: an idle system pays nothing, and a busy one commits once for
//! many. Only who waits has one, which ends a wait that has become too long.

use std::{
    collections::VecDeque,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::oneshot,
    task::JoinSet,
    time::{Instant, timeout_at},
};

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
    /// In the order of their numbers.
    waiting: VecDeque<Waiting<S>>,
    next_number: u64,
}

struct Waiting<S: Statements> {
    number: u64,
    call: S::Call,
    /// After this it is not begun any more.
    until: Instant,
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
                next_number: 0,
            }),
        }))
    }

    /// Makes a call. One that has to wait and is in no statement when the time to wait is over is told so at that moment.
    /// One that is ends with the statement, or, where that was not applied because of one of its calls, with one more.
    ///
    /// Cancellation: a call that waits is not made, one that is under way goes on or is given up with its connection.
    pub(crate) async fn call(&self, call: &S::Call) -> S::Answer {
        let Some((mut queued, mut heard)) = self.0.enter(call) else {
            let _place = Place(Some(Arc::clone(&self.0)));
            return self.0.statements.one(call).await;
        };
        let answer = match timeout_at(queued.until, &mut heard).await {
            Ok(answer) => answer,
            Err(_) if queued.leave() => return self.0.statements.never_sent(),
            // It is in a statement.
            Err(_) => heard.await,
        };
        queued.is_over = true;
        // Else the task that had it was lost with it.
        answer.unwrap_or_else(|_| self.0.statements.lost())
    }
}

/// A caller in the queue. One that goes takes its call along.
struct Queued<'a, S: Statements> {
    shared: &'a Shared<S>,
    number: u64,
    until: Instant,
    is_over: bool,
}

impl<S: Statements> Queued<'_, S> {
    /// Takes the call out of the queue; false where it is not there any more. What is in the queue is in no statement, since
    /// both change under one lock.
    fn leave(&mut self) -> bool {
        self.is_over = true;
        let mut state = self.shared.state();
        let place = state
            .waiting
            .binary_search_by_key(&self.number, |waiting| waiting.number);
        place.is_ok_and(|place| state.waiting.remove(place).is_some())
    }
}

impl<S: Statements> Drop for Queued<'_, S> {
    fn drop(&mut self) {
        if !self.is_over {
            self.leave();
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

    /// Takes a place for a statement of the caller's own, and gives nothing; or puts the call into the queue.
    fn enter(&self, call: &S::Call) -> Option<(Queued<'_, S>, oneshot::Receiver<S::Answer>)> {
        let mut state = self.state();
        if state.under_way < self.limits.width {
            state.under_way += 1;
            return None;
        }
        let until = Instant::now() + self.limits.wait;
        let number = state.next_number;
        state.next_number += 1;
        let (told, heard) = oneshot::channel();
        state.waiting.push_back(Waiting {
            number,
            call: call.clone(),
            until,
            told,
        });
        let queued = Queued {
            shared: self,
            number,
            until,
            is_over: false,
        };
        Some((queued, heard))
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
            if now > first.until {
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
        let may_begin = if under_way.len() < ALONE {
            Instant::now() <= waiting.until
        } else {
            let free = timeout_at(waiting.until, under_way.join_next());
            free.await.is_ok()
        };
        if !may_begin {
            // The statement that it was in was not applied, so that this is true of it again. Its caller may have gone.
            let _ = waiting.told.send(shared.statements.never_sent());
            continue;
        }
        if waiting.told.is_closed() {
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
            .map(|waiting| (waiting.call, (waiting.number, waiting.until, waiting.told)))
            .unzip();
        let answers = match &calls[..] {
            [one] => vec![Some(shared.statements.one(one).await)],
            _ => shared.statements.many(&calls).await,
        };
        let mut alone = Vec::new();
        for ((call, (number, until, told)), answer) in calls.into_iter().zip(callers).zip(answers) {
            match answer {
                // Its caller may have gone.
                Some(answer) => drop(told.send(answer)),
                None => alone.push(Waiting {
                    number,
                    call,
                    until,
                    told,
                }),
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
mod tests;
