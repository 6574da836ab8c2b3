//! The service on a free port, for the time of a test.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file takes what it needs"
)]

use std::time::Duration;

use counterfoil::{
    KeyId,
    engine::Counterfoil,
    fingerprint::{Key, Keyring},
};
use grpc_payouts::{Payouts, Place, Settings, pb::payouts_client::PayoutsClient, serve};
use tokio::{net::TcpListener, task::JoinHandle};
use tonic::transport::Channel;

pub mod calls;

/// The signing key of every server here, in hex.
pub const KEY: &str = "0707070707070707070707070707070707070707070707070707070707070707";

pub struct Server {
    pub address: String,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start() -> Self {
        Self::on(&Place::Memory, Duration::ZERO).await
    }

    /// With a ledger that takes its time.
    pub async fn on(place: &Place, ledger_takes: Duration) -> Self {
        let key = Key::from_hex(KeyId::parse("k1").unwrap(), KEY).unwrap();
        let keys = Keyring::new(key);
        let store = place.open(&keys).await.unwrap();
        let settings = Settings {
            ledger_takes,
            accepts_lost_writes: place.may_lose_writes(),
        };
        let payouts = Payouts::new(&Counterfoil::new(store, keys), settings).unwrap();
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
