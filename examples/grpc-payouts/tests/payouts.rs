//! The service and tonic's own client, over a connection.

mod server;

use grpc_payouts::pb::{Account, LedgerRequest, Payout, payouts_client::PayoutsClient};
use server::Server;
use tonic::{Code, Request, Status, transport::Channel};
use tonic_types::StatusExt;

const KEY: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";

fn payout() -> Payout {
    Payout {
        cents: 1050,
        currency: "EUR".into(),
        payee_id: "p-17".into(),
        note: "as agreed".into(),
    }
}

/// A call of the agent's, with one more entry of metadata.
fn call<M>(message: M, entry: Option<(&'static str, &str)>) -> Request<M> {
    by("Bearer acme/agent-7", message, entry)
}

fn by<M>(token: &str, message: M, entry: Option<(&'static str, &str)>) -> Request<M> {
    let mut request = Request::new(message);
    let metadata = request.metadata_mut();
    metadata.insert("authorization", token.parse().unwrap());
    if let Some((name, value)) = entry {
        metadata.insert(name, value.parse().unwrap());
    }
    request
}

async fn preview(client: &mut PayoutsClient<Channel>) -> String {
    let preview = client.preview(call(payout(), None)).await.unwrap();
    preview.into_inner().fingerprint
}

async fn effects(client: &mut PayoutsClient<Channel>) -> usize {
    let effects = client.ledger(call(LedgerRequest {}, None)).await.unwrap();
    effects.into_inner().lines.len()
}

fn reason(status: &Status) -> String {
    status
        .get_details_error_info()
        .expect("an ErrorInfo")
        .reason
}

#[tokio::test]
async fn a_payout_is_paid_once_however_often_it_is_confirmed() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let fingerprint = preview(&mut client).await;
    let mut receipts = Vec::new();
    for (note, word) in [
        ("as agreed", "completed"),
        ("sent again", "already_completed"),
    ] {
        let mut payout = payout();
        payout.note = note.into();
        let confirm = call(payout, Some(("counterfoil-fingerprint", &fingerprint)));
        let response = client.confirm(confirm).await.unwrap();
        assert_eq!(response.metadata().get("counterfoil-status").unwrap(), word);
        receipts.push(response.into_inner());
    }
    assert_eq!(receipts[0].amount, "10.50 EUR");
    assert_eq!(receipts[0], receipts[1]);
    assert_eq!(effects(&mut client).await, 1);
}

#[tokio::test]
async fn five_confirms_at_once_pay_once() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let fingerprint = preview(&mut client).await;
    let calls = (0..5).map(|_| {
        let (mut client, fingerprint) = (client.clone(), fingerprint.clone());
        tokio::spawn(async move {
            let confirm = call(payout(), Some(("counterfoil-fingerprint", &fingerprint)));
            client.confirm(confirm).await
        })
    });
    for call in calls.collect::<Vec<_>>() {
        match call.await.unwrap() {
            Ok(response) => assert_eq!(response.get_ref().amount, "10.50 EUR"),
            Err(status) => assert_eq!(reason(&status), "IN_PROGRESS"),
        }
    }
    assert_eq!(effects(&mut client).await, 1);
}

#[tokio::test]
async fn another_amount_caller_or_none_is_told_by_name_and_pays_nothing() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let fingerprint = preview(&mut client).await;
    let entry = Some(("counterfoil-fingerprint", fingerprint.as_str()));
    let mut more = payout();
    more.cents = 1051;
    let mut negative = payout();
    negative.cents = -1;
    for (request, code, expected) in [
        (
            call(more, entry),
            Code::FailedPrecondition,
            "PARAMS_CHANGED",
        ),
        (
            call(negative, entry),
            Code::InvalidArgument,
            "PARAMS_INVALID",
        ),
        (
            call(payout(), None),
            Code::FailedPrecondition,
            "FINGERPRINT_REQUIRED",
        ),
        (
            by("Bearer acme/agent-8", payout(), entry),
            Code::PermissionDenied,
            "FINGERPRINT_INVALID",
        ),
        (
            by("nobody", payout(), entry),
            Code::Unauthenticated,
            "UNAUTHENTICATED",
        ),
    ] {
        let status = client.confirm(request).await.unwrap_err();
        assert_eq!((status.code(), reason(&status).as_str()), (code, expected));
    }
    assert_eq!(effects(&mut client).await, 0);
}

#[tokio::test]
async fn a_settlement_under_a_key_is_streamed_again_step_by_step() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let mut replies = Vec::new();
    for word in ["completed", "already_completed"] {
        let account = Account {
            account_id: "a-1".into(),
        };
        let request = call(account, Some(("idempotency-key", KEY)));
        let response = client.settle(request).await.unwrap();
        assert_eq!(response.metadata().get("counterfoil-status").unwrap(), word);
        let mut stream = response.into_inner();
        let mut steps = Vec::new();
        while let Some(step) = stream.message().await.unwrap() {
            steps.push(step.text);
        }
        assert!(stream.trailers().await.unwrap().is_some());
        replies.push(steps);
    }
    assert_eq!(replies[0].len(), 3);
    assert_eq!(replies[0], replies[1]);
    assert_eq!(effects(&mut client).await, 1);

    let other = Account {
        account_id: "a-2".into(),
    };
    let other = client
        .settle(call(other, Some(("idempotency-key", KEY))))
        .await;
    let status = other.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::InvalidArgument, "KEY_REUSED")
    );
    assert_eq!(effects(&mut client).await, 1);
}
