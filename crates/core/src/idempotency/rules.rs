//! Which keys a gate takes.

use std::time::Duration;

use super::{IdempotencyKey, InvalidKey};
use crate::{OperationId, Timestamp};

/// Which keys a gate takes: those of 16 characters and more, unless told otherwise.
///
/// The length is no proof of randomness. It keeps out what people make up by hand: names, numbers and dates, which two
/// pieces of work come to share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyRules {
    pub(crate) min_len: usize,
    pub(crate) max_age: Option<Duration>,
}

impl KeyRules {
    /// The shortest key, in characters, unless told otherwise.
    pub const DEFAULT_MIN_LEN: usize = 16;

    /// How far a client's clock may be ahead: a UUIDv7 of a time past that is refused.
    pub const MAX_AHEAD: Duration = Duration::from_secs(300);

    /// Another shortest key, in characters. A gate with one that is not from 1 to
    /// [`IdempotencyKey::MAX_LEN`] is not built.
    #[must_use]
    pub const fn with_min_len(mut self, characters: usize) -> Self {
        self.min_len = characters;
        self
    }

    /// Only UUIDv7 keys (RFC 9562, section 5.7), and only until `max_age` after the time in them. A gate with one that is
    /// longer than its retention is not built.
    ///
    /// That time is to the key what `exp` is to a fingerprint: the store's clock judges it in the statement that claims,
    /// so that a key whose record may have been dropped can't run again. A retry of what has a record is answered
    /// after it too.
    #[must_use]
    pub const fn with_max_age(mut self, max_age: Duration) -> Self {
        self.max_age = Some(max_age);
        self
    }

    /// Whether a key may be used at `now`, and until when it can claim, where that is bounded.
    pub(crate) fn check(
        &self,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, InvalidKey> {
        if key.as_str().len() < self.min_len {
            return Err(InvalidKey::TooShort);
        }
        let Some(max_age) = self.max_age else {
            return Ok(None);
        };
        let id: Option<OperationId> = key.as_str().parse().ok();
        let Some(made) = id.and_then(|id| id.minted_at()) else {
            return Err(InvalidKey::NotUuidV7);
        };
        if made > now + Self::MAX_AHEAD {
            return Err(InvalidKey::AheadOfTime);
        }
        Ok(Some(made + max_age))
    }
}

impl Default for KeyRules {
    fn default() -> Self {
        Self {
            min_len: Self::DEFAULT_MIN_LEN,
            max_age: None,
        }
    }
}
