//! A running ledger that takes grants.

use std::net::SocketAddr;

use serde_json::Value;

use crate::{Call, Program, Reply, Scratch, process::Running, secrets::Secrets};

/// A ledger on a free port of the loopback, over a file. When it is dropped it ends, and its log is searched for its keys
/// and for what it was told not to log.
#[derive(Debug)]
pub struct GrantedLedger {
    running: Running,
    address: SocketAddr,
    secrets: Secrets,
}

impl GrantedLedger {
    /// Starts one with these grant keys.
    ///
    /// # Panics
    ///
    /// If it is not built, or doesn't say where it listens.
    #[must_use]
    pub fn start(file: &Scratch, grant_keys: &str) -> Self {
        Self::start_at("127.0.0.1:0", file, grant_keys)
    }

    /// As [`start`](Self::start), at this address.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_at(listen: &str, file: &Scratch, grant_keys: &str) -> Self {
        let secrets = Secrets::default();
        secrets.keep_keys(grant_keys);
        let arguments = ["--listen", listen, "--file", file.as_str()];
        let program = Program::granted_ledger(arguments);
        let mut running = program
            .with_env("COUNTERFOIL_GRANT_KEYS", grant_keys)
            .start();
        let address = running.listening("ledger");
        Self {
            running,
            address,
            secrets,
        }
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends it a call.
    ///
    /// # Panics
    ///
    /// If no answer comes.
    pub async fn send(&self, call: Call) -> Reply {
        call.version(http::Version::HTTP_11)
            .send(self.address)
            .await
            .expect("an answer")
    }

    /// Its entries, or those of one operation.
    ///
    /// # Panics
    ///
    /// If it can't be read.
    pub async fn entries(&self, of: Option<&str>) -> Vec<Value> {
        let query = of
            .map(|id| format!("?operation_id={id}"))
            .unwrap_or_default();
        let reply = self.send(Call::get(format!("/entries{query}"))).await;
        assert_eq!(reply.status, 200, "{reply:#?}");
        reply.json()["entries"].as_array().expect("entries").clone()
    }

    /// What it logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.running.stderr.so_far()
    }

    /// Adds a text to what must not be in the log when this ledger ends.
    pub fn must_not_log(&self, text: &str) {
        self.secrets.keep(text);
    }

    /// Ends it as `kill -9` does.
    pub fn kill(mut self) {
        self.running.output();
    }
}

impl Drop for GrantedLedger {
    fn drop(&mut self) {
        let (_, log) = self.running.output();
        if !std::thread::panicking() {
            let secret = self.secrets.found_in(&log);
            assert_eq!(secret, None, "a secret stands in the output\n{log}");
        }
    }
}
