//! One per process: store, keys, clock, and what runs.

use std::{
    fmt,
    sync::{Arc, PoisonError},
    time::Duration,
};

use tokio::time::timeout;

use super::{
    CounterfoilBuilder, GateBuilder, Params, RawParams, answers, gate, security, shared::Shared,
};
use crate::{
    OperationId, Scope, Subject,
    answer::{Answer, Status, Wording},
    fingerprint::Keyring,
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

    /// Other keys from now on, as after a rotation. What runs is not touched. A store or a cache that seals with keys of the
    /// ring is told by a call of its own.
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

    /// How many duplicates wait for the end of a run in flight.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shared.max_waiting - self.shared.waiters.available_permits()
    }

    /// Takes no new claims, and waits for what runs. Duplicates that wait are answered at once. Call it after the server has stopped taking requests, before the
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
