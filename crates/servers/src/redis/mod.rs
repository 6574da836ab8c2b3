//! Redis: alone, as a cluster, behind sentinels.

mod cluster;
mod node;
mod nodes;
mod sentinel;
mod wire;

use crate::error::Error;
use crate::port;
use crate::tls::Tls;

pub use cluster::RedisCluster;
use node::Node;
pub use sentinel::RedisSentinel;

/// One server of Redis, without persistence unless [`RedisStarter::setting`] says otherwise: what it held is gone after
/// a kill.
#[derive(Debug)]
pub struct Redis {
    node: Node,
    url: String,
    tls_port: Option<u16>,
}

/// How a [`Redis`] is to be started.
#[derive(Debug, Clone, Default)]
#[must_use = "nothing is started before `start`"]
pub struct RedisStarter {
    settings: Vec<(String, String)>,
    tls: Option<Tls>,
}

impl Redis {
    /// A plain one.
    pub fn start() -> Result<Self, Error> {
        Self::starter().start()
    }

    /// One with settings of its own.
    pub fn starter() -> RedisStarter {
        RedisStarter::default()
    }

    /// `redis://127.0.0.1:PORT`. It stays the same over restarts.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The port without TLS.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.node.port()
    }

    /// The port with TLS, if [`RedisStarter::tls`] was called.
    #[must_use]
    pub fn tls_port(&self) -> Option<u16> {
        self.tls_port
    }

    /// The server's process. None while it is dead.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.node.pid()
    }

    /// Ends it by SIGKILL, also if it is frozen.
    pub fn kill(&self) -> Result<(), Error> {
        self.node.kill()
    }

    /// Starts it again on the same port and in the same directory, after killing it if it runs. Waits until it answers.
    pub fn restart(&self) -> Result<(), Error> {
        self.node.restart()
    }

    /// Stops its process, so that connections stay and nothing is answered.
    pub fn freeze(&self) -> Result<(), Error> {
        self.node.freeze()
    }

    /// Lets a frozen one go on. It then answers what it was asked meanwhile.
    pub fn thaw(&self) -> Result<(), Error> {
        self.node.thaw()
    }
}

impl RedisStarter {
    /// A line of `redis.conf`, over our own. The value is written as it is, so quote it if it has spaces.
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Listens with TLS as well, on a port of its own. Takes the certificate and its key in PEM.
    pub fn tls(mut self, certificate: &[u8], key: &[u8]) -> Self {
        self.tls = Some(Tls::new(certificate, key));
        self
    }

    /// Starts it, and waits until it answers.
    pub fn start(&self) -> Result<Redis, Error> {
        port::on_a_free_one(|port| self.attempt(port))
    }

    fn attempt(&self, port: u16) -> Result<Redis, Error> {
        let tls_port = self.tls.as_ref().map(|_| port::partner(port));
        let node = Node::prepare(port, false)?;
        let mut lines = nodes::IN_MEMORY
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>();
        if let (Some(tls), Some(port)) = (&self.tls, tls_port) {
            let certificate = node.write("certificate.pem", &tls.certificate)?;
            let key = node.write("key.pem", &tls.key)?;
            lines.push(format!("tls-port {port}"));
            lines.push(format!("tls-cert-file {}", certificate.display()));
            lines.push(format!("tls-key-file {}", key.display()));
            lines.push("tls-auth-clients no".to_owned());
        }
        let settings = self.settings.iter();
        lines.extend(settings.map(|(name, value)| format!("{name} {value}")));
        node.configure(&lines)?;
        node.launch()?;
        Ok(Redis {
            url: format!("redis://127.0.0.1:{port}"),
            node,
            tls_port,
        })
    }
}
