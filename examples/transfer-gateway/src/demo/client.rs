//! The agent's HTTP client: one connection per call, and no more patience than it is told to have.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};

/// Somebody who calls a service.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) service: SocketAddr,
    pub(crate) name: &'static str,
}

/// One call to be made.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Option<Value>,
    patience: Duration,
}

/// What came of a call.
#[derive(Debug)]
pub(crate) enum Heard {
    Answer {
        http: StatusCode,
        body: Value,
        /// The header `Counterfoil-Status`.
        status: Option<String>,
    },
    /// The caller gave up waiting.
    Nothing { after: Duration },
    /// The connection broke.
    Broken,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, None)
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Self::new(Method::POST, path, Some(body))
    }

    fn new(method: Method, path: impl Into<String>, body: Option<Value>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: Vec::new(),
            body,
            patience: Duration::from_secs(10),
        }
    }

    #[must_use]
    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    #[must_use]
    pub(crate) const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

impl Caller {
    /// Calls; whoever gives up hangs up.
    pub(crate) async fn call(&self, call: Call) -> Heard {
        let patience = call.patience;
        match timeout(patience, self.send(call)).await {
            Ok(Ok(heard)) => heard,
            Ok(Err(_)) => Heard::Broken,
            Err(_) => Heard::Nothing { after: patience },
        }
    }

    async fn send(&self, call: Call) -> Result<Heard, Box<dyn std::error::Error + Send + Sync>> {
        let stream = TcpStream::connect(self.service).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let mut request = Request::builder()
            .method(call.method)
            .uri(call.path)
            .header(header::HOST, self.service.to_string())
            .header(header::AUTHORIZATION, format!("Bearer {}", self.name))
            .header(header::CONTENT_TYPE, "application/json");
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        let body = call.body.map(|body| body.to_string()).unwrap_or_default();
        let request = request.body(Full::new(Bytes::from(body)))?;
        let answer = async {
            let response: Response<_> = sender.send_request(request).await?;
            let (parts, body) = response.into_parts();
            let bytes = body.collect().await?.to_bytes();
            let status = parts.headers.get("counterfoil-status");
            Ok(Heard::Answer {
                http: parts.status,
                body: serde_json::from_slice(&bytes).unwrap_or_default(),
                status: status.and_then(|value| value.to_str().ok().map(str::to_owned)),
            })
        };
        tokio::pin!(answer);
        // The connection is driven here, so that giving up drops it.
        tokio::select! {
            answer = &mut answer => answer,
            ended = connection => {
                ended?;
                answer.await
            }
        }
    }
}

impl Heard {
    /// A member of the answer, as text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self {
            Self::Answer { body, .. } => body.get(name)?.as_str(),
            Self::Nothing { .. } | Self::Broken => None,
        }
    }

    /// How long the answer says to wait.
    pub(crate) fn wait(&self) -> Duration {
        match self {
            Self::Answer { body, .. } => body
                .get("poll_after_ms")
                .and_then(Value::as_u64)
                .map(Duration::from_millis)
                .unwrap_or_default(),
            Self::Nothing { .. } | Self::Broken => Duration::ZERO,
        }
    }
}
