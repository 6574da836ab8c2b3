//! A gate in idempotency-key mode: the client names the operation.
//!
//! The operation id comes from the key, and the record keeps the hash of all that the key was sent with. From the claim
//! on nothing differs from a confirm.

use std::{future::Future, sync::Arc};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::{
    Admission, Attempt, Bound, Counterfoil, Gate, Outcome, RawParams, Verdict, answers,
    claim::{Credential, key_reused},
    gate_run::run_handler,
    security,
};
use crate::{
    OperationId, Owner, Subject,
    answer::{Answer, Executed, OperationState, Status},
    idempotency::{IdempotencyKey, InvalidKey, Keyed},
    lifecycle::{Claim, State},
    params::{Canonicalizer, Extra},
    store::{Acquire, Identity, Sighting},
};

impl<P> Gate<P> {
    /// The operation that a key names for its subject, if the gate's rules take the key. No store is asked.
    ///
    /// Whether a bounded key is ahead of time is said by the claim, once there is no record: this process's clock may be
    /// the one that is wrong, and a retry of what has run gets its result.
    ///
    /// # Errors
    ///
    /// `key_invalid`, with the fault in `reason`.
    pub fn keyed(&self, subject: &Subject, key: &IdempotencyKey) -> Result<Keyed, Answer> {
        let config = &self.config;
        let now = config.shared.clock.now();
        let id = key.operation_id(subject);
        match config.key_rules.check(key, now) {
            Ok(exp) => Ok(Keyed::new(subject.clone(), id, exp)),
            Err(InvalidKey::AheadOfTime) => Ok(Keyed::new(subject.clone(), id, None).too_early()),
            Err(invalid) => Err(key_invalid(invalid)),
        }
    }

    /// An operation of its own for a request without a key, where a key is not required: no later request can name it, but
    /// its status can be asked by its id.
    #[must_use]
    pub fn unkeyed(&self, subject: &Subject) -> Keyed {
        let id = OperationId::mint(self.config.shared.clock.now());
        Keyed::new(subject.clone(), id, None)
    }
}

impl Gate<RawParams> {
    /// Binds a body that is not JSON, byte for byte, with the parts that say how its handler reads it: its media type at
    /// least. For key mode, where no preview has to read the same bytes by the same rules.
    #[must_use]
    pub fn bind_bytes(&self, body: Bytes, parts: &[Extra<'_>]) -> Bound<RawParams> {
        let hash = Canonicalizer::new(&self.config.policy).hash_bytes_with(&body, parts);
        Bound {
            value: Arc::new(RawParams::bytes(body)),
            hash,
        }
    }
}

impl<P: Send + Sync + 'static> Gate<P> {
    /// Claims the operation of a key, or says what stands: as [`claim`](Self::claim), for a key.
    ///
    /// The same key with other params, another request line or another scope is `key_reused`, before anything about the
    /// state of its operation.
    ///
    /// Cancellation: as [`claim`](Self::claim).
    pub async fn claim_keyed(
        &self,
        admission: Admission,
        keyed: Keyed,
        params: Bound<P>,
        gone: impl Future<Output = ()> + Send,
    ) -> Verdict<P> {
        let config = &self.config;
        let identity = Identity {
            hash: keyed.hash(&config.scope, &params.hash),
            subject: keyed.subject.clone(),
            scope: config.scope.clone(),
        };
        let claimable = if keyed.too_early {
            Err(key_invalid(InvalidKey::AheadOfTime).with_operation(keyed.id))
        } else {
            self.check(&params)
        };
        let verdict = match claimable {
            Err(refused) => Verdict::Answer(self.refused_keyed(&keyed, &identity, refused).await),
            Ok(()) => {
                let mut wish = Claim::new(Owner::mint(), config.time.lease());
                wish.exp = keyed.exp;
                wish.takeover_within = config.takeover_within;
                let request = Acquire::new(keyed.id, identity, wish, config.retention);
                self.acquire(admission, request, Credential::Key, params, gone)
                    .await
            }
        };
        match verdict {
            Verdict::Answer(mut answer) => {
                // A program is right to send the same request again: it gets the result once there is one.
                answer.retryable |= answer.status == Status::InProgress;
                Verdict::Answer(answer)
            }
            run @ Verdict::Run(_) => run,
        }
    }

    /// Claims, runs the handler if it is this caller's to run, stores what it says, and tells: as [`run`](Self::run), for
    /// a key.
    ///
    /// ```
    /// use counterfoil_core::{
    ///     KeyId, Scope, Subject,
    ///     engine::{Counterfoil, Outcome},
    ///     fingerprint::{Key, Keyring},
    ///     idempotency::IdempotencyKey,
    /// };
    /// use counterfoil_store_memory::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let keys = Keyring::new(Key::random(KeyId::parse("k1")?));
    /// let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
    /// let gate = counterfoil.gate::<String>(Scope::new("tickets.create")).build()?;
    ///
    /// let client = Subject::new("acme", "billing")?;
    /// let key = IdempotencyKey::from_text("8e03978e-40d5-43dd-bc93-6894a57f9324")?;
    /// let send = async |title: &str| {
    ///     let keyed = gate.keyed(&client, &key).expect("a key of the right length");
    ///     let params = gate.bind(title.to_owned()).expect("valid params");
    ///     let ran = gate.run_keyed(keyed, params, |_attempt, title| async move {
    ///         Outcome::done(title.as_str())
    ///     });
    ///     ran.await.status.as_str()
    /// };
    /// assert_eq!(send("Printer on fire").await, "completed");
    /// assert_eq!(send("Printer on fire").await, "already_completed");
    /// assert_eq!(send("Printer fine again").await, "key_reused");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cancellation: dropping this future changes nothing. The handler runs to its end and its result is kept.
    pub async fn run_keyed<F, Fut>(&self, keyed: Keyed, params: Bound<P>, handler: F) -> Answer
    where
        F: FnOnce(Attempt, Arc<P>) -> Fut + Send + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let id = keyed.id;
        let admission = match self.admit() {
            Ok(admission) => admission,
            Err(refused) => return refused.with_operation(id),
        };
        let (mut tx, rx) = oneshot::channel();
        let gate = self.clone();
        self.spawn(async move {
            let claim = gate.claim_keyed(admission, keyed, params, tx.closed());
            let answer = match claim.await {
                Verdict::Answer(answer) => answer,
                Verdict::Run(execution) => run_handler(execution, handler).await,
            };
            // The caller may be gone; the record has it.
            let _ = tx.send(answer);
        });
        rx.await
            .unwrap_or_else(|_| Answer::new(Status::OutcomeUnknown).with_operation(id))
    }

    /// The service refuses these params by now, or the key as ahead of time. What has run, or runs, is told all the same;
    /// another request's key first.
    async fn refused_keyed(&self, keyed: &Keyed, identity: &Identity, refused: Answer) -> Answer {
        let shared = &self.config.shared;
        match shared.store.find(keyed.id).await {
            Ok(Sighting {
                record: Some(record),
                ..
            }) if record.check(identity).is_err() => {
                security::key_reused(keyed.id, &identity.subject, &identity.scope);
                key_reused(keyed.id)
            }
            Ok(Sighting {
                record: Some(record),
                now,
            }) if record.state_at(now) != State::Released => {
                answers::of_record(shared, record, Some(now))
            }
            Ok(_) => refused,
            Err(error) => answers::of_error(&error, keyed.id),
        }
    }
}

impl Counterfoil {
    /// How the operation of an idempotency key stands: `not_started` where none is on record. Whether it happened is
    /// `unknown` then: the key was never used, or its record was kept for its time and dropped. What a gate's rules say of
    /// the key is not looked at.
    ///
    /// Cancellation: dropping the future changes nothing.
    pub async fn status_by_key(&self, subject: &Subject, key: &IdempotencyKey) -> Answer {
        let id = key.operation_id(subject);
        match self.shared.store.find(id).await {
            Ok(Sighting {
                record: Some(record),
                now,
            }) if record.identity.subject == *subject => {
                answers::of_record(&self.shared, record, Some(now))
            }
            // The id is made of the subject: this is a store that mixes up records.
            Ok(Sighting {
                record: Some(_), ..
            }) => {
                security::foreign_record(id, subject, None);
                Answer::new(Status::NotFound)
            }
            Ok(Sighting { record: None, .. }) => Answer::new(Status::NotStarted)
                .with_executed(Executed::Unknown)
                .with_operation(id)
                .with_state(OperationState::Unknown),
            Err(error) => answers::of_error(&error, id),
        }
    }
}

/// What was sent is no key, or none that the gate takes.
impl From<InvalidKey> for Answer {
    fn from(invalid: InvalidKey) -> Self {
        key_invalid(invalid)
    }
}

fn key_invalid(invalid: InvalidKey) -> Answer {
    Answer::new(Status::KeyInvalid).with_reason(invalid.as_str())
}
