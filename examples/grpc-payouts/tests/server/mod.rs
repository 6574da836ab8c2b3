//! The service on a free port, for the time of a test.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file takes what it needs"
)]

use counterfoil::{
    KeyId, MemoryStore,
    engine::Counterfoil,
    fingerprint::{Key, Keyring},
};
use grpc_payouts::{Payouts, pb::payouts_client::PayoutsClient, serve};
use tokio::{net::TcpListener, task::JoinHandle};
use tonic::transport::Channel;

pub struct Server {
    pub address: String,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start() -> Self {
        let keys = Keyring::new(Key::random(KeyId::parse("k1").unwrap()));
        let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
        let payouts = Payouts::new(&counterfoil).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let task = tokio::spawn(async move {
            serve(payouts, listener, std::future::pending())
                .await
                .unwrap();
        });
        Self { address, task }
    }

    pub async fn client(&self) -> PayoutsClient<Channel> {
        let url = format!("http://{}", self.address);
        PayoutsClient::connect(url).await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}
