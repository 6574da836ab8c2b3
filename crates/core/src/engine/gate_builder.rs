//! Configures a gate, and refuses what would break a promise.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    ConfigError, Gate, Guard, LeaseTime, Params, RawParams,
    gate::{Check, Config, DEFAULT_LIFE, DEFAULT_RETENTION},
    reader::{Reader, read_raw, read_typed},
    shared::{Facts, Shared},
};
use crate::{
    Scope,
    answer::Answer,
    idempotency::{IdempotencyKey, KeyRules},
    params::ParamsPolicy,
};

/// Configures a [`Gate`].
///
/// Defaults: fingerprints live 15 minutes, records are kept 7 days, all params are bound, the lease is 30 s and a run at
/// most one minute, nothing recovers an unknown outcome but a person, and a duplicate in flight is answered at once.
#[must_use = "a gate comes from build()"]
pub struct GateBuilder<P> {
    shared: Arc<Shared>,
    scope: Scope,
    reader: Reader<P>,
    policy: ParamsPolicy,
    time: LeaseTime,
    life: Duration,
    retention: Duration,
    poll_after: Duration,
    recovery: Recovery,
    wait: Duration,
    check: Option<Check<P>>,
    guards: Vec<Guard<P>>,
    approval: Option<ApprovalTime>,
    repeatable: bool,
    key_rules: KeyRules,
}

/// What happens to an operation whose outcome is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Recovery {
    /// It stays unknown until a person resolves it.
    #[default]
    Manual,
    /// A retry takes it over and runs the handler again, under the next epoch. Safe only because downstream
    /// deduplicates on [`Attempt::downstream_key`](super::Attempt::downstream_key) for at least `window` after the first
    /// send; past it, less the downstream budget, it is `Manual`. After a takeover `failed` is doubt.
    Takeover {
        /// How long downstream surely remembers a key.
        window: Duration,
    },
}

/// How long a person has, and an approval is good. No store of this version holds approvals: a gate that asks for one is
/// not built, rather than built without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ApprovalTime(pub Duration);

impl<P: Params> GateBuilder<P> {
    pub(super) fn typed(shared: Arc<Shared>, scope: Scope) -> Self {
        Self::with_reader(shared, scope, read_typed)
    }
}

impl GateBuilder<RawParams> {
    pub(super) fn raw(shared: Arc<Shared>, scope: Scope) -> Self {
        Self::with_reader(shared, scope, read_raw)
    }
}

impl<P> GateBuilder<P> {
    /// The shortest fingerprint's life and poll hint.
    const SHORTEST_LIFE: Duration = Duration::from_secs(1);
    const SHORTEST_POLL: Duration = Duration::from_millis(1);
    const DEFAULT_POLL: Duration = Duration::from_secs(2);

    fn with_reader(shared: Arc<Shared>, scope: Scope, reader: Reader<P>) -> Self {
        Self {
            shared,
            scope,
            reader,
            policy: ParamsPolicy::default(),
            time: LeaseTime::default(),
            life: DEFAULT_LIFE,
            retention: DEFAULT_RETENTION,
            poll_after: Self::DEFAULT_POLL,
            recovery: Recovery::Manual,
            wait: Duration::ZERO,
            check: None,
            guards: Vec::new(),
            approval: None,
            repeatable: false,
            key_rules: KeyRules::default(),
        }
    }

    /// Which params are bound, and how they are read.
    pub fn with_params(mut self, policy: ParamsPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// How long an attempt may take.
    pub const fn with_lease_time(mut self, time: LeaseTime) -> Self {
        self.time = time;
        self
    }

    /// How long a fingerprint lives. A preview may end it sooner, with the quote that it belongs to.
    pub const fn with_fingerprint_life(mut self, life: Duration) -> Self {
        self.life = life;
        self
    }

    /// How long records are kept, from the later of the operation's end and `exp`.
    ///
    /// A record keeps the retention that it was written with, and a missing one reads as "no" for as long as the gate's
    /// says. So every process that serves the scope needs the same one; one that raises it must not be asked about
    /// operations that were confirmed before, longer after their `exp` than the old one.
    pub const fn with_retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// After how long a caller of an operation in flight is told to ask again.
    pub const fn with_poll_after(mut self, hint: Duration) -> Self {
        self.poll_after = hint;
        self
    }

    /// What happens to an operation whose outcome is unknown.
    pub const fn with_recovery(mut self, recovery: Recovery) -> Self {
        self.recovery = recovery;
        self
    }

    /// How long a duplicate that finds its operation IN_FLIGHT waits for the end of that run, and is then answered as a
    /// call that comes after it: with the result. After that time it is told `in_progress`, as it is at once by default.
    ///
    /// Keep it under the timeouts of callers. A receipt is not waited for: an accepted operation is `in_progress` to its
    /// first caller too, and may be so for days.
    pub const fn with_wait(mut self, limit: Duration) -> Self {
        self.wait = limit;
        self
    }

    /// What the service refuses of params that are valid by their type: asked at preview, before anything is signed, and
    /// at confirm, before anything is claimed. An operation that has run is answered from its record all the same.
    pub fn with_check(
        mut self,
        check: impl Fn(&P) -> Result<(), Answer> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// A fact of the business that is claimed with the operation.
    pub fn with_guard(mut self, guard: Guard<P>) -> Self {
        self.guards.push(guard);
        self
    }

    /// A person has to agree. Refused by every store of this version.
    pub const fn with_approval(mut self, time: ApprovalTime) -> Self {
        self.approval = Some(time);
        self
    }

    /// Which idempotency keys it takes, where its callers send keys.
    pub const fn with_key_rules(mut self, rules: KeyRules) -> Self {
        self.key_rules = rules;
        self
    }

    /// A second effect of this action does no harm: lets it run on a store that may lose a write.
    pub const fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// The gate.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names both values.
    pub fn build(self) -> Result<Gate<P>, ConfigError> {
        self.check_times()?;
        self.check_keys()?;
        self.check_store()?;
        let policy = self
            .policy
            .compile()
            .map_err(|source| ConfigError::Policy {
                scope: self.scope.clone(),
                source,
            })?;
        let budget = self.time.budget();
        let takeover_within = match self.recovery {
            Recovery::Manual => None,
            Recovery::Takeover { window } => Some(window - budget),
        };
        let facts = Facts {
            retention: Some(self.retention),
            poll_after: Some(self.poll_after),
            max_run: self.time.max_run(),
        };
        self.shared.register(&self.scope, facts)?;
        Ok(Gate::new(Config {
            shared: self.shared,
            scope: self.scope,
            reader: self.reader,
            policy,
            time: self.time,
            life: self.life,
            retention: self.retention,
            takeover_within,
            wait: self.wait,
            check: self.check,
            guards: self.guards,
            key_rules: self.key_rules,
        }))
    }

    fn check_times(&self) -> Result<(), ConfigError> {
        self.time.check()?;
        let (life, budget) = (self.life, self.time.budget());
        if life < Self::SHORTEST_LIFE {
            return Err(ConfigError::LifeTooShort {
                life,
                shortest: Self::SHORTEST_LIFE,
            });
        }
        if self.retention < life {
            return Err(ConfigError::RetentionTooShort {
                retention: self.retention,
                life,
            });
        }
        if self.poll_after < Self::SHORTEST_POLL {
            return Err(ConfigError::PollHintTooShort {
                poll_after: self.poll_after,
                shortest: Self::SHORTEST_POLL,
            });
        }
        match self.recovery {
            Recovery::Takeover { window } if window <= budget => {
                return Err(ConfigError::TakeoverWithoutWindow { window, budget });
            }
            _ => {}
        }
        match self.approval {
            Some(ApprovalTime(approval)) if approval > life => {
                Err(ConfigError::ApprovalOutlivesFingerprint { approval, life })
            }
            _ => Ok(()),
        }
    }

    fn check_keys(&self) -> Result<(), ConfigError> {
        let (asked, most) = (self.key_rules.min_len, IdempotencyKey::MAX_LEN);
        if !(1..=most).contains(&asked) {
            return Err(ConfigError::ShortestKey { asked, most });
        }
        match self.key_rules.max_age {
            Some(max_age) if max_age > self.retention => Err(ConfigError::KeyOutlivesRecord {
                max_age,
                retention: self.retention,
            }),
            _ => Ok(()),
        }
    }

    fn check_store(&self) -> Result<(), ConfigError> {
        let can = self.shared.store.capabilities();
        let store = || format!("{:?}", self.shared.store);
        let beyond = self.guards.iter().find_map(|guard| guard.beyond(&can));
        // An approval that a gate can't ask for yet must not be dropped in silence, whatever the store can hold.
        let approval = self.approval.map(|_| "an approval");
        if let Some(asked) = beyond.or(approval) {
            return Err(ConfigError::StoreCannot {
                scope: self.scope.clone(),
                asked,
                store: store(),
            });
        }
        if can.may_lose_writes && !self.repeatable {
            return Err(ConfigError::NotRepeatable {
                scope: self.scope.clone(),
                store: store(),
            });
        }
        Ok(())
    }
}

impl<P> fmt::Debug for GateBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GateBuilder")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
