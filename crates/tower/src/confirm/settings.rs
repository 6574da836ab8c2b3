//! What both layers set: how requests are read, what responses mean, how answers are written.

use std::{borrow::Cow, sync::Arc, time::Duration};

use counterfoil_core::answer::Wording;

use super::{capture::Limits, deliver::Meanings, guarded::Guarded};
use crate::{
    http_answer::{Form, PROBLEM_TYPES, Rendering, Replay},
    request::Reading,
};

/// The largest response body that is kept for a replay, unless told otherwise: 1 MiB.
pub const DEFAULT_MAX_RESULT: usize = 1 << 20;

/// How long a response's body is waited for, from its head, unless told otherwise.
pub const DEFAULT_CAPTURE_TIME: Duration = Duration::from_secs(10);

/// The settings of a layer.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) gate: Arc<dyn Guarded>,
    pub(crate) reading: Reading,
    pub(crate) limits: Limits,
    pub(crate) meanings: Meanings,
    pub(crate) replay: Replay,
    pub(crate) form: Form,
    pub(crate) problem_types: Cow<'static, str>,
    pub(crate) wording: Wording,
    /// Whether requests of a safe method (RFC 9110, section 9.2.1) go to the handler untouched.
    pub(crate) passes_safe_methods: bool,
}

impl Settings {
    /// For callers that are models.
    pub(crate) fn new(gate: Arc<dyn Guarded>, wording: Wording) -> Self {
        Self {
            gate,
            reading: Reading::default(),
            limits: Limits {
                bytes: DEFAULT_MAX_RESULT,
                time: DEFAULT_CAPTURE_TIME,
            },
            meanings: Meanings::default(),
            replay: Replay::Envelope,
            form: Form::AgentJson,
            problem_types: Cow::Borrowed(PROBLEM_TYPES),
            wording,
            passes_safe_methods: false,
        }
    }

    pub(crate) fn rendering(&self) -> Rendering<'_> {
        Rendering::new(&self.wording, self.replay).in_form(self.form, &self.problem_types)
    }
}

/// The methods of both layers that set the same thing, those of `reading_methods` among them. `$layer` has a field
/// `settings`.
macro_rules! settings_methods {
    ($layer:ident) => {
        $crate::request::reading_methods!($layer);

        impl $layer {
            /// The largest response body that is kept, in bytes, its trailers counted. A larger one reaches its first caller whole, and a retry is
            /// told that it was done, without it. Default: [`DEFAULT_MAX_RESULT`](crate::DEFAULT_MAX_RESULT).
            #[must_use]
            pub const fn with_max_result(mut self, bytes: usize) -> Self {
                self.settings.limits.bytes = bytes;
                self
            }

            /// How long a response's body is waited for, from its head. A slower one is handed on as one past
            /// [`with_max_result`](Self::with_max_result) is, so that a stream of events doesn't stay invisible to its caller.
            /// Zero keeps no body at all. Default: [`DEFAULT_CAPTURE_TIME`](crate::DEFAULT_CAPTURE_TIME).
            #[must_use]
            pub const fn with_capture_time(mut self, time: Duration) -> Self {
                self.settings.limits.time = time;
                self
            }

            /// What a retry of an ended operation gets.
            #[must_use]
            pub const fn with_replay(mut self, replay: Replay) -> Self {
                self.settings.replay = replay;
                self
            }

            /// How an answer is written that is no replay.
            #[must_use]
            pub const fn with_form(mut self, form: Form) -> Self {
                self.settings.form = form;
                self
            }

            /// Where the page stands that says what the types of problem details mean: an absolute URI, or a path of this service. A
            /// type is this, a `#` and the status. Default: [`PROBLEM_TYPES`](crate::PROBLEM_TYPES).
            #[must_use]
            pub fn with_problem_types(mut self, page: impl Into<Cow<'static, str>>) -> Self {
                self.settings.problem_types = page.into();
                self
            }

            /// What a status that is no success means without the handler's word. Default: [`Failures::ByWord`].
            #[must_use]
            pub const fn with_failures(mut self, failures: Failures) -> Self {
                self.settings.meanings.failures = failures;
                self
            }

            /// What a 202 means. Default: [`Accepted::Outstanding`].
            #[must_use]
            pub const fn with_accepted(mut self, accepted: Accepted) -> Self {
                self.settings.meanings.accepted = accepted;
                self
            }

            /// What the first caller gets where its call left the outcome unknown. Default: [`Doubt::Response`].
            #[must_use]
            pub const fn with_doubt(mut self, doubt: Doubt) -> Self {
                self.settings.meanings.doubt = doubt;
                self
            }

            /// Where the status of an operation is asked for: the path in front of its id, such as `/v1/operations/`. Answers
            /// that say to ask for it then name the path, a 202 in `Location` too. Default: what the wording has.
            #[must_use]
            pub fn with_status_path(mut self, path: impl Into<Cow<'static, str>>) -> Self {
                self.settings.wording = self.settings.wording.with_poll_path(path);
                self
            }
        }

        impl std::fmt::Debug for $layer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let settings = &self.settings;
                f.debug_struct(stringify!($layer))
                    .field("scope", &settings.gate.scope())
                    .field("reading", &settings.reading)
                    .field("limits", &settings.limits)
                    .field("meanings", &settings.meanings)
                    .field("replay", &settings.replay)
                    .field("form", &settings.form)
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use settings_methods;
