//! The layer: what a service sets, and its defaults.

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use counterfoil_core::{Subject, answer::Wording, engine::Gate};
use http::{HeaderName, request::Parts};
use tower_layer::Layer;

use super::{
    Accepted, Confirm, Doubt, Failures, capture::Limits, deliver::Meanings, guarded::Guarded,
};
use crate::{
    http_answer::{Rendering, Replay},
    request::Reading,
};

/// The largest response body that is kept for a replay, unless told otherwise: 1 MiB.
pub const DEFAULT_MAX_RESULT: usize = 1 << 20;

/// How long a response's body is waited for, from its head, unless told otherwise.
pub const DEFAULT_CAPTURE_TIME: Duration = Duration::from_secs(10);

/// Wraps one handler, so that a confirmed operation runs once and every retry gets the first response.
///
/// The request brings a fingerprint, in the header `Counterfoil-Fingerprint` or in the body member `fingerprint`, and
/// the params that were previewed: JSON in the body, path values, query members. The checks come in this order: the
/// subject, the body within its limits, a strict reading of its JSON, the credential, the params, the claim. From the
/// claim on a task of its own has the operation, and a caller that hangs up changes nothing.
///
/// # Where it goes
///
/// Only around the one handler, as `post(handler).route_layer(ConfirmLayer::new(gate))`. `post(handler).layer(…)` would
/// wrap axum's answer to a wrong method too, and `Router::layer` previews and unknown paths: requests that never reach
/// the handler would claim operations. Authentication goes outside of it, and so do limits of concurrency and rate:
/// inside, a duplicate would queue behind the handler that it should be told about. Compression and CORS go outside
/// too.
///
/// # What the handler sees
///
/// The request as it came: the body's bytes, under the media type that they were read as, and the extensions. An
/// [`Attempt`](counterfoil_core::engine::Attempt) is added to the extensions. `Accept-Encoding` is taken out, since the
/// stored response must be readable by every later caller; so are the trailers of the request. The tracing span goes
/// along; task-locals don't. A layer of the framework that limits bodies, such as axum's for its extractors, must allow
/// as much as [`with_max_body`](Self::with_max_body), else it answers after the claim.
///
/// # What its response means
///
/// 200, 201, 203 to 206 and 303: done. 202: accepted, the receipt is outstanding. For everything else the handler's
/// word counts, given by [`Attempt::declare`](counterfoil_core::engine::Attempt::declare), and it wins over every
/// status. Without a word the outcome is unknown; also after an error of the service, a panic, a body that breaks off
/// within the limit, and a switch of protocols, whatever the word was.
///
/// Trailers of a response reach the first caller and are not kept yet.
#[derive(Clone)]
pub struct ConfirmLayer {
    pub(super) gate: Arc<dyn Guarded>,
    pub(super) reading: Reading,
    pub(super) limits: Limits,
    pub(super) meanings: Meanings,
    replay: Replay,
    wording: Wording,
}

impl ConfirmLayer {
    /// A layer for the gate's action, with the defaults.
    pub fn new<P: Send + Sync + 'static>(gate: Gate<P>) -> Self {
        Self {
            wording: gate.wording().clone(),
            gate: Arc::new(gate),
            reading: Reading::default(),
            limits: Limits {
                bytes: DEFAULT_MAX_RESULT,
                time: DEFAULT_CAPTURE_TIME,
            },
            meanings: Meanings::default(),
            replay: Replay::default(),
        }
    }

    /// How the subject is found; `None` is answered `unauthenticated`. Default: the [`Subject`] that authentication put
    /// into the request's extensions.
    #[must_use]
    pub fn with_subject(
        mut self,
        find: impl Fn(&Parts) -> Option<Subject> + Send + Sync + 'static,
    ) -> Self {
        self.reading.set_subject(find);
        self
    }

    /// The largest request body, in bytes; past it `body_too_large`. The params of the gate have a limit of their own
    /// ([`ParamsPolicy::with_max_bytes`](counterfoil_core::params::ParamsPolicy::with_max_bytes)), past which they are
    /// `params_invalid`. Default: [`DEFAULT_MAX_BODY`](crate::DEFAULT_MAX_BODY).
    #[must_use]
    pub const fn with_max_body(mut self, bytes: usize) -> Self {
        self.reading.max_body = bytes;
        self
    }

    /// How long the whole request body may take; past it `body_timeout`, and nothing is claimed. Default:
    /// [`DEFAULT_BODY_TIMEOUT`](crate::DEFAULT_BODY_TIMEOUT).
    #[must_use]
    pub const fn with_body_timeout(mut self, time: Duration) -> Self {
        self.reading.body_timeout = time;
        self
    }

    /// The largest response body that is kept, in bytes. A larger one reaches its first caller whole, and a retry is
    /// told that it was done, without it. Default: [`DEFAULT_MAX_RESULT`].
    #[must_use]
    pub const fn with_max_result(mut self, bytes: usize) -> Self {
        self.limits.bytes = bytes;
        self
    }

    /// How long a response's body is waited for, from its head. A slower one is handed on as one past
    /// [`with_max_result`](Self::with_max_result) is, so that a stream of events doesn't stay invisible to its caller.
    /// Zero keeps no body at all. Default: [`DEFAULT_CAPTURE_TIME`].
    #[must_use]
    pub const fn with_capture_time(mut self, time: Duration) -> Self {
        self.limits.time = time;
        self
    }

    /// What a retry of an ended operation gets. Default: [`Replay::Envelope`].
    #[must_use]
    pub const fn with_replay(mut self, replay: Replay) -> Self {
        self.replay = replay;
        self
    }

    /// What a status that is no success means without the handler's word. Default: [`Failures::ByWord`].
    #[must_use]
    pub const fn with_failures(mut self, failures: Failures) -> Self {
        self.meanings.failures = failures;
        self
    }

    /// What a 202 means. Default: [`Accepted::Outstanding`].
    #[must_use]
    pub const fn with_accepted(mut self, accepted: Accepted) -> Self {
        self.meanings.accepted = accepted;
        self
    }

    /// What the first caller gets where its call left the outcome unknown. Default: [`Doubt::Response`].
    #[must_use]
    pub const fn with_doubt(mut self, doubt: Doubt) -> Self {
        self.meanings.doubt = doubt;
        self
    }

    /// Headers that the handler acts on, bound as the params are: changed between preview and confirm, `params_changed`.
    /// The preview of the same gate needs the same ones. Default: none.
    #[must_use]
    pub fn with_bound_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.reading.set_bound_headers(names);
        self
    }

    /// How the values of path parameters are found, decoded; each is a param. Default: with the feature `axum`, what its
    /// router found; without it, none, and a handler behind another router must not act on values that this function
    /// doesn't give.
    #[must_use]
    pub fn with_path_values(
        mut self,
        read: impl Fn(&Parts) -> Vec<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        self.reading.set_path_values(read);
        self
    }

    /// The words of answers, such as another language's. Default: the gate's.
    #[must_use]
    pub fn with_wording(mut self, wording: Wording) -> Self {
        self.wording = wording;
        self
    }

    /// Where the status of an operation is asked for: the path in front of its id, such as `/v1/operations/`. Answers
    /// that say to ask for it then name the path, a 202 in `Location` too. Default: what the wording has.
    #[must_use]
    pub fn with_status_path(mut self, path: impl Into<Cow<'static, str>>) -> Self {
        self.wording = self.wording.with_poll_path(path);
        self
    }

    pub(super) const fn rendering(&self) -> Rendering<'_> {
        Rendering::new(&self.wording, self.replay)
    }
}

impl fmt::Debug for ConfirmLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfirmLayer")
            .field("scope", &self.gate.scope())
            .field("reading", &self.reading)
            .field("limits", &self.limits)
            .field("meanings", &self.meanings)
            .field("replay", &self.replay)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for ConfirmLayer {
    type Service = Confirm<S>;

    fn layer(&self, inner: S) -> Confirm<S> {
        Confirm::new(inner, self.clone())
    }
}
