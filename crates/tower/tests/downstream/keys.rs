//! Which key goes out.

use std::convert::Infallible;

use bytes::Bytes;
use counterfoil_tower::{DownstreamError, DownstreamKeyLayer, DownstreamKeyed, NotSent};
use http::Request;
use http_body_util::Full;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, retry::RetryLayer, service_fn};

use crate::{
    bank::{Bank, Then},
    handler::{Again, AgainInside, Copied, client, request, run},
};

const KEYED: DownstreamKeyLayer = DownstreamKeyLayer::new();

fn keyed_client() -> DownstreamKeyed<Client<HttpConnector, Full<Bytes>>> {
    KEYED.layer(client())
}

/// In the layer, a service that can't fail.
fn keyed_service<T: Send + 'static>(
    answer: impl Fn(Request<()>) -> T + Clone + Send + 'static,
) -> impl Service<Request<()>, Response = T, Error = DownstreamError, Future: Send + 'static>
+ Clone
+ Send
+ 'static {
    KEYED.layer(service_fn(move |request| {
        std::future::ready(Ok::<T, Infallible>(answer(request)))
    }))
}

#[tokio::test]
async fn each_try_brings_the_operations_id_and_no_quotes() {
    let bank = Bank::start([Then::Answer(503), Then::Cut, Then::Answer(200)]).await;
    let to = bank.clone();
    let id = run(None, |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let client = ServiceBuilder::new()
            .layer(RetryLayer::new(Again(5)))
            .layer(KEYED)
            .service(client());
        let response = client.oneshot(request(&to, Some(&key))).await.unwrap();
        assert_eq!(response.status(), 200);
        attempt.operation_id().to_string()
    })
    .await;
    assert_eq!(bank.keys(), vec![vec![id]; 3]);
}

#[tokio::test]
async fn a_retry_inside_of_the_layer_brings_the_same_key_also_after_a_cut_connection() {
    let script = [Then::Cut, Then::Answer(503), Then::Answer(200)];
    for copied in [Copied::Whole, Copied::WithoutExtensions] {
        let bank = Bank::start(script.clone()).await;
        let to = bank.clone();
        let id = run(None, move |attempt| async move {
            let key = attempt.downstream_key().unwrap().step("fee").unwrap();
            let client = ServiceBuilder::new()
                .layer(KEYED)
                .layer(RetryLayer::new(AgainInside(5, copied)))
                .service(client());
            let response = client.oneshot(request(&to, Some(&key))).await.unwrap();
            assert_eq!(response.status(), 200);
            key.to_string()
        })
        .await;
        assert_eq!(bank.keys(), vec![vec![id]; 3]);
    }
}

#[tokio::test]
async fn the_layer_may_stand_on_both_sides_of_a_retry() {
    let bank = Bank::start([Then::Answer(503), Then::Answer(200)]).await;
    let to = bank.clone();
    let id = run(None, |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let client = ServiceBuilder::new()
            .layer(KEYED)
            .layer(RetryLayer::new(AgainInside(5, Copied::Whole)))
            .layer(KEYED)
            .service(client());
        let response = client.oneshot(request(&to, Some(&key))).await.unwrap();
        assert_eq!(response.status(), 200);
        key.to_string()
    })
    .await;
    assert_eq!(bank.keys(), vec![vec![id]; 2]);
}

#[tokio::test]
async fn a_request_without_a_key_is_not_sent() {
    let bank = Bank::start([]).await;
    let sent = keyed_client().oneshot(request(&bank, None)).await;
    assert_eq!(sent.unwrap_err().not_sent(), Some(NotSent::NoKey));
    assert_eq!(bank.requests(), 0);
}

#[tokio::test]
async fn a_copy_that_lost_its_key_on_the_way_to_the_layer_is_not_sent() {
    let bank = Bank::start([Then::Answer(503)]).await;
    let to = bank.clone();
    run(None, |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let client = ServiceBuilder::new()
            .layer(RetryLayer::new(AgainInside(1, Copied::WithoutExtensions)))
            .layer(KEYED)
            .service(client());
        // tower's retry sends the first request whole, and the copy second.
        let sent = client.oneshot(request(&to, Some(&key))).await;
        assert_eq!(sent.unwrap_err().not_sent(), Some(NotSent::NoKey));
    })
    .await;
    assert_eq!(bank.requests(), 1);
}

#[tokio::test]
async fn a_key_that_the_request_brings_itself_is_an_error_and_nothing_is_sent() {
    let bank = Bank::start([]).await;
    let to = bank.clone();
    run(None, |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let fee = key.step("fee").unwrap();
        // Also the right one: somebody else thinks that setting it is his, and may be wrong next time.
        for own in ["mine", "\"\"", &key.to_string(), &fee.to_string()] {
            let mut with_own = request(&to, Some(&key));
            with_own
                .headers_mut()
                .insert("idempotency-key", own.parse().unwrap());
            let sent = keyed_client().oneshot(with_own).await;
            assert_eq!(
                sent.unwrap_err().not_sent(),
                Some(NotSent::HeaderPresent),
                "{own}"
            );
        }
    })
    .await;
    assert_eq!(bank.requests(), 0);
}

#[tokio::test]
async fn what_is_changed_between_two_of_the_layers_is_an_error() {
    run(None, |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let other = key.step("fee").unwrap();
        for change in [0, 1, 2] {
            let (key, other) = (key.clone(), other.clone());
            let inner = keyed_service(|_: Request<()>| panic!("nothing is sent"));
            let between = service_fn(move |mut request: Request<()>| {
                let mine = "mine".parse().unwrap();
                match change {
                    0 => drop(request.headers_mut().insert("idempotency-key", mine)),
                    1 => drop(request.headers_mut().append("idempotency-key", mine)),
                    _ => drop(request.extensions_mut().insert(other.clone())),
                }
                inner.clone().oneshot(request)
            });
            let outer = ServiceBuilder::new().layer(KEYED).service(between);
            let request = Request::post("/").extension(key).body(()).unwrap();
            let error = outer.oneshot(request).await.unwrap_err();
            let error = std::error::Error::source(&error)
                .expect("the inner one's")
                .to_string();
            assert_eq!(
                error, "the request was not sent downstream",
                "change {change}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn the_service_that_was_ready_is_the_one_that_is_called() {
    run(None, |attempt| async move {
        let key = attempt.downstream_key().unwrap();
        let mut service = keyed_service(|request: Request<()>| {
            request.headers()["idempotency-key"]
                .to_str()
                .unwrap()
                .to_owned()
        });
        for _ in 0..2 {
            let request = Request::post("/").extension(key.clone()).body(()).unwrap();
            let sent = service.ready().await.unwrap().call(request).await.unwrap();
            assert_eq!(sent, key.to_string());
        }
    })
    .await;
}
