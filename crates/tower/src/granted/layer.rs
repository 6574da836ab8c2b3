//! The layer: what a service sets, and its defaults.

use std::{fmt, sync::Arc, time::Duration};

use counterfoil_core::{
    Clock, SystemClock,
    answer::Wording,
    grant::{Audience, EpochMemory, GrantKeys},
};
use http::{Uri, request::Parts};
use tower_layer::Layer;

use super::GrantChecked;
use crate::{PROBLEM_TYPES, request::Reading};

/// For a service downstream: refuses every write that did not come through a gate, in an attempt that still stands.
///
/// A write brings a grant in the header `Counterfoil-Grant`. The checks come in this order: the grant's shape, its key and
/// tag, its time, this service's name, method and target, then the body within its limits and its digest, then the epoch,
/// which is not below the highest that the memory has seen of the operation. A stranger's body is not read. What passes has
/// a [`Granted`](super::Granted) in its extensions, and its body byte for byte; its trailers are dropped.
///
/// Safe methods (GET, HEAD, OPTIONS, TRACE, QUERY) pass untouched, without a grant and without a `Granted`.
///
/// A refusal is `application/problem+json`, and says that this request ran nothing. A grant that nobody signed, one for
/// another request, and one of an epoch that is over are security events.
///
/// # What is left to the handler
///
/// - **To be unique by [`Granted::downstream_key`](super::Granted::downstream_key)**, under a unique constraint: a grant is
///   not spent by its use.
/// - **To compare the epoch in the transaction of its write.** The memory here is asked before the handler runs, and between
///   the two a higher epoch may come.
///
/// # Where it goes
///
/// Around the routes that write, as `Router::route_layer` does. The target is bound as it was sent, which takes the feature
/// `axum` inside of nested routers; where something in front cuts it, [`with_target`](Self::with_target) says what was sent.
/// A limit of bodies further in must allow as much as [`with_max_body`](Self::with_max_body).
///
/// ```
/// use axum::{Extension, Router, routing::post};
/// use counterfoil_core::{
///     KeyId,
///     grant::{Audience, GrantKey, GrantKeys, RecentEpochs},
/// };
/// use counterfoil_tower::{GrantLayer, Granted};
///
/// async fn enter(Extension(granted): Extension<Granted>, body: String) -> String {
///     // In one transaction: unique by the key, fenced by the epoch.
///     format!("{} in epoch {}: {body}", granted.downstream_key(), granted.epoch().as_u64())
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let keys = GrantKeys::new(GrantKey::new(KeyId::parse("g1")?, &[7; 32])?);
/// let layer = GrantLayer::new(keys, Audience::new("ledger"), RecentEpochs::new());
/// let ledger: Router = Router::new().route("/entries", post(enter).route_layer(layer));
/// # let _ = ledger;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct GrantLayer {
    settings: Settings,
}

/// What is set.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) keys: GrantKeys,
    pub(super) audience: Audience,
    pub(super) epochs: Arc<dyn EpochMemory>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) reading: Reading,
    pub(super) wording: Wording,
    pub(super) problem_types: Arc<str>,
}

impl GrantLayer {
    /// For the service of this name, which trusts these keys.
    pub fn new(keys: GrantKeys, audience: Audience, epochs: impl EpochMemory) -> Self {
        let mut reading = Reading::default();
        reading.any_media = true;
        Self {
            settings: Settings {
                keys,
                audience,
                epochs: Arc::new(epochs),
                clock: Arc::new(SystemClock),
                reading,
                wording: Wording::english(),
                problem_types: PROBLEM_TYPES.into(),
            },
        }
    }

    /// The largest request body, in bytes; past it `body_too_large`. Default:
    /// [`DEFAULT_MAX_BODY`](crate::DEFAULT_MAX_BODY).
    #[must_use]
    pub const fn with_max_body(mut self, bytes: usize) -> Self {
        self.settings.reading.max_body = bytes;
        self
    }

    /// How long the whole request body may take; past it `body_timeout`. Default:
    /// [`DEFAULT_BODY_TIMEOUT`](crate::DEFAULT_BODY_TIMEOUT).
    #[must_use]
    pub const fn with_body_timeout(mut self, time: Duration) -> Self {
        self.settings.reading.body_timeout = time;
        self
    }

    /// Another clock, which judges whether a grant is over. Default: the machine's.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.settings.clock = Arc::new(clock);
        self
    }

    /// What the target was as it was sent, where something in front of this layer cut it. Only its path and query count.
    #[must_use]
    pub fn with_target(mut self, find: impl Fn(&Parts) -> Uri + Send + Sync + 'static) -> Self {
        self.settings.reading.set_target(find);
        self
    }

    /// Where the page about problem types stands. Default: [`PROBLEM_TYPES`].
    #[must_use]
    pub fn with_problem_types(mut self, page: impl Into<String>) -> Self {
        self.settings.problem_types = page.into().into();
        self
    }
}

impl fmt::Debug for GrantLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrantLayer")
            .field("keys", &self.settings.keys)
            .field("audience", &self.settings.audience)
            .field("epochs", &self.settings.epochs)
            .field("reading", &self.settings.reading)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for GrantLayer {
    type Service = GrantChecked<S>;

    fn layer(&self, inner: S) -> GrantChecked<S> {
        GrantChecked::new(inner, self.settings.clone())
    }
}
