//! The layer: what a service sets, and its defaults.

use std::{borrow::Cow, sync::Arc, time::Duration};

use counterfoil_core::{
    Subject,
    answer::Wording,
    engine::{Gate, RawParams},
};
use http::{HeaderName, Uri, request::Parts};
use tower_layer::Layer;

use super::guarded::{BindBytes, KeyGuard, Sent};
use crate::{
    Accepted, Confirm, Doubt, Failures, Form, Replay,
    confirm::{Guarded, Settings, settings_methods},
};

/// Wraps one handler whose callers are programs: a request under an idempotency key runs once, and every retry under that
/// key gets the first response as it was, with `Idempotent-Replayed: true`.
///
/// The key stands in the header `Idempotency-Key`, as draft-ietf-httpapi-idempotency-key-header has it: a string in
/// quotes, or a bare key ([`IdempotencyKey::from_header`](counterfoil_core::idempotency::IdempotencyKey::from_header) has
/// the rule). It belongs to its subject. What it was first sent with belongs to it: the action, the method, the path and
/// the query as they were sent, the headers that the service declares, and the body, JSON in canonical form. The same key with anything
/// else is `key_reused`, 422, in every state.
///
/// A nested router of axum hands on a part of the path. With the feature `axum` the whole is bound all the same; where
/// anything else in front of the layer cuts the path, [`with_target`](Self::with_target) says what was sent.
///
/// The checks come in this order: the subject, the key's form, the body within its limits, a strict reading of its JSON, the
/// gate's rules for keys, the params, the claim. From the claim on all is as in a
/// [`ConfirmLayer`](crate::ConfirmLayer): what the handler sees, what its response means, and where the layer goes.
///
/// A header `Counterfoil-Fingerprint` beside the key is `credentials_differ`, and in its place `key_required`: it names
/// another operation, which this layer doesn't confirm. Inside of another layer it is that layer's, and means nothing here.
/// Two layers in one request need two credentials: with the outer one's key the inner layer says `key_reused`, and
/// runs nothing.
///
/// Requests of a safe method (GET, HEAD, OPTIONS, and the rarer TRACE and QUERY) pass untouched, with a key or without.
///
/// ```
/// use axum::{Router, http::StatusCode, routing::post};
/// use counterfoil_core::{KeyId, Scope, Subject, engine::Counterfoil, fingerprint::{Key, Keyring}};
/// use counterfoil_store_memory::MemoryStore;
/// use counterfoil_tower::{Body, Confirmed, KeyLayer};
/// use http::Request;
/// use tower::ServiceExt;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Ticket {
///     title: String,
/// }
///
/// async fn create(Confirmed(ticket): Confirmed<Ticket>) -> (StatusCode, String) {
///     (StatusCode::CREATED, format!("created: {}", ticket.title))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let keys = Keyring::new(Key::random(KeyId::parse("k1")?));
/// let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
/// let gate = counterfoil.gate::<Ticket>(Scope::new("tickets.create")).build()?;
/// let routes: Router = Router::new().route("/tickets", post(create).route_layer(KeyLayer::new(gate)));
///
/// for (title, status, replayed) in [("Fire", 201, false), ("Fire", 201, true), ("Flood", 422, false)] {
///     let request = Request::post("/tickets")
///         .extension(Subject::new("acme", "billing")?)
///         .header("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324")
///         .body(Body::from(format!(r#"{{"title":"{title}"}}"#).into_bytes()))?;
///     let response = routes.clone().oneshot(request).await?;
///     assert_eq!(response.status(), status);
///     assert_eq!(response.headers().contains_key("idempotent-replayed"), replayed);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct KeyLayer {
    settings: Settings,
    sent: Sent,
    guard: Arc<dyn Fn(Sent) -> Arc<dyn Guarded> + Send + Sync>,
}

impl KeyLayer {
    /// A layer for the gate's action. A key is required; an error is problem details ([`Form::ProblemDetails`]), and a retry
    /// gets the first response as it was ([`Replay::Verbatim`]).
    pub fn new<P: Send + Sync + 'static>(gate: Gate<P>) -> Self {
        Self::with_guard(gate, None)
    }

    /// As [`new`](Self::new), for a handler that takes bodies of any kind: what claims to be JSON is read strictly and bound
    /// in canonical form, with its media type; anything else, and an empty body, is bound byte for byte, with `Content-Type`
    /// and `Content-Encoding` as they were sent. The handler gets the bytes as they came.
    ///
    /// A null at the top level is as if absent, unless the gate's policy is
    /// [`Nulls::Keep`](counterfoil_core::params::Nulls::Keep). A handler of merge patches (RFC 7396), to which it says
    /// "remove", needs that.
    #[must_use]
    pub fn of_any_body(gate: Gate<RawParams>) -> Self {
        let mut layer = Self::with_guard(gate, Some(Gate::<RawParams>::bind_bytes));
        layer.settings.reading.any_media = true;
        layer
    }

    fn with_guard<P: Send + Sync + 'static>(
        gate: Gate<P>,
        bind_bytes: Option<BindBytes<P>>,
    ) -> Self {
        let sent = Sent {
            required: true,
            member: None,
        };
        let wording = gate.wording().clone().for_keys();
        let guard = move |sent| -> Arc<dyn Guarded> {
            let gate = gate.clone();
            Arc::new(KeyGuard {
                gate,
                sent,
                bind_bytes,
            })
        };
        Self {
            settings: Settings {
                replay: Replay::Verbatim,
                form: Form::ProblemDetails,
                passes_safe_methods: true,
                ..Settings::new(guard(sent.clone()), wording)
            },
            sent,
            guard: Arc::new(guard),
        }
    }

    /// A request may come without a key. It is an operation of its own then, with an id that the server makes: it runs
    /// each time that it is sent, and its status can be asked by the id in its response.
    #[must_use]
    pub fn optional(self) -> Self {
        self.sent(|sent| sent.required = false)
    }

    /// The key may stand in this member of the body instead, as a string that is the key itself. It is taken out before the
    /// params are read. A request that has both must have the same key in both, else `credentials_differ`.
    #[must_use]
    pub fn with_body_member(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.sent(|sent| sent.member = Some(name.into()))
    }

    fn sent(mut self, change: impl FnOnce(&mut Sent)) -> Self {
        change(&mut self.sent);
        self.settings.gate = (self.guard)(self.sent.clone());
        self
    }

    /// Headers that the handler acts on: the same key with another value of one is `key_reused`. Default: none.
    #[must_use]
    pub fn with_bound_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.settings.reading.set_bound_headers(names);
        self
    }

    /// How the target is found as it was sent: its path and query are bound. Default: with the feature `axum`, what its
    /// outermost router saw; without it, what the layer sees. Where something in front of the layer cuts the path, two
    /// requests that differ in the part it cut off alone would be one, and the second would get the first one's response.
    #[must_use]
    pub fn with_target(mut self, find: impl Fn(&Parts) -> Uri + Send + Sync + 'static) -> Self {
        self.settings.reading.set_target(find);
        self
    }

    /// The words of answers, such as another language's; of the built-in ones those that speak of keys. Default: the gate's.
    #[must_use]
    pub fn with_wording(mut self, wording: Wording) -> Self {
        self.settings.wording = wording.for_keys();
        self
    }
}

settings_methods!(KeyLayer);

impl<S> Layer<S> for KeyLayer {
    type Service = Confirm<S>;

    fn layer(&self, inner: S) -> Confirm<S> {
        Confirm::new(inner, self.settings.clone())
    }
}
