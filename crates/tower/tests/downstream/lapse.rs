//! Once the lease is lost nothing more is sent.

use std::sync::Arc;

use counterfoil_core::engine::DownstreamKey;
use counterfoil_tower::{DownstreamKeyLayer, NotSent};
use tokio::sync::Notify;
use tower::{Layer, ServiceBuilder, ServiceExt, retry::RetryLayer};

use crate::{
    bank::{Bank, Then},
    handler::{Again, AgainInside, Copied, SHORT, client, request, run},
};

const KEYED: DownstreamKeyLayer = DownstreamKeyLayer::new();

fn lost(why: Option<NotSent>) -> bool {
    matches!(why, Some(NotSent::LeaseLost(_)))
}

#[tokio::test]
async fn a_handler_that_stalled_past_its_lease_sends_nothing() {
    let bank = Bank::start([]).await;
    let to = bank.clone();
    run(Some(SHORT), |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        attempt.lease_lost().await;
        let steps: [DownstreamKey; 2] = [key.clone(), key.step("fee").unwrap()];
        for key in steps {
            let sent = KEYED
                .layer(client())
                .oneshot(request(&to, Some(&key)))
                .await;
            assert!(lost(sent.unwrap_err().not_sent()));
        }
    })
    .await;
    assert_eq!(bank.requests(), 0);
}

#[tokio::test]
async fn a_retry_that_comes_after_the_lapse_is_not_sent_where_the_layer_stands_inside_of_it() {
    let now = Arc::new(Notify::new());
    let bank = Bank::start([Then::AnswerWhen(503, Arc::clone(&now))]).await;
    let to = bank.clone();
    run(Some(SHORT), |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let client = ServiceBuilder::new()
            .layer(RetryLayer::new(Again(5)))
            .layer(KEYED)
            .service(client());
        let sent = tokio::spawn(client.oneshot(request(&to, Some(&key))));
        attempt.lease_lost().await;
        now.notify_one();
        assert!(lost(sent.await.unwrap().unwrap_err().not_sent()));
    })
    .await;
    assert_eq!(bank.requests(), 1, "what was sent in time, and no more");
}

#[tokio::test]
async fn on_both_sides_of_a_retry_the_inner_layer_stops_it_after_the_lapse() {
    let now = Arc::new(Notify::new());
    let bank = Bank::start([Then::AnswerWhen(503, Arc::clone(&now))]).await;
    let to = bank.clone();
    run(Some(SHORT), |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let client = ServiceBuilder::new()
            .layer(KEYED)
            .layer(RetryLayer::new(AgainInside(1, Copied::Whole)))
            .layer(KEYED)
            .service(client());
        let sent = tokio::spawn(client.oneshot(request(&to, Some(&key))));
        attempt.lease_lost().await;
        now.notify_one();
        sent.await.unwrap().unwrap_err();
    })
    .await;
    assert_eq!(bank.requests(), 1);
}

/// What the docs say of it plainly, so that nobody takes the outer place for the inner one.
#[tokio::test]
async fn a_retry_further_in_than_the_layer_is_not_stopped_by_it() {
    let now = Arc::new(Notify::new());
    let script = [Then::AnswerWhen(503, Arc::clone(&now)), Then::Answer(200)];
    let bank = Bank::start(script).await;
    let to = bank.clone();
    run(Some(SHORT), |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let client = ServiceBuilder::new()
            .layer(KEYED)
            .layer(RetryLayer::new(AgainInside(1, Copied::Whole)))
            .service(client());
        let sent = tokio::spawn(client.oneshot(request(&to, Some(&key))));
        attempt.lease_lost().await;
        now.notify_one();
        assert_eq!(sent.await.unwrap().unwrap().status(), 200);
    })
    .await;
    assert_eq!(bank.requests(), 2);
}
