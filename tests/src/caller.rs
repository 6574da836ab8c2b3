//! One authenticated caller of a gateway.

use std::net::SocketAddr;

use bytes::Bytes;
use serde_json::Value;

use crate::{Call, Previewed, Reply, secrets::Secrets};

/// A tenant's principal, and the gateway that it calls.
#[derive(Clone, Debug)]
pub struct Caller {
    gateway: SocketAddr,
    subject: String,
    secrets: Secrets,
}

impl Caller {
    pub(crate) fn new(gateway: SocketAddr, subject: &str, secrets: Secrets) -> Self {
        Self {
            gateway,
            subject: subject.to_owned(),
            secrets,
        }
    }

    /// Sends a call with this caller's credentials.
    ///
    /// # Panics
    ///
    /// If the connection is cut before the answer, or no answer comes.
    pub async fn send(&self, call: Call) -> Reply {
        self.try_send(call).await.expect("an answer")
    }

    /// As [`send`](Self::send), where a cut connection is expected.
    ///
    /// # Errors
    ///
    /// [`Cut`](crate::Cut) if the connection ends first.
    pub async fn try_send(&self, call: Call) -> Result<Reply, crate::Cut> {
        call.header("authorization", self.authorization())
            .send(self.gateway)
            .await
    }

    /// The header by which it is known.
    #[must_use]
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.subject)
    }

    /// Previews good params.
    ///
    /// # Panics
    ///
    /// If they are refused.
    pub async fn preview(&self, params: &Value) -> Previewed {
        let reply = self.preview_bytes(params.to_string()).await;
        assert_eq!(reply.status, 200, "{reply:#?}");
        let previewed = Previewed::new(self.clone(), params.clone(), reply);
        self.secrets.keep_fingerprint(&previewed.fingerprint);
        previewed
    }

    /// Previews whatever this is.
    pub async fn preview_bytes(&self, body: impl Into<Bytes>) -> Reply {
        self.send(Call::post("/v1/transfers/preview", body)).await
    }

    /// Confirms with the fingerprint in the header and whatever this is as the body.
    pub async fn confirm_bytes(&self, fingerprint: &str, body: impl Into<Bytes>) -> Reply {
        let call = Call::post("/v1/transfers/confirm", body);
        self.send(call.header("counterfoil-fingerprint", fingerprint))
            .await
    }

    /// Asks how the operation of this id stands.
    pub async fn status(&self, id: &str) -> Reply {
        self.send(Call::get(format!("/v1/operations/{id}"))).await
    }

    /// Asks how the operation of this fingerprint stands.
    pub async fn status_by(&self, fingerprint: &str) -> Reply {
        self.send(Call::get("/v1/operation").header("counterfoil-fingerprint", fingerprint))
            .await
    }

    /// The effects of one operation that this caller's tenant sees, or all of them.
    ///
    /// # Panics
    ///
    /// If the count isn't told, or isn't that of the effects.
    pub async fn effects(&self, id: Option<&str>) -> Vec<Value> {
        let query = id
            .map(|id| format!("?operation_id={id}"))
            .unwrap_or_default();
        let reply = self.send(Call::get(format!("/ledger{query}"))).await;
        assert_eq!(reply.status, 200, "{reply:#?}");
        let effects = reply.json()["effects"].as_array().expect("effects").clone();
        assert_eq!(reply.json()["count"], effects.len(), "{reply:#?}");
        effects
    }
}
