//! One per action: preview, confirm, run.

use std::{fmt, future::Future, pin::pin, sync::Arc, time::Duration};

use super::{
    Admission, Bound, Execution, Guard, Incoming, LeaseTime, Params, answers,
    claim::{self, Credential},
    incoming,
    reader::Reader,
    run::{Progress, Run},
    security,
    shared::Shared,
    waiting,
};
use crate::{
    OperationId, Owner, Scope, Subject, Timestamp,
    answer::{Answer, Executed, Status, Wording, executed_of},
    fingerprint::{Fingerprint, Opened, Terms},
    idempotency::KeyRules,
    lifecycle::{Claim, State},
    params::{Canonicalizer, CompiledPolicy, Extra, ParamsError},
    store::{Acquire, Identity, Sighting},
};

/// How long a fingerprint lives.
pub(super) const DEFAULT_LIFE: Duration = Duration::from_secs(15 * 60);
/// How long a record is kept.
pub(super) const DEFAULT_RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What the service refuses of valid params.
pub(super) type Check<P> = Arc<dyn Fn(&P) -> Result<(), Answer> + Send + Sync>;

/// One per action. Cheap to clone; goes into the state of a server, a service, a tool's handler.
pub struct Gate<P> {
    pub(super) config: Arc<Config<P>>,
}

pub(super) struct Config<P> {
    pub(super) shared: Arc<Shared>,
    pub(super) scope: Scope,
    pub(super) reader: Reader<P>,
    pub(super) policy: CompiledPolicy,
    pub(super) time: LeaseTime,
    pub(super) life: Duration,
    pub(super) retention: Duration,
    pub(super) takeover_within: Option<Duration>,
    pub(super) wait: Duration,
    pub(super) check: Option<Check<P>>,
    pub(super) guards: Vec<Guard<P>>,
    pub(super) key_rules: KeyRules,
}

// By hand: a derive would ask `P: Clone`.
impl<P> Clone for Gate<P> {
    fn clone(&self) -> Self {
        Self {
            config: Arc::clone(&self.config),
        }
    }
}

impl<P> fmt::Debug for Gate<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("scope", &self.config.scope)
            .finish_non_exhaustive()
    }
}

/// What a preview hands out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Preview {
    /// The credential that confirm must bring back.
    pub fingerprint: Fingerprint,
    /// The operation that it names.
    pub operation_id: OperationId,
    /// When it can no longer start one.
    pub expires_at: Timestamp,
    /// The issuer's clock.
    pub now: Timestamp,
}

/// What a confirm comes to.
#[derive(Debug)]
#[must_use]
pub enum Verdict<P> {
    /// It is the caller's to run.
    Run(Execution<P>),
    /// It is not; this is to be told.
    Answer(Answer),
}

impl<P> Gate<P> {
    pub(super) fn new(config: Config<P>) -> Self {
        Self {
            config: Arc::new(config),
        }
    }

    /// The action.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.config.scope
    }

    /// The texts of answers.
    #[must_use]
    pub fn wording(&self) -> &Wording {
        &self.config.shared.wording
    }

    /// A place among what runs; held until what it was taken for has ended.
    ///
    /// # Errors
    ///
    /// `over_capacity` past the cap, `unavailable` while draining.
    pub fn admit(&self) -> Result<Admission, Answer> {
        self.config.shared.admit()
    }

    /// A task that draining waits for, in the current tracing span.
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.config.shared.spawn(task);
    }

    /// Opens a fingerprint: shape, key, tag, payload, then subject and scope. No store is asked, and the params are not
    /// looked at before: a stranger learns nothing from them.
    ///
    /// # Errors
    ///
    /// `fingerprint_mistyped` or `fingerprint_invalid`.
    pub fn open(&self, subject: &Subject, fingerprint: &[u8]) -> Result<Opened, Answer> {
        self.config
            .shared
            .open(subject, Some(&self.config.scope), fingerprint)
    }
}

impl<P: Send + Sync + 'static> Gate<P> {
    /// Reads a request's JSON body strictly; nothing is decoded yet.
    ///
    /// # Errors
    ///
    /// `params_invalid`, naming the field where one is known.
    pub fn incoming(&self, body: &[u8]) -> Result<Incoming, Answer> {
        self.read_strictly(body)
            .map_err(|error| incoming::invalid(&error))
    }

    /// Decodes, validates and hashes what was read.
    ///
    /// # Errors
    ///
    /// `params_invalid`, naming the field where one is known.
    pub fn bind_incoming(&self, incoming: Incoming) -> Result<Bound<P>, Answer> {
        self.bind_reading(incoming)
            .map_err(|error| incoming::invalid(&error))
    }

    fn bind_reading(&self, incoming: Incoming) -> Result<Bound<P>, ParamsError> {
        let values: Vec<Vec<&[u8]>> = incoming
            .headers
            .iter()
            .map(|(_, values)| values.iter().map(Vec::as_slice).collect())
            .collect();
        let headers: Vec<Extra<'_>> = incoming
            .headers
            .iter()
            .zip(&values)
            .map(|((name, _), values)| (name.as_str(), values.as_slice()))
            .collect();
        let (value, hash) = (self.config.reader)(&self.config.policy, incoming.reading, &headers)?;
        Ok(Bound {
            value: Arc::new(value),
            hash,
        })
    }

    /// Reads params from JSON, as they came over the wire. Credentials must have been taken out.
    ///
    /// # Errors
    ///
    /// [`ParamsError`], naming the field where one is known.
    pub fn read(&self, json: &[u8]) -> Result<Bound<P>, ParamsError> {
        self.bind_reading(self.read_strictly(json)?)
    }

    fn read_strictly(&self, json: &[u8]) -> Result<Incoming, ParamsError> {
        Canonicalizer::new(&self.config.policy)
            .read(json)
            .map(Incoming::new)
    }

    /// Issues a fingerprint for these params. Pure computation: no store is touched.
    ///
    /// # Errors
    ///
    /// None in this version; an approval's store may fail in later ones.
    pub async fn preview(&self, subject: &Subject, params: &Bound<P>) -> Result<Preview, Answer> {
        self.preview_until(subject, params, None).await
    }

    /// The same, ending no later than the quote that the preview shows.
    ///
    /// # Errors
    ///
    /// `fingerprint_expired` if the quote ends within the second: nothing could be confirmed in time.
    #[expect(
        clippy::unused_async,
        reason = "an approval writes to the store, in a later version, and callers should not change then"
    )]
    pub async fn preview_until(
        &self,
        subject: &Subject,
        params: &Bound<P>,
        quote_ends: Option<Timestamp>,
    ) -> Result<Preview, Answer> {
        let config = &self.config;
        self.check(params)?;
        let now = config.shared.clock.now();
        let id = OperationId::mint(now);
        let end = quote_ends
            .unwrap_or(Terms::LATEST_EXP)
            .min(now + config.life)
            .min(Terms::LATEST_EXP);
        let terms = Terms::new(
            id,
            subject.clone(),
            config.scope.clone(),
            params.hash,
            now,
            end,
        )
        .map_err(|_| {
            // Nothing was signed, so nothing can come of it.
            Answer::new(Status::FingerprintExpired).with_executed(Executed::No)
        })?;
        Ok(Preview {
            fingerprint: config.shared.keys().issue(&terms),
            operation_id: id,
            expires_at: terms.exp(),
            now,
        })
    }

    /// Claims the operation of an opened fingerprint, or says what stands.
    ///
    /// Where another attempt runs, and the gate is to wait for it ([`with_wait`](super::GateBuilder::with_wait)), this
    /// waits, without the place among what runs, and for no longer than there is a caller: `gone` ends when the caller is
    /// gone. A caller that stays is [`std::future::pending`].
    ///
    /// Cancellation: a dropped future may leave a claim that nobody runs, which lapses to UNKNOWN. Await it in a task of
    /// its own ([`spawn`](Self::spawn)), as [`run`](Self::run) and [`confirm`](Self::confirm) do.
    pub async fn claim(
        &self,
        admission: Admission,
        subject: &Subject,
        opened: Opened,
        params: Bound<P>,
        gone: impl Future<Output = ()> + Send,
    ) -> Verdict<P> {
        let config = &self.config;
        let terms = opened.terms();
        if terms.check_params(&params.hash).is_err() {
            return Verdict::Answer(self.params_changed(subject, &opened).await);
        }
        if let Err(refused) = self.check(&params) {
            return Verdict::Answer(self.refused(subject, terms, refused).await);
        }
        let identity = Identity {
            subject: subject.clone(),
            scope: config.scope.clone(),
            hash: params.hash,
        };
        let mut wish = Claim::new(Owner::mint(), config.time.lease());
        wish.exp = Some(terms.exp());
        wish.needs_approval = terms.needs_approval();
        wish.takeover_within = config.takeover_within;
        let request = Acquire::new(terms.id(), identity, wish, config.retention);
        self.acquire(admission, request, Credential::Fingerprint, params, gone)
            .await
    }

    /// Claims, with the guards that the params ask for, and waits where the gate says so.
    pub(super) async fn acquire(
        &self,
        admission: Admission,
        request: Acquire,
        credential: Credential,
        params: Bound<P>,
        gone: impl Future<Output = ()> + Send,
    ) -> Verdict<P> {
        let config = &self.config;
        let guards = config
            .guards
            .iter()
            .filter_map(|guard| guard.read(&params.value))
            .collect();
        let request = request.with_guards(guards);
        let (subject, exp) = (request.identity.subject.clone(), request.claim.exp);
        let gone = pin!(gone);
        let claim = waiting::claim(
            &config.shared,
            request,
            admission,
            credential,
            config.wait,
            gone,
        );
        match claim.await {
            Err(answer) => Verdict::Answer(answer),
            Ok(won) => {
                let run = Run {
                    shared: Arc::clone(&config.shared),
                    lease: won.claimed.lease,
                    time: config.time,
                    began: won.sent,
                    subject,
                    scope: config.scope.clone(),
                    // Whether a missing record means "no" is a fingerprint's to say.
                    exp: exp.filter(|_| credential == Credential::Fingerprint),
                    number: won.claimed.attempt,
                    fences: won.claimed.fences,
                    params: Arc::clone(&params.value) as _,
                    progress: Progress::since(won.sent, config.time),
                };
                Verdict::Run(Execution::new(run, params.value, won.admission))
            }
        }
    }

    pub(super) fn check(&self, params: &Bound<P>) -> Result<(), Answer> {
        match &self.config.check {
            Some(check) => check(&params.value),
            None => Ok(()),
        }
    }

    /// The service refuses these params by now. What has run, or runs, is told all the same: the rule may be newer.
    async fn refused(&self, subject: &Subject, terms: &Terms, refused: Answer) -> Answer {
        match self.config.shared.store.find(terms.id()).await {
            Ok(Sighting {
                record: Some(record),
                now,
            }) if record.check_owner(subject, terms.scope()).is_ok()
                && record.state_at(now) != State::Released =>
            {
                answers::of_record(&self.config.shared, record, Some(now))
            }
            Ok(_) => refused,
            Err(error) => answers::of_error(&error, terms.id()),
        }
    }

    /// Told in every state and at any time, before anything about `exp`; the operation's own subject learns its state.
    async fn params_changed(&self, subject: &Subject, opened: &Opened) -> Answer {
        security::params_changed(opened, subject, &self.config.scope);
        let terms = opened.terms();
        let (state, executed) = match self.config.shared.store.find(terms.id()).await {
            Ok(Sighting {
                record: Some(record),
                now,
            }) if record.check_owner(subject, terms.scope()).is_ok() => {
                let state = record.state_at(now);
                (Some(state), executed_of(Some(state)))
            }
            Ok(Sighting { record: None, now }) => {
                let (exp, retention) = (terms.exp(), Some(self.config.retention));
                let absent =
                    answers::of_absence(&self.config.shared, terms.id(), exp, retention, now);
                (None, absent.executed)
            }
            // Another's record, or a store that can't say: nothing is known of the state.
            Ok(_) | Err(_) => (None, Executed::Unknown),
        };
        claim::params_changed(terms.id(), state).with_executed(executed)
    }
}

impl<P: Params> Gate<P> {
    /// Binds a value: the validated command, defaults filled in. Its serialization is what is hashed, as it is for
    /// params that were read from JSON.
    ///
    /// # Errors
    ///
    /// [`ParamsError`], naming the field where one is known.
    pub fn bind(&self, params: P) -> Result<Bound<P>, ParamsError> {
        let hash = Canonicalizer::new(&self.config.policy).hash_value(&params)?;
        Ok(Bound {
            value: Arc::new(params),
            hash,
        })
    }
}
