//! What a grant binds.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::Audience;
use crate::{Epoch, OperationId, Step, Timestamp, params::hash_part};

/// What the digest of method and target is made of, by name and version.
const REQUEST_DOMAIN: &[u8] = b"counterfoil/grant-request/v1";

/// The last instant that `exp` can name, in Unix seconds: the end of the year 9999.
pub(super) const MAX_EXP_SECS: u64 = 253_402_300_799;

/// The write that a grant is asked for: where it goes, and what it says.
#[derive(Clone, Debug)]
pub struct GrantRequest {
    audience: Audience,
    line: [u8; 32],
    body: [u8; 32],
    life: Duration,
}

impl GrantRequest {
    /// A write to a service, without a body. `method` is as sent, such as `POST`; `target` is path and query as they are
    /// sent, such as `/entries?dry_run=0`, without scheme and host. Nothing is decoded or normalized: whatever stands
    /// between and rewrites a path makes another request of it.
    #[must_use]
    pub fn new(audience: &Audience, method: &str, target: &str) -> Self {
        Self {
            audience: audience.clone(),
            line: line_digest(method, target),
            body: body_digest(b""),
            life: GrantTerms::DEFAULT_LIFE,
        }
    }

    /// With a body: its bytes as they are sent.
    #[must_use]
    pub fn with_body(mut self, body: &[u8]) -> Self {
        self.body = body_digest(body);
        self
    }

    /// Another life: 1 second to 5 minutes, [`GrantTerms::DEFAULT_LIFE`] otherwise. A request can land for that long after
    /// its attempt lost the lease, so whoever asks downstream what became of it waits that out first.
    #[must_use]
    pub const fn with_life(mut self, life: Duration) -> Self {
        self.life = life;
        self
    }
}

/// What a grant binds: one write of one operation, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantTerms {
    pub(super) operation_id: OperationId,
    pub(super) epoch: Epoch,
    pub(super) exp: Timestamp,
    pub(super) audience: Audience,
    pub(super) line: [u8; 32],
    pub(super) body: [u8; 32],
    pub(super) step: Option<Step>,
}

impl GrantTerms {
    /// How long a grant is good, unless told otherwise.
    pub const DEFAULT_LIFE: Duration = Duration::from_secs(30);
    /// The shortest life.
    pub const MIN_LIFE: Duration = Duration::from_secs(1);
    /// The longest life. A service keeps what it has seen of an operation's epochs for twice as long.
    pub const MAX_LIFE: Duration = Duration::from_secs(5 * 60);

    /// Terms for a write of this operation. `exp` is `now` plus the life of the request, rounded down to whole seconds.
    ///
    /// A handler takes [`DownstreamKey::grant`](crate::engine::DownstreamKey::grant) instead, which asks for the lease.
    ///
    /// # Errors
    ///
    /// [`GrantLifeError`] if the life is out of bounds.
    pub fn new(
        operation_id: OperationId,
        epoch: Epoch,
        step: Option<Step>,
        request: &GrantRequest,
        now: Timestamp,
    ) -> Result<Self, GrantLifeError> {
        let life = request.life;
        if !(Self::MIN_LIFE..=Self::MAX_LIFE).contains(&life) {
            return Err(GrantLifeError { life });
        }
        let exp = (now + life).unix_secs().min(MAX_EXP_SECS);
        Ok(Self {
            operation_id,
            epoch,
            exp: Timestamp::from_unix_secs(exp),
            audience: request.audience.clone(),
            line: request.line,
            body: request.body,
            step,
        })
    }

    /// The operation.
    #[must_use]
    pub const fn operation_id(&self) -> OperationId {
        self.operation_id
    }

    /// The fencing number of the run that makes the write.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Which of the operation's writes it is, if it has several.
    #[must_use]
    pub const fn step(&self) -> Option<&Step> {
        self.step.as_ref()
    }

    /// The key of this write: the operation id, or that of the step. A service is unique by it.
    #[must_use]
    pub fn downstream_key(&self) -> OperationId {
        match &self.step {
            Some(step) => self.operation_id.step(step),
            None => self.operation_id,
        }
    }

    /// It is good while now < `exp`, by the clock of the service that it is for. Whole seconds.
    #[must_use]
    pub const fn exp(&self) -> Timestamp {
        self.exp
    }

    /// The service that it is for.
    #[must_use]
    pub const fn audience(&self) -> &Audience {
        &self.audience
    }
}

pub(super) fn line_digest(method: &str, target: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in [REQUEST_DOMAIN, method.as_bytes(), target.as_bytes()] {
        hash_part(&mut hasher, part);
    }
    hasher.finalize().into()
}

pub(super) fn body_digest(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}

/// A grant of this life is not minted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a grant lives 1s to 300s, and {life:?} were asked for")]
pub struct GrantLifeError {
    /// The life that was asked for.
    pub life: Duration,
}
