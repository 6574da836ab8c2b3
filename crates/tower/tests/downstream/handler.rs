//! A handler's run, and the client that it has.

use std::{future, time::Duration};

use bytes::Bytes;
use counterfoil_core::{
    KeyId, Scope, Subject,
    answer::Status,
    engine::{Attempt, Counterfoil, DownstreamKey, LeaseTime, Outcome},
    fingerprint::{Key, Keyring},
};
use counterfoil_store_memory::MemoryStore;
use counterfoil_tower::DownstreamError;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tower::retry::Policy;

use crate::bank::Bank;

pub(crate) type Sent = Request<Full<Bytes>>;

/// A lease that ends soon, and is not renewed.
pub(crate) const SHORT: Duration = Duration::from_millis(300);

/// Runs a handler once, under a real gate, and hands out what it says.
pub(crate) async fn run<F, Fut, T>(lease: Option<Duration>, handler: F) -> T
where
    F: FnOnce(Attempt) -> Fut + Send + 'static,
    Fut: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let keys = Keyring::new(Key::random(KeyId::parse("k1").unwrap()));
    let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
    let mut gate = counterfoil.gate::<u64>(Scope::new("payments.transfer"));
    if let Some(lease) = lease {
        let few = Duration::from_millis(1);
        let time = LeaseTime::for_downstream(few, few, few)
            .with_max_run(lease)
            .with_lease(lease)
            .without_renewal();
        gate = gate.with_lease_time(time);
    }
    let gate = gate.build().unwrap();
    let agent = Subject::new("acme", "agent-7").unwrap();
    let params = gate.bind(7).unwrap();
    let preview = gate.preview(&agent, &params).await.unwrap();
    let (tx, rx) = tokio::sync::oneshot::channel();
    let answer = gate
        .run(
            &agent,
            preview.fingerprint.as_str(),
            params,
            |attempt, _| async move {
                assert!(tx.send(handler(attempt).await).is_ok());
                Outcome::done(&1)
            },
        )
        .await;
    assert_eq!(answer.status, Status::Completed);
    rx.await.unwrap()
}

/// hyper's own client, which keeps connections and speaks to real sockets.
pub(crate) fn client() -> Client<HttpConnector, Full<Bytes>> {
    Client::builder(TokioExecutor::new()).build_http()
}

pub(crate) fn request(bank: &Bank, key: Option<&DownstreamKey>) -> Sent {
    let mut request = Request::post(format!("http://{}/payments", bank.address));
    if let Some(key) = key {
        request = request.extension(key.clone());
    }
    request.body(Full::from(r#"{"amount":"10"}"#)).unwrap()
}

/// Sends again after a status of the server's failure and after an error, so many times. A refusal of the layer is final.
#[derive(Clone)]
pub(crate) struct Again(pub(crate) u32);

impl Policy<Sent, Response<Incoming>, DownstreamError> for Again {
    type Future = future::Ready<()>;

    fn retry(
        &mut self,
        _: &mut Sent,
        result: &mut Result<Response<Incoming>, DownstreamError>,
    ) -> Option<Self::Future> {
        let again = match result {
            Ok(response) => response.status().is_server_error(),
            Err(error) => error.not_sent().is_none(),
        };
        self.tried(again)
    }

    fn clone_request(&mut self, request: &Sent) -> Option<Sent> {
        Some(request.clone())
    }
}

/// As [`Again`], further in, where errors are the client's.
#[derive(Clone)]
pub(crate) struct AgainInside(pub(crate) u32, pub(crate) Copied);

/// What a policy copies of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copied {
    Whole,
    /// As many policies do that are written by hand.
    WithoutExtensions,
}

impl<E> Policy<Sent, Response<Incoming>, E> for AgainInside {
    type Future = future::Ready<()>;

    fn retry(
        &mut self,
        _: &mut Sent,
        result: &mut Result<Response<Incoming>, E>,
    ) -> Option<Self::Future> {
        let again = result
            .as_ref()
            .map_or(true, |r| r.status().is_server_error());
        if !again || self.0 == 0 {
            return None;
        }
        self.0 -= 1;
        Some(future::ready(()))
    }

    fn clone_request(&mut self, request: &Sent) -> Option<Sent> {
        let mut copy = request.clone();
        if self.1 == Copied::WithoutExtensions {
            copy.extensions_mut().clear();
        }
        Some(copy)
    }
}

impl Again {
    fn tried(&mut self, again: bool) -> Option<future::Ready<()>> {
        if !again || self.0 == 0 {
            return None;
        }
        self.0 -= 1;
        Some(future::ready(()))
    }
}
