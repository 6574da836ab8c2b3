//! What the builders refuse.

use std::time::Duration;

use crate::{Scope, params::PolicyError};

/// A configuration that would break a promise. The message names both values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A run could be ended while downstream still works on it.
    #[error(
        "max_run {max_run:?} is not longer than the downstream budget {budget:?} (worst case, own timeout and back-off)"
    )]
    MaxRunWithinBudget {
        /// The longest run.
        max_run: Duration,
        /// Worst case, own timeout and total back-off of downstream.
        budget: Duration,
    },
    /// A lease that nobody renews could lapse while downstream still works on it.
    #[error(
        "the unrenewed lease {lease:?} is not longer than the downstream budget {budget:?} (worst case, own timeout and back-off)"
    )]
    LeaseWithinBudget {
        /// The lease.
        lease: Duration,
        /// Worst case, own timeout and total back-off of downstream.
        budget: Duration,
    },
    /// A lease too short to be renewed in time.
    #[error("the lease {lease:?} is shorter than the shortest one, {shortest:?}")]
    LeaseTooShort {
        /// The lease.
        lease: Duration,
        /// The shortest one.
        shortest: Duration,
    },
    /// A fingerprint that nobody could use in time: `exp` is rounded down to a second.
    #[error("the fingerprint's life {life:?} is shorter than the shortest one, {shortest:?}")]
    LifeTooShort {
        /// The fingerprint's life.
        life: Duration,
        /// The shortest one.
        shortest: Duration,
    },
    /// A record could be dropped while its fingerprint can still be used.
    #[error("retention {retention:?} is shorter than the fingerprint's life {life:?}")]
    RetentionTooShort {
        /// How long records are kept.
        retention: Duration,
        /// The fingerprint's life.
        life: Duration,
    },
    /// A record could be dropped while its idempotency key can still be used.
    #[error(
        "the age {max_age:?} up to which keys are taken is longer than retention {retention:?}"
    )]
    KeyOutlivesRecord {
        /// Until when a key may be used, from the time in it.
        max_age: Duration,
        /// How long records are kept.
        retention: Duration,
    },
    /// No key could be long enough, or any would be.
    #[error("the shortest key of {asked} characters must be from 1 to {most}")]
    ShortestKey {
        /// The shortest key.
        asked: usize,
        /// The longest one.
        most: usize,
    },
    /// A fingerprint that would die before its approval.
    #[error("the approval's time {approval:?} is longer than the fingerprint's life {life:?}")]
    ApprovalOutlivesFingerprint {
        /// How long an approval is waited for and good.
        approval: Duration,
        /// The fingerprint's life.
        life: Duration,
    },
    /// A takeover must end well before downstream forgets the key.
    #[error(
        "takeover needs the window in which downstream deduplicates: {window:?} is not longer than the downstream budget {budget:?}"
    )]
    TakeoverWithoutWindow {
        /// The window.
        window: Duration,
        /// Worst case, own timeout and total back-off of downstream.
        budget: Duration,
    },
    /// A caller told to ask again after no time would never stop asking.
    #[error("the poll hint {poll_after:?} is shorter than the shortest one, {shortest:?}")]
    PollHintTooShort {
        /// The hint.
        poll_after: Duration,
        /// The shortest one.
        shortest: Duration,
    },
    /// Two gates for one action would hash and promise two different things.
    #[error("the scope {0} has a gate already")]
    ScopeTaken(Scope),
    /// The store can't do what the gate asks for.
    #[error("the gate {scope} asks for {asked}, and the store {store} does not hold that")]
    StoreCannot {
        /// The gate.
        scope: Scope,
        /// What it asks for.
        asked: &'static str,
        /// The store, as it shows itself.
        store: String,
    },
    /// The store may lose an acknowledged write, and then a second effect is possible.
    #[error(
        "the store {store} may lose a write that it acknowledged, and the gate {scope} is not marked as repeatable"
    )]
    NotRepeatable {
        /// The gate.
        scope: Scope,
        /// The store, as it shows itself.
        store: String,
    },
    /// Nothing could run, or the cap is beyond what can be counted.
    #[error("the cap of running operations is {asked}, and must be from 1 to {most}")]
    MaxRunning {
        /// The cap.
        asked: usize,
        /// The largest one.
        most: usize,
    },
    /// A caller would be told "unknown" before any store could have said what it did.
    #[error(
        "the time {answer_within:?} in which a caller is answered is shorter than the shortest one, {shortest:?}"
    )]
    AnswerWithinTooShort {
        /// How long a caller waits.
        answer_within: Duration,
        /// The shortest time.
        shortest: Duration,
    },
    /// The params policy contradicts itself.
    #[error("the params policy of {scope} is refused")]
    Policy {
        /// The gate.
        scope: Scope,
        /// Why.
        source: PolicyError,
    },
}
