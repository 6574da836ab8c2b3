//! One per process: store, keys, clock, and what runs.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};
use tracing::Instrument;

use super::{
    ConfigError, GateBuilder, LeaseTime, Params, RawParams, answers, attempt::lock, gate, security,
};
use crate::{
    Clock, OperationId, Scope, Subject, SystemClock,
    answer::{Answer, Status, Wording},
    fingerprint::{FingerprintError, Keyring, Opened},
    store::{Cancellation, Cancelled, Identity, Sighting, Store, Tombstone},
};

/// One per process: the store, the keys, the clock, and the operations that run here. Cheap to clone.
///
/// ```
/// use counterfoil_core::{
///     KeyId, Scope, Subject,
///     engine::{Counterfoil, Outcome},
///     fingerprint::{Key, Keyring},
/// };
/// use counterfoil_store_memory::MemoryStore;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Refund {
///     order: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let keys = Keyring::new(Key::random(KeyId::parse("k1")?));
/// let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
/// let gate = counterfoil.gate::<Refund>(Scope::new("orders.refund")).build()?;
///
/// let agent = Subject::new("acme", "agent-7")?;
/// let params = gate.bind(Refund { order: "A-17".into() }).expect("valid params");
/// let preview = gate.preview(&agent, &params).await.expect("a preview");
///
/// for expected in ["completed", "already_completed"] {
///     let answer = gate
///         .run(&agent, preview.fingerprint.as_str(), params.clone(), |_attempt, refund| async move {
///             Outcome::done(&refund.order)
///         })
///         .await;
///     assert_eq!(answer.status.as_str(), expected);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Counterfoil {
    pub(super) shared: Arc<Shared>,
}

/// What all parts of a process share.
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) keys: RwLock<Arc<Keyring>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) wording: Arc<Wording>,
    pub(super) answer_within: Duration,
    pub(super) tasks: TaskTracker,
    pub(super) draining: CancellationToken,
    permits: Arc<Semaphore>,
    max_running: usize,
    facts: Mutex<HashMap<Scope, Facts>>,
}

/// What is known of a scope's gate where only the scope is at hand.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    /// `None` where no gate of this process says how long a missing record would have been kept.
    pub(super) retention: Option<Duration>,
    pub(super) poll_after: Option<Duration>,
    pub(super) max_run: Duration,
}

impl Shared {
    pub(super) fn keys(&self) -> Arc<Keyring> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Of a scope without a gate in this process (an older version's, another service's), what is safe to assume.
    pub(super) fn facts(&self, scope: &Scope) -> Facts {
        lock(&self.facts).get(scope).copied().unwrap_or(Facts {
            retention: None,
            poll_after: None,
            max_run: LeaseTime::default().max_run(),
        })
    }

    pub(super) fn register(&self, scope: &Scope, facts: Facts) -> Result<(), ConfigError> {
        let mut all = lock(&self.facts);
        if all.contains_key(scope) {
            return Err(ConfigError::ScopeTaken(scope.clone()));
        }
        all.insert(scope.clone(), facts);
        Ok(())
    }

    /// A place among what runs, or the answer that there is none.
    pub(super) fn admit(&self) -> Result<Admission, Answer> {
        // Counted first: whoever is not yet seen by a drain sees that it has begun.
        let token = self.tasks.token();
        if self.draining.is_cancelled() {
            return Err(Answer::new(Status::Unavailable));
        }
        match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => Ok(Admission {
                _permit: permit,
                _token: token,
            }),
            Err(_) => Err(Answer::new(Status::OverCapacity)),
        }
    }

    /// Shape, key, tag, payload; then subject and, where it is known, scope.
    pub(super) fn open(
        &self,
        subject: &Subject,
        scope: Option<&Scope>,
        fingerprint: &[u8],
    ) -> Result<Opened, Answer> {
        let opened = match self.keys().open(fingerprint) {
            Ok(opened) => opened,
            Err(FingerprintError::Mistyped) => {
                return Err(Answer::new(Status::FingerprintMistyped));
            }
            Err(FingerprintError::Invalid(cause)) => {
                security::invalid_fingerprint(cause, subject, scope);
                return Err(Answer::new(Status::FingerprintInvalid));
            }
        };
        let terms = opened.terms();
        if terms
            .check_caller(subject, scope.unwrap_or_else(|| terms.scope()))
            .is_err()
        {
            security::foreign_fingerprint(&opened, subject, scope);
            return Err(Answer::new(Status::FingerprintInvalid));
        }
        Ok(opened)
    }
}

/// A place among what runs, held for as long as it runs. Draining waits for it.
pub struct Admission {
    _permit: OwnedSemaphorePermit,
    _token: TaskTrackerToken,
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Admission")
    }
}

/// Configures a [`Counterfoil`].
pub struct CounterfoilBuilder {
    store: Arc<dyn Store>,
    keys: Keyring,
    clock: Arc<dyn Clock>,
    wording: Wording,
    max_running: usize,
    answer_within: Duration,
}

impl CounterfoilBuilder {
    /// How many operations may be claimed or running in this process at a time.
    pub const DEFAULT_MAX_RUNNING: usize = 4096;
    /// How long a caller waits for a store in trouble.
    pub const DEFAULT_ANSWER_WITHIN: Duration = Duration::from_secs(5);

    const SHORTEST_ANSWER_WITHIN: Duration = Duration::from_millis(100);

    fn new(store: Arc<dyn Store>, keys: Keyring) -> Self {
        Self {
            store,
            keys,
            clock: Arc::new(SystemClock),
            wording: Wording::english(),
            max_running: Self::DEFAULT_MAX_RUNNING,
            answer_within: Self::DEFAULT_ANSWER_WITHIN,
        }
    }

    /// Another clock for minting ids and setting `exp`. The store has its own.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Other texts of answers.
    #[must_use]
    pub fn with_wording(mut self, wording: Wording) -> Self {
        self.wording = wording;
        self
    }

    /// Another cap of what runs; past it a confirm is refused before its claim.
    #[must_use]
    pub const fn with_max_running(mut self, operations: usize) -> Self {
        self.max_running = operations;
        self
    }

    /// How long a caller waits while the store can't be asked, or can't store a result; what was begun goes on. A call
    /// that is on its way is never cut off: a claim's caller waits for its end too, which the store bounds by itself.
    #[must_use]
    pub const fn with_answer_within(mut self, limit: Duration) -> Self {
        self.answer_within = limit;
        self
    }

    /// The whole.
    ///
    /// # Errors
    ///
    /// [`ConfigError::MaxRunning`] if the cap is zero, or beyond what can be counted;
    /// [`ConfigError::AnswerWithinTooShort`].
    pub fn build(self) -> Result<Counterfoil, ConfigError> {
        let (answer_within, shortest) = (self.answer_within, Self::SHORTEST_ANSWER_WITHIN);
        if answer_within < shortest {
            return Err(ConfigError::AnswerWithinTooShort {
                answer_within,
                shortest,
            });
        }
        let (asked, most) = (self.max_running, Semaphore::MAX_PERMITS);
        if !(1..=most).contains(&asked) {
            return Err(ConfigError::MaxRunning { asked, most });
        }
        Ok(self.assemble())
    }

    fn assemble(self) -> Counterfoil {
        Counterfoil {
            shared: Arc::new(Shared {
                store: self.store,
                keys: RwLock::new(Arc::new(self.keys)),
                clock: self.clock,
                wording: Arc::new(self.wording),
                answer_within: self.answer_within,
                tasks: TaskTracker::new(),
                draining: CancellationToken::new(),
                permits: Arc::new(Semaphore::new(self.max_running)),
                max_running: self.max_running,
                facts: Mutex::default(),
            }),
        }
    }
}

impl fmt::Debug for CounterfoilBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CounterfoilBuilder")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

impl Counterfoil {
    /// With the machine's clock, English answers and the default caps.
    #[must_use]
    pub fn new(store: impl Store, keys: Keyring) -> Self {
        CounterfoilBuilder::new(Arc::new(store), keys).assemble()
    }

    /// For everything else.
    #[must_use]
    pub fn builder(store: impl Store, keys: Keyring) -> CounterfoilBuilder {
        CounterfoilBuilder::new(Arc::new(store), keys)
    }

    /// A gate for one action, its params decoded into `P`.
    pub fn gate<P: Params>(&self, scope: Scope) -> GateBuilder<P> {
        GateBuilder::typed(Arc::clone(&self.shared), scope)
    }

    /// A gate for one action whose params are hashed as they are sent, and not decoded.
    pub fn raw_gate(&self, scope: Scope) -> GateBuilder<RawParams> {
        GateBuilder::raw(Arc::clone(&self.shared), scope)
    }

    /// The texts of answers.
    #[must_use]
    pub fn wording(&self) -> &Wording {
        &self.shared.wording
    }

    /// The store, for operators' calls.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.shared.store
    }

    /// Other keys from now on, as after a rotation. What runs is not touched.
    pub fn replace_keys(&self, keys: Keyring) {
        *self
            .shared
            .keys
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }

    /// How an operation stands, for its own subject; `not_found` for anybody else, as for an unknown id.
    ///
    /// Cancellation: dropping the future changes nothing; so too for
    /// [`status_by_fingerprint`](Self::status_by_fingerprint).
    pub async fn status_by_id(&self, subject: &Subject, id: OperationId) -> Answer {
        match self.shared.store.find(id).await {
            Ok(Sighting {
                record: Some(record),
                now,
            }) if record.identity.subject == *subject => {
                answers::of_record(&self.shared, record, Some(now))
            }
            Ok(Sighting { record, .. }) => {
                if record.is_some() {
                    security::foreign_record(id, subject, None);
                }
                Answer::new(Status::NotFound)
            }
            Err(error) => answers::of_error(&error, id),
        }
    }

    /// How the operation of a fingerprint stands: `not_started` before anybody confirmed it.
    pub async fn status_by_fingerprint(&self, subject: &Subject, fingerprint: &[u8]) -> Answer {
        let opened = match self.shared.open(subject, None, fingerprint) {
            Ok(opened) => opened,
            Err(answer) => return answer,
        };
        let terms = opened.terms();
        match self.shared.store.find(terms.id()).await {
            Ok(Sighting {
                record: Some(record),
                ..
            }) if record.check_owner(subject, terms.scope()).is_err() => {
                security::foreign_record(terms.id(), subject, Some(terms.scope()));
                Answer::new(Status::FingerprintInvalid)
            }
            Ok(Sighting {
                record: Some(record),
                now,
            }) => answers::of_record(&self.shared, record, Some(now)),
            Ok(Sighting { record: None, now }) => {
                let retention = self.shared.facts(terms.scope()).retention;
                answers::of_absence(&self.shared, terms.id(), terms.exp(), retention, now)
            }
            Err(error) => answers::of_error(&error, terms.id()),
        }
    }

    /// Calls off an operation that has a record: before it runs, for good. Later: `too_late`, with its state.
    ///
    /// Cancellation: if the future is dropped, the operation may be called off or not; ask again. So too for
    /// [`cancel_by_fingerprint`](Self::cancel_by_fingerprint).
    pub async fn cancel_by_id(&self, subject: &Subject, id: OperationId) -> Answer {
        self.cancel(subject, id, None).await
    }

    /// Calls off the operation of a fingerprint, also where nothing is stored yet: a tombstone stops later claims.
    pub async fn cancel_by_fingerprint(&self, subject: &Subject, fingerprint: &[u8]) -> Answer {
        let opened = match self.shared.open(subject, None, fingerprint) {
            Ok(opened) => opened,
            Err(answer) => return answer,
        };
        let terms = opened.terms();
        let tombstone = Tombstone {
            identity: Identity {
                subject: terms.subject().clone(),
                scope: terms.scope().clone(),
                hash: *terms.hash(),
            },
            exp: terms.exp(),
            // Longer than needed does no harm: it keeps claims out.
            retention: (self.shared.facts(terms.scope()).retention)
                .unwrap_or(gate::DEFAULT_RETENTION),
        };
        self.cancel(subject, terms.id(), Some(tombstone)).await
    }

    async fn cancel(
        &self,
        subject: &Subject,
        id: OperationId,
        tombstone: Option<Tombstone>,
    ) -> Answer {
        let signed = tombstone
            .as_ref()
            .map(|tombstone| (tombstone.identity.scope.clone(), tombstone.exp));
        let cancellation = Cancellation {
            id,
            subject: subject.clone(),
            tombstone,
            reason: Some("cancelled by its caller".to_owned()),
        };
        match self.shared.store.cancel(&cancellation).await {
            Ok(Cancelled::Cancelled(record)) => answers::of_record(&self.shared, *record, None),
            Ok(Cancelled::TooLate(record)) => {
                let state = record.life.state;
                Answer::new(Status::TooLate)
                    .with_operation(id)
                    .with_state(state)
                    .with_executed(crate::answer::executed_of(Some(state)))
            }
            Ok(Cancelled::Expired { now }) => match signed {
                Some((scope, exp)) => {
                    let retention = self.shared.facts(&scope).retention;
                    answers::of_absence(&self.shared, id, exp, retention, now)
                }
                None => Answer::new(Status::NotFound),
            },
            Ok(Cancelled::Foreign) => {
                let scope = signed.as_ref().map(|(scope, _)| scope);
                security::foreign_record(id, subject, scope);
                Answer::new(match scope {
                    Some(_) => Status::FingerprintInvalid,
                    None => Status::NotFound,
                })
            }
            Ok(Cancelled::Absent) => Answer::new(Status::NotFound),
            Err(error) => answers::of_error(&error, id),
        }
    }

    /// How many operations have a place among what runs: from before their claim until their end is stored, or given up.
    #[must_use]
    pub fn running(&self) -> usize {
        self.shared.max_running - self.shared.permits.available_permits()
    }

    /// Takes no new claims, and waits for what runs. Call it after the server has stopped taking requests, before the
    /// runtime ends: dropping the runtime aborts tasks between effect and completion.
    ///
    /// Cancellation: dropping the future ends the wait; new claims stay refused.
    ///
    /// # Errors
    ///
    /// [`StillRunning`] if something runs after `limit`. It may still end; what the process takes with it reads as
    /// unknown once its lease lapses.
    pub async fn drain(&self, limit: Duration) -> Result<(), StillRunning> {
        self.shared.draining.cancel();
        self.shared.tasks.close();
        timeout(limit, self.shared.tasks.wait())
            .await
            .map_err(|_| StillRunning(self.running().max(1)))
    }
}

impl Shared {
    /// A task that [`Counterfoil::drain`] waits for, in the current span.
    pub(super) fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.tasks.spawn(task.in_current_span());
    }
}

impl fmt::Debug for Counterfoil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counterfoil")
            .field("store", &self.shared.store)
            .field("keys", &self.shared.keys())
            .field("running", &self.running())
            .finish_non_exhaustive()
    }
}

/// Something still ran when the time to drain was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} operations still run; they read as unknown once their leases lapse")]
pub struct StillRunning(pub usize);
