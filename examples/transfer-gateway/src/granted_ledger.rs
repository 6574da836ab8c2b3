//! The client of a ledger that is a service of its own, and takes no write without a grant: `examples/granted-ledger`.

use std::{fmt, time::Duration};

use bytes::Bytes;
use counterfoil::{
    OperationId,
    engine::{DownstreamKey, GrantRefused},
    grant::{Audience, GrantKeys, GrantRequest},
    tower::{BoxError, DownstreamError, DownstreamKeyLayer, DownstreamKeyed, headers},
};
use http::{Request, StatusCode, Uri, uri::Authority};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{self, Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use tower_layer::Layer;
use tower_service::Service;

use crate::ledger::{Deed, Effect};

/// How long a write may take there, with its answer. Past it nobody knows.
pub(crate) const WORST_CASE: Duration = Duration::from_secs(5);

/// The name that its grants bear.
const AUDIENCE: Audience = Audience::new("granted-ledger");
const TARGET: &str = "/entries";
/// How much of an answer is read.
const MAX_ANSWER: usize = 1 << 24;

type Plain = Client<HttpConnector, Full<Bytes>>;

/// The client. Cheap to clone, and its connections are shared.
#[derive(Clone)]
pub(crate) struct GrantedLedger {
    at: Authority,
    keys: GrantKeys,
    /// For what writes: nothing leaves it without the operation's key, or once the lease is lost.
    writes: DownstreamKeyed<Plain>,
    reads: Plain,
}

/// Why an effect is not in that ledger, or may not be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// Surely not written: nothing was sent.
    #[error("nothing was sent to the ledger")]
    NotSent(#[source] BoxError),
    /// Surely not written by this attempt: the ledger said so.
    #[error("the ledger refused the write: {0}")]
    Refused(String),
    /// It may be written or not.
    #[error("it is not known whether the ledger has the write")]
    InDoubt(#[source] BoxError),
}

/// That ledger can't be read.
#[derive(Debug, thiserror::Error)]
#[error("the ledger can't be read")]
pub(crate) struct ReadError(#[source] BoxError);

/// What is sent: the same in every attempt, so that a later one meets what an earlier one wrote.
#[derive(Serialize, Deserialize)]
struct Written {
    tenant: String,
    principal: String,
    #[serde(flatten)]
    deed: Deed,
}

/// What the ledger tells of an entry. Other members are its own.
#[derive(Deserialize)]
struct Entry {
    operation_id: String,
    epoch: u64,
    at_ms: u64,
    entry: Written,
}

#[derive(Deserialize)]
struct Entries {
    entries: Vec<Entry>,
}

impl SendError {
    pub(crate) const fn nothing_happened(&self) -> bool {
        matches!(self, Self::NotSent(_) | Self::Refused(_))
    }
}

impl From<GrantRefused> for SendError {
    fn from(refused: GrantRefused) -> Self {
        Self::NotSent(refused.into())
    }
}

impl GrantedLedger {
    /// For the ledger at this address.
    pub(crate) fn new(at: Authority, keys: GrantKeys) -> Self {
        let reads: Plain = Client::builder(TokioExecutor::new()).build_http();
        Self {
            at,
            keys,
            writes: DownstreamKeyLayer::new().layer(reads.clone()),
            reads,
        }
    }

    fn url(&self, target: &str) -> Uri {
        let url = Uri::builder().scheme("http").authority(self.at.clone());
        let url = url.path_and_query(target).build();
        url.expect("a target of ours makes a URL")
    }

    /// Writes an effect, under the operation's key and with a grant of this attempt.
    pub(crate) async fn append(
        &self,
        key: &DownstreamKey,
        effect: &Effect,
    ) -> Result<(), SendError> {
        let body = serde_json::to_vec(&Written {
            tenant: effect.tenant.clone(),
            principal: effect.principal.clone(),
            deed: effect.deed.clone(),
        });
        let body = Bytes::from(body.map_err(|error| SendError::NotSent(error.into()))?);
        let asked = GrantRequest::new(&AUDIENCE, "POST", TARGET).with_body(&body);
        let grant = key.grant(&self.keys, &asked)?;
        let request = Request::post(self.url(TARGET))
            .header(http::header::CONTENT_TYPE, "application/json")
            .header(headers::GRANT, headers::grant_value(&grant))
            .extension(key.clone())
            .body(Full::new(body))
            .map_err(|error| SendError::NotSent(error.into()))?;
        // hyper's client is always ready.
        let sent = self.writes.clone().call(request);
        match timeout(WORST_CASE, sent).await {
            Ok(Ok(response)) => meaning(&response),
            Ok(Err(error)) => Err(of_error(error)),
            Err(late) => Err(SendError::InDoubt(late.into())),
        }
    }

    /// The effects of a tenant, or of one of its operations.
    pub(crate) async fn effects(
        &self,
        tenant: &str,
        of: Option<OperationId>,
    ) -> Result<Vec<Effect>, ReadError> {
        let target = match of {
            Some(id) => format!("{TARGET}?operation_id={id}"),
            None => TARGET.to_owned(),
        };
        let entries = timeout(WORST_CASE, self.read(&target)).await;
        let entries = entries.map_err(|late| ReadError(late.into()))?;
        let effects = entries.map_err(ReadError)?.entries.into_iter();
        effects
            .filter(|entry| entry.entry.tenant == tenant)
            .map(|entry| entry.effect().map_err(ReadError))
            .collect()
    }

    async fn read(&self, target: &str) -> Result<Entries, BoxError> {
        let response = self.reads.get(self.url(target)).await?;
        if response.status() != StatusCode::OK {
            return Err(format!("it answered {}", response.status()).into());
        }
        let body = Limited::new(response.into_body(), MAX_ANSWER);
        Ok(serde_json::from_slice(&body.collect().await?.to_bytes())?)
    }
}

/// A refusal counts only where the ledger itself says in one word that it wrote nothing: something on the way may have made
/// the status after the write.
fn meaning(response: &http::Response<Incoming>) -> Result<(), SendError> {
    let status = response.status();
    if matches!(status, StatusCode::OK | StatusCode::CREATED) {
        return Ok(());
    }
    let word = response.headers().get(headers::STATUS);
    let word = word.and_then(|word| word.to_str().ok()).unwrap_or_default();
    match word {
        "grant_required"
        | "grant_mistyped"
        | "grant_invalid"
        | "grant_expired"
        | "grant_ends_too_late"
        | "grant_mismatch"
        | "epoch_stale"
        | "body_too_large"
        | "entry_malformed"
        | "ledger_closed"
        | "unavailable" => Err(SendError::Refused(word.to_owned())),
        _ => Err(SendError::InDoubt(format!("it answered {status}").into())),
    }
}

fn of_error(error: DownstreamError) -> SendError {
    match error {
        DownstreamError::NotSent(why) => SendError::NotSent(why.into()),
        DownstreamError::Service(error)
            if error
                .downcast_ref::<legacy::Error>()
                .is_some_and(legacy::Error::is_connect) =>
        {
            SendError::NotSent(error)
        }
        other => SendError::InDoubt(other.into()),
    }
}

impl Entry {
    fn effect(self) -> Result<Effect, BoxError> {
        Ok(Effect {
            operation_id: self.operation_id.parse()?,
            epoch: counterfoil::Epoch::from_u64(self.epoch),
            tenant: self.entry.tenant,
            principal: self.entry.principal,
            deed: self.entry.deed,
            at_ms: self.at_ms,
        })
    }
}

impl fmt::Debug for GrantedLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrantedLedger")
            .field("at", &self.at)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}
