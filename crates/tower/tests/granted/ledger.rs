//! A ledger behind the layer, by a clock that stands, and grants for it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Extension, Router,
    routing::{get, post},
};
use bytes::Bytes;
use counterfoil_core::{
    Clock, Epoch, KeyId, OperationId, Step, Timestamp,
    grant::{
        Audience, EpochMemory, Grant, GrantKey, GrantKeys, GrantRequest, GrantTerms, RecentEpochs,
    },
};
use counterfoil_tower::{Body, GrantLayer, Granted, headers};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

pub(crate) const LEDGER: Audience = Audience::new("ledger");
pub(crate) const NOW: Timestamp = Timestamp::from_unix_secs(1_800_000_000);
pub(crate) const BODY: &str = r#"{"amount":"10"}"#;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Stands(pub(crate) Timestamp);

impl Clock for Stands {
    fn now(&self) -> Timestamp {
        self.0
    }
}

pub(crate) fn keys(byte: u8) -> GrantKeys {
    GrantKeys::new(GrantKey::new(KeyId::parse("g1").unwrap(), &[byte; 32]).unwrap())
}

pub(crate) fn operation(number: u8) -> OperationId {
    OperationId::from_bytes([number; 16])
}

/// A grant for a write to `target`.
pub(crate) fn grant_for(method: &str, target: &str, body: &[u8]) -> Grant {
    mint(
        1,
        None,
        &GrantRequest::new(&LEDGER, method, target).with_body(body),
    )
}

pub(crate) fn mint(epoch: u64, step: Option<Step>, request: &GrantRequest) -> Grant {
    let epoch = Epoch::from_u64(epoch);
    let terms = GrantTerms::new(operation(1), epoch, step, request, NOW).unwrap();
    keys(1).issue(&terms)
}

/// The usual one.
pub(crate) fn grant() -> Grant {
    grant_for("POST", "/entries", BODY.as_bytes())
}

#[derive(Clone)]
pub(crate) struct Ledger {
    router: Router,
    writes: Arc<AtomicUsize>,
}

/// What the service answered.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) status: StatusCode,
    pub(crate) word: String,
    pub(crate) body: Bytes,
}

impl Told {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self::with(RecentEpochs::new().with_clock(Stands(NOW)), |layer| layer)
    }

    pub(crate) fn with(
        epochs: impl EpochMemory,
        set: impl FnOnce(GrantLayer) -> GrantLayer,
    ) -> Self {
        let layer = GrantLayer::new(keys(1), LEDGER, epochs).with_clock(Stands(NOW));
        let writes = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&writes);
        // Says what it was let through with.
        let enter = move |Extension(granted): Extension<Granted>, body: Bytes| async move {
            counted.fetch_add(1, Ordering::SeqCst);
            let (key, epoch) = (granted.downstream_key(), granted.epoch().as_u64());
            let step = granted.step().map_or("-", Step::as_str);
            let id = granted.operation_id();
            [format!("{id} {step} {epoch} {key} ").as_bytes(), &body].concat()
        };
        let show = async |granted: Option<Extension<Granted>>| {
            if granted.is_some() {
                "granted"
            } else {
                "anybody"
            }
        };
        let entries = post(enter.clone()).put(enter.clone()).delete(enter.clone());
        let nested = Router::new().route("/entries", post(enter));
        let router = Router::new()
            .route("/entries", entries.merge(get(show)))
            .nest("/accounts/{account}", nested)
            .route_layer(set(layer));
        Self { router, writes }
    }

    pub(crate) fn writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Told {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let word = response.headers().get("counterfoil-status");
        let word = word.map_or_else(String::new, |word| word.to_str().unwrap().to_owned());
        Told {
            status: response.status(),
            word,
            body: response.into_body().collect().await.unwrap().to_bytes(),
        }
    }

    /// The usual write with this grant.
    pub(crate) async fn enter(&self, grant: &Grant) -> Told {
        self.send(request(Some(grant.as_str()))).await
    }
}

/// The usual write.
pub(crate) fn request(grant: Option<&str>) -> Request<Body> {
    let mut request = Request::post("/entries").header("content-type", "application/json");
    if let Some(grant) = grant {
        request = request.header(headers::GRANT, grant);
    }
    request.body(Body::from(BODY)).unwrap()
}
