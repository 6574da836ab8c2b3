//! How long an attempt may take.

use std::time::Duration;

use super::ConfigError;

/// How long an attempt may take, derived from what downstream may take.
///
/// The *budget* is what a call to downstream can take at worst. `max_run` must be longer, so that no operation reads as
/// unknown while downstream is merely slow. The *lease* is how long the record waits for a sign of life; it is renewed
/// each third of it, up to `max_run`.
///
/// ```
/// use std::time::Duration;
/// use counterfoil_core::engine::LeaseTime;
///
/// let time = LeaseTime::for_downstream(
///     Duration::from_secs(20), // the provider's worst case
///     Duration::from_secs(8),  // our own timeouts around it
///     Duration::from_secs(4),  // all back-off between retries
/// );
/// assert_eq!(time.max_run(), Duration::from_secs(40));
/// assert_eq!(time.lease(), Duration::from_secs(30));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTime {
    budget: Duration,
    lease: Duration,
    max_run: Duration,
    renewed: bool,
}

impl LeaseTime {
    /// The shortest lease: under it, a scheduler's hiccup would lapse a healthy run.
    pub const SHORTEST_LEASE: Duration = Duration::from_millis(20);

    const DEFAULT_LEASE: Duration = Duration::from_secs(30);

    /// From downstream's worst case, the service's own timeout around it, and all back-off between retries. `max_run`
    /// is the sum and a quarter.
    #[must_use]
    pub fn for_downstream(worst: Duration, own_timeout: Duration, backoff_total: Duration) -> Self {
        let budget = worst
            .saturating_add(own_timeout)
            .saturating_add(backoff_total);
        Self {
            budget,
            lease: Self::DEFAULT_LEASE,
            max_run: budget.saturating_add(budget / 4),
            renewed: true,
        }
    }

    /// Another lease. One longer than `max_run` counts as `max_run`.
    #[must_use]
    pub const fn with_lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Another longest run.
    #[must_use]
    pub const fn with_max_run(mut self, max_run: Duration) -> Self {
        self.max_run = max_run;
        self
    }

    /// The lease is not renewed while the handler runs; it must be longer than the budget then.
    #[must_use]
    pub const fn without_renewal(mut self) -> Self {
        self.renewed = false;
        self
    }

    /// What downstream may take at worst.
    #[must_use]
    pub const fn budget(&self) -> Duration {
        self.budget
    }

    /// How long the record waits for a sign of life.
    #[must_use]
    pub fn lease(&self) -> Duration {
        self.lease.min(self.max_run)
    }

    /// How long a run is kept alive.
    #[must_use]
    pub const fn max_run(&self) -> Duration {
        self.max_run
    }

    /// Whether the lease is renewed.
    #[must_use]
    pub const fn is_renewed(&self) -> bool {
        self.renewed
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let (budget, max_run, lease) = (self.budget, self.max_run, self.lease());
        if max_run <= budget {
            return Err(ConfigError::MaxRunWithinBudget { max_run, budget });
        }
        if !self.renewed && lease <= budget {
            return Err(ConfigError::LeaseWithinBudget { lease, budget });
        }
        if lease < Self::SHORTEST_LEASE {
            return Err(ConfigError::LeaseTooShort {
                lease,
                shortest: Self::SHORTEST_LEASE,
            });
        }
        Ok(())
    }
}

/// 30 s worst case, 10 s of own timeouts, 8 s of back-off: `max_run` is one minute.
impl Default for LeaseTime {
    fn default() -> Self {
        Self::for_downstream(
            Duration::from_secs(30),
            Duration::from_secs(10),
            Duration::from_secs(8),
        )
    }
}
