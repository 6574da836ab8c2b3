//! A plain client beside the store, to look at what is in Redis and to change it.

use std::time::Duration;

use bytes::Bytes;
use counterfoil_core::OperationId;
use fred::{
    clients::Client,
    interfaces::{ClientLike, KeysInterface},
    types::{Builder, ClusterHash, CustomCommand, FromValue, Value, config::Config},
};

pub(crate) struct Redis(Client);

impl Redis {
    pub(crate) async fn connect(url: &str) -> Self {
        let config = Config::from_url(url).expect("a valid address");
        let client = Builder::from_config(config)
            .with_performance_config(|performance| {
                performance.default_command_timeout = Duration::from_secs(5);
            })
            .build()
            .expect("a client");
        client.init().await.expect("the server is there");
        Self(client)
    }

    pub(crate) async fn ask<R: FromValue>(&self, name: &'static str, words: &[&str]) -> R {
        let command = CustomCommand::new_static(name, ClusterHash::Random, false);
        let words: Vec<_> = words.iter().map(|word| Value::from(*word)).collect();
        self.0.custom(command, words).await.expect("an answer")
    }

    pub(crate) async fn get(&self, key: &str) -> Bytes {
        self.0.get(key).await.expect("a value")
    }

    pub(crate) async fn set(&self, key: &str, value: Bytes) {
        let _: () = self
            .0
            .set(key, value, None, None, false)
            .await
            .expect("it is taken");
    }
}

/// The key of an operation: part of what is documented, since operators look for it.
pub(crate) fn key(prefix: &str, id: OperationId) -> String {
    format!("{prefix}{{{}}}", id.simple())
}
