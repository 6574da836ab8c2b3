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

    pub(crate) async fn get(&self, key: &str) -> Option<Bytes> {
        self.0.get(key).await.expect("an answer")
    }

    /// What is there.
    pub(crate) async fn value(&self, key: &str) -> Bytes {
        self.get(key).await.expect("a value")
    }

    pub(crate) async fn set(&self, key: &str, value: impl Into<Bytes>) {
        let _: () = self
            .0
            .set(key, value.into(), None, None, false)
            .await
            .expect("it is taken");
    }

    pub(crate) async fn expires_at(&self, key: &str) -> i64 {
        self.0.pexpire_time(key).await.expect("an answer")
    }

    /// How often the server has run a command since it was last told to forget.
    pub(crate) async fn calls(&self, command: &str) -> u64 {
        let line = format!("cmdstat_{command}:calls=");
        self.figure("commandstats", &line).await.unwrap_or(0.0) as u64
    }

    /// How long half of these took at the most, in microseconds.
    pub(crate) async fn median_time(&self, command: &str) -> f64 {
        let line = format!("latency_percentiles_usec_{command}:p50=");
        self.figure("latencystats", &line)
            .await
            .expect("it has run")
    }

    async fn figure(&self, section: &str, line: &str) -> Option<f64> {
        let stats: String = self.ask("INFO", &[section]).await;
        let figure = stats.lines().find_map(|all| all.strip_prefix(line))?;
        let figure = figure.split(',').next().expect("the first part");
        Some(figure.parse().expect("a number"))
    }
}

/// The key of an operation in a store: part of what is documented, since operators look for it.
pub(crate) fn key(prefix: &str, id: OperationId) -> String {
    format!("{prefix}{{{}}}", id.simple())
}
