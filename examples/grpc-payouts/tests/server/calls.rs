//! Calls of an agent, and what it is told.

use grpc_payouts::pb::{Account, LedgerRequest, Payout, Receipt, payouts_client::PayoutsClient};
use tonic::{Request, Response, Status, transport::Channel};
use tonic_types::StatusExt;

pub type Client = PayoutsClient<Channel>;

pub fn payout() -> Payout {
    Payout {
        cents: 1050,
        currency: "EUR".into(),
        payee_id: "p-17".into(),
        note: "as agreed".into(),
    }
}

/// A call of the agent's, with one more entry of metadata.
pub fn call<M>(message: M, entry: Option<(&'static str, &str)>) -> Request<M> {
    by("Bearer acme/agent-7", message, entry)
}

pub fn by<M>(token: &str, message: M, entry: Option<(&'static str, &str)>) -> Request<M> {
    let mut request = Request::new(message);
    let metadata = request.metadata_mut();
    metadata.insert("authorization", token.parse().unwrap());
    if let Some((name, value)) = entry {
        metadata.insert(name, value.parse().unwrap());
    }
    request
}

pub async fn preview(client: &mut Client) -> String {
    let preview = client.preview(call(payout(), None)).await.unwrap();
    preview.into_inner().fingerprint
}

/// A confirm of [`payout`].
pub fn confirm(fingerprint: &str) -> Request<Payout> {
    call(payout(), Some(("counterfoil-fingerprint", fingerprint)))
}

/// A settlement under a key.
pub fn settle(key: &str) -> Request<Account> {
    let account = Account {
        account_id: "a-1".into(),
    };
    call(account, Some(("idempotency-key", key)))
}

pub async fn effects(client: &mut Client) -> usize {
    let effects = client.ledger(call(LedgerRequest {}, None)).await.unwrap();
    effects.into_inner().lines.len()
}

pub fn reason(status: &Status) -> String {
    status
        .get_details_error_info()
        .expect("an ErrorInfo")
        .reason
}

/// The word beside a reply.
pub fn word<T>(response: &Response<T>) -> String {
    let word = response.metadata().get("counterfoil-status");
    word.expect("a word").to_str().unwrap().to_owned()
}

/// The word, and the receipt where there is one.
pub async fn paid(client: &mut Client, fingerprint: &str) -> (String, Option<Receipt>) {
    match client.confirm(confirm(fingerprint)).await {
        Ok(response) => (word(&response), Some(response.into_inner())),
        Err(status) => (reason(&status).to_lowercase(), None),
    }
}

/// The word, and the steps where there are any.
pub async fn settled(client: &mut Client, key: &str) -> (String, Vec<String>) {
    match client.settle(settle(key)).await {
        Ok(response) => {
            let word = word(&response);
            let (mut stream, mut steps) = (response.into_inner(), Vec::new());
            while let Some(step) = stream.message().await.unwrap() {
                steps.push(step.text);
            }
            (word, steps)
        }
        Err(status) => (reason(&status).to_lowercase(), Vec::new()),
    }
}
