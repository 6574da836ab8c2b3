//! Preview as a service: reads what confirm reads, and hands out the fingerprint.

use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use counterfoil_core::{
    Subject, Timestamp,
    answer::{Answer, Status, Wording},
    engine::{Gate, Preview},
};
use http::{HeaderName, HeaderValue, Request, Response, header, request::Parts};
use http_body::Body as HttpBody;
use serde_json::{Map, Value};
use tower_service::Service;

use crate::{
    Body, BoxError, ResponseFuture, headers,
    http_answer::{Refusal, Rendering, Replay},
    request::{Reading, json_of},
};

type Summary<P> = Arc<dyn Fn(&P) -> String + Send + Sync>;
type QuoteEnd<P> = Arc<dyn Fn(&P) -> Option<Timestamp> + Send + Sync>;

/// Answers a preview: 200 with `fingerprint`, `operation_id`, `expires_at` (seconds since 1970), `expires_in_s` and,
/// where the service gives one, `summary`; or an answer that says what to mend. No store is touched.
///
/// It reads the request by the same rules as the [`ConfirmLayer`](crate::ConfirmLayer) of its gate: JSON in the body,
/// path values, query members, bound headers. A difference between the two in these settings is told to every caller as
/// `params_changed`. A member `fingerprint` in the body is taken out, as at confirm. A member `repeat_of` is answered
/// `not_implemented`: the guard that it speaks to does not exist yet, and must not seem to.
///
/// ```
/// use counterfoil_core::{KeyId, Scope, Subject, engine::Counterfoil, fingerprint::{Key, Keyring}};
/// use counterfoil_store_memory::MemoryStore;
/// use counterfoil_tower::{Body, PreviewService};
/// use http::Request;
/// use http_body_util::BodyExt;
/// use tower::ServiceExt;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Refund {
///     order: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let keys = Keyring::new(Key::random(KeyId::parse("k1")?));
/// let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
/// let gate = counterfoil.gate::<Refund>(Scope::new("orders.refund")).build()?;
/// let preview = PreviewService::new(gate).with_summary(|refund| format!("Refund {}", refund.order));
///
/// let request = Request::post("/refunds/preview")
///     .extension(Subject::new("acme", "agent-7")?)
///     .body(Body::from(r#"{"order":"A-17"}"#))?;
/// let response = preview.oneshot(request).await?;
/// assert_eq!(response.status(), 200);
/// let body: serde_json::Value =
///     serde_json::from_slice(&response.into_body().collect().await?.to_bytes())?;
/// assert_eq!(body["summary"], "Refund A-17");
/// assert!(body["fingerprint"].as_str().is_some_and(|f| f.starts_with("fp1.k1.")));
/// # Ok(())
/// # }
/// ```
pub struct PreviewService<P> {
    config: Arc<Config<P>>,
}

struct Config<P> {
    gate: Gate<P>,
    reading: Reading,
    summary: Option<Summary<P>>,
    quote_end: Option<QuoteEnd<P>>,
    wording: Wording,
}

// By hand: a derive would ask `P: Clone`.
impl<P> Clone for Config<P> {
    fn clone(&self) -> Self {
        Self {
            gate: self.gate.clone(),
            reading: self.reading.clone(),
            summary: self.summary.clone(),
            quote_end: self.quote_end.clone(),
            wording: self.wording.clone(),
        }
    }
}

impl<P> Clone for PreviewService<P> {
    fn clone(&self) -> Self {
        Self {
            config: Arc::clone(&self.config),
        }
    }
}

impl<P> fmt::Debug for PreviewService<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreviewService")
            .field("gate", &self.config.gate)
            .field("reading", &self.config.reading)
            .finish_non_exhaustive()
    }
}

impl<P: Send + Sync + 'static> PreviewService<P> {
    /// A service for the gate's action, with the defaults.
    #[must_use]
    pub fn new(gate: Gate<P>) -> Self {
        Self {
            config: Arc::new(Config {
                wording: gate.wording().clone(),
                gate,
                reading: Reading::default(),
                summary: None,
                quote_end: None,
            }),
        }
    }

    /// As [`ConfirmLayer::with_subject`](crate::ConfirmLayer::with_subject).
    #[must_use]
    pub fn with_subject(
        self,
        find: impl Fn(&Parts) -> Option<Subject> + Send + Sync + 'static,
    ) -> Self {
        self.with(|config| config.reading.set_subject(find))
    }

    /// As [`ConfirmLayer::with_max_body`](crate::ConfirmLayer::with_max_body).
    #[must_use]
    pub fn with_max_body(self, bytes: usize) -> Self {
        self.with(|config| config.reading.max_body = bytes)
    }

    /// As [`ConfirmLayer::with_body_timeout`](crate::ConfirmLayer::with_body_timeout).
    #[must_use]
    pub fn with_body_timeout(self, time: Duration) -> Self {
        self.with(|config| config.reading.body_timeout = time)
    }

    /// As [`ConfirmLayer::with_bound_headers`](crate::ConfirmLayer::with_bound_headers), with the same names.
    #[must_use]
    pub fn with_bound_headers(self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.with(|config| config.reading.set_bound_headers(names))
    }

    /// As [`ConfirmLayer::with_path_values`](crate::ConfirmLayer::with_path_values), giving the same values.
    #[must_use]
    pub fn with_path_values(
        self,
        read: impl Fn(&Parts) -> Vec<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        self.with(|config| config.reading.set_path_values(read))
    }

    /// What a person is shown before they agree, from the validated params. Text of the service's own: params in it are
    /// data of the caller's.
    #[must_use]
    pub fn with_summary(self, summary: impl Fn(&P) -> String + Send + Sync + 'static) -> Self {
        self.with(|config| config.summary = Some(Arc::new(summary)))
    }

    /// When the quote that the preview shows ends, by the engine's clock; `None` for params without one. The fingerprint
    /// ends with it, if it would have lived longer.
    #[must_use]
    pub fn with_quote_end(
        self,
        end: impl Fn(&P) -> Option<Timestamp> + Send + Sync + 'static,
    ) -> Self {
        self.with(|config| config.quote_end = Some(Arc::new(end)))
    }

    /// The words of answers, such as another language's. Default: the gate's.
    #[must_use]
    pub fn with_wording(self, wording: Wording) -> Self {
        self.with(|config| config.wording = wording)
    }

    fn with(mut self, set: impl FnOnce(&mut Config<P>)) -> Self {
        set(Arc::make_mut(&mut self.config));
        self
    }
}

impl<P, B> Service<Request<B>> for PreviewService<P>
where
    P: Send + Sync + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture<Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let config = Arc::clone(&self.config);
        ResponseFuture::new(async move {
            let (mut parts, body) = request.into_parts();
            Ok(config
                .preview(&mut parts, body)
                .await
                .unwrap_or_else(|refusal| {
                    Rendering::new(&config.wording, Replay::default()).refusal(&refusal)
                }))
        })
    }
}

impl<P: Send + Sync + 'static> Config<P> {
    async fn preview<B>(&self, parts: &mut Parts, body: B) -> Result<Response<Body>, Refusal>
    where
        B: HttpBody<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        let subject = self.reading.subject(parts)?;
        let bytes = self.reading.body(parts, body).await?;
        let mut incoming = self.gate.incoming(json_of(&bytes))?;
        incoming.take_fingerprint()?;
        if incoming.take_repeat_of()?.is_some() {
            return Err(Answer::new(Status::NotImplemented)
                .with_field("/repeat_of")
                .into());
        }
        self.reading.join(parts, &mut incoming).await?;
        let params = self.gate.bind_incoming(incoming)?;
        let quote_ends = self.quote_end.as_ref().and_then(|of| of(params.value()));
        let preview = self
            .gate
            .preview_until(&subject, &params, quote_ends)
            .await?;
        let summary = self.summary.as_ref().map(|of| of(params.value()));
        Ok(issued(&preview, summary))
    }
}

fn issued(preview: &Preview, summary: Option<String>) -> Response<Body> {
    let expires_in_s = preview.expires_at.since(preview.now).as_secs();
    let mut body = Map::new();
    body.insert("fingerprint".into(), preview.fingerprint.as_str().into());
    body.insert(
        "operation_id".into(),
        preview.operation_id.to_string().into(),
    );
    body.insert("expires_at".into(), preview.expires_at.unix_secs().into());
    body.insert("expires_in_s".into(), expires_in_s.into());
    if let Some(summary) = summary {
        body.insert("summary".into(), summary.into());
    }
    let json = Value::Object(body).to_string();
    let mut response = Response::new(Body::from(json.into_bytes()));
    let headers = response.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    let id = HeaderValue::try_from(preview.operation_id.to_string());
    let id = id.expect("hex digits and hyphens make a header value");
    headers.insert(headers::OPERATION_ID, id);
    headers::forbid_caching(headers);
    response
}
