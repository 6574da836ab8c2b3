//! Guards of a gate: how a claim's guards are read from its params.

use std::{fmt, sync::Arc, time::Duration};

use crate::store::{Capabilities, GuardClaim};

type Read<P, T> = Arc<dyn Fn(&P) -> T + Send + Sync>;

/// A fact of the business that a gate claims with the operation, read from the validated params.
///
/// Which guards a store holds is in its [`Capabilities`]; a gate that asks for more is not built.
pub struct Guard<P>(Kind<P>);

enum Kind<P> {
    Unique(&'static str, Option<Duration>, Read<P, Option<String>>),
    Exclusive(Read<P, String>, Option<Read<P, Option<u64>>>),
    Repeat(Duration),
}

impl<P> Guard<P> {
    /// One operation per business key, such as an order's number; `None` for params without one.
    pub fn unique(
        name: &'static str,
        key: impl Fn(&P) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self(Kind::Unique(name, None, Arc::new(key)))
    }

    /// The same, and a done operation keeps the key for this long.
    pub fn unique_for(
        name: &'static str,
        keep: Duration,
        key: impl Fn(&P) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self(Kind::Unique(name, Some(keep), Arc::new(key)))
    }

    /// One operation at a time per resource.
    pub fn exclusive(resource: impl Fn(&P) -> String + Send + Sync + 'static) -> Self {
        Self(Kind::Exclusive(Arc::new(resource), None))
    }

    /// The same, and the resource must have the version that the params name, if they name one.
    pub fn exclusive_at_version(
        resource: impl Fn(&P) -> String + Send + Sync + 'static,
        version: impl Fn(&P) -> Option<u64> + Send + Sync + 'static,
    ) -> Self {
        Self(Kind::Exclusive(Arc::new(resource), Some(Arc::new(version))))
    }

    /// An equal operation of the same subject within the window is a question first.
    #[must_use]
    pub const fn repeat(window: Duration) -> Self {
        Self(Kind::Repeat(window))
    }

    pub(super) fn read(&self, params: &P) -> Option<GuardClaim> {
        Some(match &self.0 {
            Kind::Unique(name, keep, key) => GuardClaim::Unique {
                name: (*name).to_owned(),
                key: key(params)?,
                keep: *keep,
            },
            Kind::Exclusive(resource, version) => GuardClaim::Exclusive {
                resource: resource(params),
                expected_version: version.as_ref().and_then(|version| version(params)),
            },
            Kind::Repeat(window) => GuardClaim::Repeat {
                window: *window,
                repeat_of: None,
            },
        })
    }

    /// What a store must be able to hold, if it says that it can't.
    pub(super) const fn beyond(&self, can: &Capabilities) -> Option<&'static str> {
        match self.0 {
            Kind::Unique(..) if !can.unique => Some("a unique guard"),
            Kind::Exclusive(..) if !can.exclusive => Some("an exclusive guard"),
            Kind::Repeat(..) if !can.repeat => Some("a repeat guard"),
            _ => None,
        }
    }
}

impl<P> fmt::Debug for Guard<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Unique(name, ..) => write!(f, "Guard::unique({name})"),
            Kind::Exclusive(..) => f.write_str("Guard::exclusive"),
            Kind::Repeat(window) => write!(f, "Guard::repeat({window:?})"),
        }
    }
}
