//! The service and tonic's own client, over a connection.

mod server;

use std::time::Duration;

use grpc_payouts::{Place, pb::Account};
use server::{
    Server,
    calls::{by, call, confirm, effects, paid, payout, preview, reason},
};
use tonic::Code;

const KEY: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";

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

#[tokio::test]
async fn a_deadline_that_ends_says_nothing_of_the_payout_which_is_paid_once_all_the_same() {
    let server = Server::on(&Place::Memory, Duration::from_millis(300)).await;
    let mut client = server.client().await;
    for (done, deadline) in [0, 1, 20, 150, 290].into_iter().enumerate() {
        let fingerprint = preview(&mut client).await;
        let mut request = confirm(&fingerprint);
        request.set_timeout(Duration::from_millis(deadline));
        let status = client.confirm(request).await.unwrap_err();
        let code = status.code();
        let ended = matches!(code, Code::Cancelled | Code::DeadlineExceeded);
        assert!(ended, "{deadline} ms: {code:?}");
        // The same call again is told what stands, until that is the end.
        let mut word = paid(&mut client, &fingerprint).await.0;
        while word == "in_progress" {
            tokio::time::sleep(Duration::from_millis(20)).await;
            word = paid(&mut client, &fingerprint).await.0;
        }
        let ends = ["completed", "already_completed"];
        assert!(ends.contains(&word.as_str()), "{deadline} ms: {word}");
        assert_eq!(effects(&mut client).await, done + 1, "{deadline} ms");
    }
}
