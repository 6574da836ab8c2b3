//! A transfer that was previewed: what an agent holds in its hands.

use serde_json::Value;

use crate::{Call, Caller, Cut, Field, Reply, until};

/// A previewed transfer, with the caller that asked for it.
#[derive(Clone, Debug)]
pub struct Previewed {
    caller: Caller,
    /// The params that were previewed.
    pub params: Value,
    /// The credential.
    pub fingerprint: String,
    /// The operation's id.
    pub id: String,
    /// The answer to the preview.
    pub reply: Reply,
}

impl Previewed {
    pub(crate) fn new(caller: Caller, params: Value, reply: Reply) -> Self {
        let (fingerprint, id) = (reply.text("fingerprint"), reply.text("operation_id"));
        assert!(fingerprint.starts_with("fp1."), "{reply:#?}");
        assert!(!id.is_empty(), "{reply:#?}");
        Self {
            caller,
            params,
            fingerprint,
            id,
            reply,
        }
    }

    /// The call that confirms it.
    #[must_use]
    pub fn call(&self) -> Call {
        self.call_with(&self.params)
    }

    /// The call that confirms it with these params.
    #[must_use]
    pub fn call_with(&self, params: &Value) -> Call {
        Call::post("/v1/transfers/confirm", params.to_string())
            .header("counterfoil-fingerprint", &self.fingerprint)
    }

    /// The same call as text of HTTP/1.1, with further header lines, each ending in CR LF.
    #[must_use]
    pub fn call_text(&self, more: &str) -> String {
        let body = self.params.to_string();
        format!(
            "POST /v1/transfers/confirm HTTP/1.1\r\nHost: gateway\r\nAuthorization: {}\r\n\
             Content-Type: application/json\r\nCounterfoil-Fingerprint: {}\r\n{more}\
             Content-Length: {}\r\n\r\n{body}",
            self.caller.authorization(),
            self.fingerprint,
            body.len(),
        )
    }

    /// The same call as fields of HTTP/2. Its body is the params' text.
    #[must_use]
    pub fn call_fields(&self) -> Vec<Field> {
        [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", "/v1/transfers/confirm"),
            (":authority", "gateway"),
            ("authorization", &self.caller.authorization()),
            ("content-type", "application/json"),
            ("counterfoil-fingerprint", &self.fingerprint),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec()
    }

    /// Confirms it.
    pub async fn confirm(&self) -> Reply {
        self.caller.send(self.call()).await
    }

    /// Confirms it with these params.
    pub async fn confirm_with(&self, params: &Value) -> Reply {
        self.caller.send(self.call_with(params)).await
    }

    /// Confirms it, and lets the handler misbehave.
    pub async fn confirm_chaos(&self, chaos: &str) -> Reply {
        self.caller.send(self.call().header("x-chaos", chaos)).await
    }

    /// As [`confirm_chaos`](Self::confirm_chaos), where a cut connection is expected.
    ///
    /// # Errors
    ///
    /// [`Cut`] if the connection ends before the answer.
    pub async fn try_confirm_chaos(&self, chaos: &str) -> Result<Reply, Cut> {
        self.caller
            .try_send(self.call().header("x-chaos", chaos))
            .await
    }

    /// Confirms it in the background, with a handler that misbehaves, and waits until it runs.
    pub async fn start_running(&self, chaos: &str) -> tokio::task::JoinHandle<Result<Reply, Cut>> {
        let (this, chaos) = (self.clone(), chaos.to_owned());
        let running = tokio::spawn(async move { this.try_confirm_chaos(&chaos).await });
        self.until_state("running").await;
        running
    }

    /// How it stands, asked by id.
    pub async fn status(&self) -> Reply {
        self.caller.status(&self.id).await
    }

    /// Waits until it stands so.
    ///
    /// # Panics
    ///
    /// If it never does.
    pub async fn until_state(&self, state: &str) -> Reply {
        until(&format!("the state {state} of {}", self.id), || async {
            let reply = self.status().await;
            // A 404 is no answer with a state; nothing is stored yet.
            (reply.status == 200 && reply.text("state") == state).then_some(reply)
        })
        .await
    }

    /// Calls it off by its fingerprint.
    pub async fn cancel(&self) -> Reply {
        let call = Call::post(format!("/v1/operations/{}/cancel", self.id), "");
        self.caller
            .send(call.header("counterfoil-fingerprint", &self.fingerprint))
            .await
    }

    /// How many effects it had.
    pub async fn effects(&self) -> usize {
        self.caller.effects(Some(&self.id)).await.len()
    }
}
