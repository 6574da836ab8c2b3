//! The layer: what a service sets, and its defaults.

use std::{borrow::Cow, sync::Arc, time::Duration};

use counterfoil_core::{Subject, answer::Wording, engine::Gate};
use http::{HeaderName, request::Parts};
use tower_layer::Layer;

use super::{
    Accepted, Confirm, Doubt, Failures,
    settings::{Settings, settings_methods},
};
use crate::{Form, Replay};

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
/// Body and trailers are kept up to [`with_max_result`](Self::with_max_result), and a
/// [verbatim](crate::Replay::Verbatim) replay has both.
#[derive(Clone)]
pub struct ConfirmLayer {
    settings: Settings,
}

impl ConfirmLayer {
    /// A layer for the gate's action. An answer is agent JSON ([`Form::AgentJson`]), and a retry gets the first result in an
    /// envelope ([`Replay::Envelope`]).
    pub fn new<P: Send + Sync + 'static>(gate: Gate<P>) -> Self {
        let wording = gate.wording().clone();
        Self {
            settings: Settings::new(Arc::new(gate), wording),
        }
    }

    /// Headers that the handler acts on, bound as the params are: changed between preview and confirm, `params_changed`.
    /// The preview of the same gate needs the same ones. Default: none.
    #[must_use]
    pub fn with_bound_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.settings.reading.set_bound_headers(names);
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
        self.settings.reading.set_path_values(read);
        self
    }

    /// The words of answers, such as another language's. Default: the gate's.
    #[must_use]
    pub fn with_wording(mut self, wording: Wording) -> Self {
        self.settings.wording = wording;
        self
    }
}

settings_methods!(ConfirmLayer);

impl<S> Layer<S> for ConfirmLayer {
    type Service = Confirm<S>;

    fn layer(&self, inner: S) -> Confirm<S> {
        Confirm::new(inner, self.settings.clone())
    }
}
