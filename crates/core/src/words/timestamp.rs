//! An instant in milliseconds, and the clock that tells it.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// An instant: milliseconds since the Unix epoch, UTC.
///
/// Every store keeps time in this unit, so that Lua, SQL and Rust compare the same numbers.
///
/// ```
/// use std::time::Duration;
/// use counterfoil_core::Timestamp;
///
/// let t = Timestamp::from_unix_secs(1_700_000_000);
/// assert_eq!((t + Duration::from_millis(5)).unix_ms(), 1_700_000_000_005);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    #[must_use]
    pub const fn from_unix_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// From whole seconds since the Unix epoch.
    #[must_use]
    pub const fn from_unix_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn unix_ms(self) -> u64 {
        self.0
    }

    /// Whole seconds since the Unix epoch, rounded down.
    #[must_use]
    pub const fn unix_secs(self) -> u64 {
        self.0 / 1000
    }

    /// The time from `earlier` until `self`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// A time before 1970 reads as 1970: no store of ours was older.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Saturating: a far deadline stays far. Parts of a millisecond are dropped.
impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, by: Duration) -> Self {
        Self(
            self.0
                .saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)),
        )
    }
}

/// Saturating at 1970.
impl std::ops::Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, by: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)),
        )
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}

/// Where the time comes from, so that a test can move it.
///
/// The engine's clock mints ids and sets `exp`. A store's own clock judges `exp` and leases.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}

/// A clock that several parts share, such as a moved clock of a test.
impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}
