//! The server ends when it is told to, whatever its callers do.

use std::{pin::pin, time::Duration};

use counterfoil::{
    KeyId,
    engine::Counterfoil,
    fingerprint::{Key, Keyring},
};
use grpc_payouts::{Payouts, Place, Settings, pb, serve};
use tokio::{net::TcpListener, sync::oneshot, time::timeout};
use tonic::{
    Request, client::Grpc, codegen::http::uri::PathAndQuery, metadata::MetadataValue,
    transport::Endpoint,
};
use tonic_prost::ProstCodec;

/// Over the three seconds that open calls get.
const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_request_that_never_ends_does_not_hold_a_server_that_is_told_to_end() {
    let keys = Keyring::new(Key::random(KeyId::parse("k1").unwrap()));
    let store = Place::Memory.open(&keys).await.unwrap();
    let payouts = Payouts::new(&Counterfoil::new(store, keys), Settings::default()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (end, told) = oneshot::channel::<()>();
    let server = tokio::spawn(serve(payouts, listener, async { drop(told.await) }));

    let channel = Endpoint::from_shared(url).unwrap().connect().await.unwrap();
    let mut caller = Grpc::new(channel.clone());
    caller.ready().await.unwrap();
    let mut open = pin!(async move {
        let never = Request::new(tokio_stream::pending::<pb::Payout>());
        let path = PathAndQuery::from_static("/payouts.v1.Payouts/Preview");
        let codec = ProstCodec::<pb::Payout, pb::Preview>::default();
        caller.client_streaming(never, path, codec).await
    });
    let mut other = pb::payouts_client::PayoutsClient::new(channel);
    let mut after_it = Request::new(pb::LedgerRequest {});
    let token = MetadataValue::from_static("Bearer acme/agent-7");
    after_it.metadata_mut().insert("authorization", token);
    // Asked first, it is with the server once a later call on its connection was answered.
    tokio::select! {
        biased;
        _ = &mut open => panic!("it is never answered"),
        answered = other.ledger(after_it) => answered.expect("effects"),
    };

    end.send(()).unwrap();
    let served = timeout(PATIENCE, server).await.expect("the server ends");
    served.unwrap().unwrap();
}
