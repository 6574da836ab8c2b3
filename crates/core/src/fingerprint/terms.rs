//! What a fingerprint binds.

use std::time::Duration;

use super::{FingerprintError, InvalidCause, ParamsChanged};
use crate::{OperationId, ParamHash, Scope, Subject, Timestamp};

/// The last instant that `exp` can name, in Unix seconds: the end of the year 9999.
pub(super) const MAX_EXP_SECS: u64 = 253_402_300_799;

const SHORTEST_LIFE: Duration = Duration::from_secs(1);

/// What a fingerprint binds: one operation, its subject, scope and params, and the time by which it must be claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    // Only `new` and the payload's reader make one, so what holds of the parts holds behind them too.
    pub(super) id: OperationId,
    pub(super) exp: Timestamp,
    pub(super) subject: Subject,
    pub(super) scope: Scope,
    pub(super) hash: ParamHash,
    pub(super) repeat_of: Option<OperationId>,
    pub(super) needs_approval: bool,
}

impl Terms {
    /// The last instant that `exp` can name: the end of the year 9999.
    pub const LATEST_EXP: Timestamp = Timestamp::from_unix_secs(MAX_EXP_SECS);

    /// Terms for an operation that can be claimed until `exp`, which is rounded down to whole seconds.
    ///
    /// The life asked for, from `now` to `exp` before the rounding, is at least one second. The rounding takes up to a
    /// second off it, so ask for more than a few.
    ///
    /// # Errors
    ///
    /// [`TermsError`] if the life is under a second, `exp` lies after the year 9999, or the id is no UUIDv7.
    pub fn new(
        id: OperationId,
        subject: Subject,
        scope: Scope,
        hash: ParamHash,
        now: Timestamp,
        exp: Timestamp,
    ) -> Result<Self, TermsError> {
        let life = exp.since(now);
        if life < SHORTEST_LIFE {
            return Err(TermsError::LifeTooShort {
                life_ms: life.as_millis(),
            });
        }
        if exp.unix_secs() > MAX_EXP_SECS {
            return Err(TermsError::ExpiresTooLate);
        }
        if !is_uuid_v7(&id) {
            return Err(TermsError::IdNotTimeOrdered);
        }
        Ok(Self {
            id,
            exp: Timestamp::from_unix_secs(exp.unix_secs()),
            subject,
            scope,
            hash,
            repeat_of: None,
            needs_approval: false,
        })
    }

    /// Names the caller's own earlier operation that this one repeats on purpose.
    #[must_use]
    pub fn with_repeat_of(mut self, twin: OperationId) -> Self {
        self.repeat_of = Some(twin);
        self
    }

    /// Says that a person must approve: a claim then never inserts a record, so a lost record is no way round.
    #[must_use]
    pub fn with_approval(mut self) -> Self {
        self.needs_approval = true;
        self
    }

    /// The operation.
    #[must_use]
    pub const fn id(&self) -> OperationId {
        self.id
    }

    /// A claim needs now < `exp`, by the store's clock. Whole seconds.
    #[must_use]
    pub const fn exp(&self) -> Timestamp {
        self.exp
    }

    /// Whom it was issued to.
    #[must_use]
    pub const fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The action.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The hash of the bound params.
    #[must_use]
    pub const fn hash(&self) -> &ParamHash {
        &self.hash
    }

    /// The operation that this one repeats on purpose.
    #[must_use]
    pub const fn repeat_of(&self) -> Option<OperationId> {
        self.repeat_of
    }

    /// Whether a person must approve.
    #[must_use]
    pub const fn needs_approval(&self) -> bool {
        self.needs_approval
    }

    /// Check 4: subject and scope equal those of the request.
    ///
    /// # Errors
    ///
    /// [`FingerprintError::Invalid`] with [`InvalidCause::Foreign`]: the same answer as to a forgery, so that a stolen
    /// fingerprint and a made-up one look alike.
    pub fn check_caller(&self, subject: &Subject, scope: &Scope) -> Result<(), FingerprintError> {
        if self.subject == *subject && self.scope == *scope {
            Ok(())
        } else {
            Err(FingerprintError::Invalid(InvalidCause::Foreign))
        }
    }

    /// Check 5: the param hash equals that of the request. Call it after [`check_caller`](Self::check_caller).
    ///
    /// # Errors
    ///
    /// [`ParamsChanged`] if it differs.
    pub fn check_params(&self, hash: &ParamHash) -> Result<(), ParamsChanged> {
        if self.hash == *hash {
            Ok(())
        } else {
            Err(ParamsChanged)
        }
    }
}

/// RFC 9562, sections 4.1 and 5.7. An id of another version could be one that a client's own key names.
pub(super) fn is_uuid_v7(id: &OperationId) -> bool {
    let bytes = id.as_bytes();
    bytes[6] >> 4 == 7 && bytes[8] >> 6 == 0b10
}

/// These terms can't be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// From now to `exp` is less than a second.
    #[error("a fingerprint lives at least 1000 ms, this one would live {life_ms} ms")]
    LifeTooShort {
        /// The life asked for, in milliseconds; 0 if `exp` has passed.
        life_ms: u128,
    },
    /// `exp` lies after the year 9999.
    #[error("a fingerprint expires in the year 9999 at the latest")]
    ExpiresTooLate,
    /// The operation id is no UUIDv7.
    #[error("the operation of a fingerprint is named by a UUIDv7")]
    IdNotTimeOrdered,
}
