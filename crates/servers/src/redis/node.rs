//! One process of Redis, whatever its part: alone, in a cluster, as a sentinel.

use std::path::PathBuf;

use rustix::process::Signal;

use crate::account::Account;
use crate::error::Error;
use crate::port;
use crate::program;
use crate::server::Server;

use super::wire::{self, Reply};

const CONFIGURATION: &str = "redis.conf";
/// The package that brings the server and its command line.
const PACKAGE: &str = "redis-server";

/// A process of Redis on one port, with a configuration file that it may rewrite.
#[derive(Debug)]
pub(crate) struct Node {
    server: Server,
    port: u16,
}

impl Node {
    /// Starts one on a free port, with the lines after those that every process of Redis gets.
    pub(crate) fn start(sentinel: bool, lines: &[impl AsRef<str>]) -> Result<Self, Error> {
        port::on_a_free_one(|port| {
            let node = Self::prepare(port, sentinel)?;
            node.configure(lines)?;
            node.launch()?;
            Ok(node)
        })
    }

    /// Makes its directory. It is to be configured and launched. `sentinel` makes it one.
    pub(crate) fn prepare(port: u16, sentinel: bool) -> Result<Self, Error> {
        let program = program::find("redis-server", PACKAGE)?;
        let server = Server::new("redis", Signal::KILL, |directory| {
            let mut words = vec![program.into(), directory.join(CONFIGURATION).into()];
            words.extend(sentinel.then(|| "--sentinel".into()));
            words
        })?;
        Ok(Self { server, port })
    }

    /// Writes its configuration. The lines follow those that every process of Redis gets, and win over them.
    pub(crate) fn configure(&self, lines: &[impl AsRef<str>]) -> Result<(), Error> {
        let mut text = format!("bind 127.0.0.1\nport {}\n", self.port);
        for line in lines {
            text.push_str(line.as_ref());
            text.push('\n');
        }
        self.write(CONFIGURATION, text.as_bytes()).map(drop)
    }

    /// Starts it, and waits until it answers.
    pub(crate) fn launch(&self) -> Result<(), Error> {
        self.server.launch(|pid| self.is_ready(pid))
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.server.pid()
    }

    pub(crate) fn kill(&self) -> Result<(), Error> {
        self.server.kill()
    }

    pub(crate) fn restart(&self) -> Result<(), Error> {
        self.server.kill()?;
        self.server.launch(|pid| self.is_ready(pid))
    }

    pub(crate) fn freeze(&self) -> Result<(), Error> {
        self.server.freeze()
    }

    pub(crate) fn thaw(&self) -> Result<(), Error> {
        self.server.thaw()
    }

    /// Asks it something. What it refuses is an error.
    pub(crate) fn ask(&self, words: &[&str]) -> Result<Reply, Error> {
        wire::ask(self.port, words).map_err(|error| Error::Answer {
            server: format!("redis on port {}", self.port),
            answer: error.to_string(),
        })
    }

    /// A path in its directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.server.directory().join(name)
    }

    /// Writes a file into its directory, and says where it is.
    pub(crate) fn write(&self, name: &str, text: &[u8]) -> Result<PathBuf, Error> {
        let path = self.file(name);
        Account::Own.write(&path, text)?;
        Ok(path)
    }

    /// It must be this process that answers: another one's server may have the port, and ours not know it yet.
    fn is_ready(&self, pid: u32) -> bool {
        let is_ours = || {
            let info = wire::ask_text(self.port, &["INFO", "server"]).ok()?;
            let process: u32 = wire::field(&info, "process_id")?.parse().ok()?;
            Some(process == pid)
        };
        let answers = || wire::ask_text(self.port, &["PING"]).is_ok_and(|text| text == "PONG");
        is_ours() == Some(true) && answers()
    }
}
