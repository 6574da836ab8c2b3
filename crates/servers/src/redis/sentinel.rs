//! A master of Redis, its replica, and the sentinels that watch them.

use std::time::Duration;

use crate::bounded::until;
use crate::error::Error;
use crate::server::READY;

use super::node::Node;
use super::nodes::{self, Nodes};
use super::wire;

/// The name under which the sentinels know the master.
const SERVICE: &str = "main";
const SENTINELS: usize = 3;
const QUORUM: usize = 2;
/// How long cutting or mending the replication may take to show.
const REPLICATION: Duration = Duration::from_secs(10);
/// A user that no server of Redis has, by which a replica's log-in fails.
const NOBODY: &str = "nobody";

/// A master with one replica behind three sentinels, two of which suffice to replace it. They think it dead after half a
/// second of silence.
///
/// Nodes are named by their ports. A node that was killed comes back empty, as a master by its own account, until the
/// sentinels tell it otherwise.
#[derive(Debug)]
pub struct RedisSentinel {
    nodes: Nodes,
    sentinels: Nodes,
    url: String,
}

impl RedisSentinel {
    /// Starts all, and waits until the replica follows the master and the sentinels know of it and of each other.
    pub fn start() -> Result<Self, Error> {
        Self::start_with(Duration::from_millis(500))
    }

    /// The same, with sentinels that think a node dead after so long.
    pub(crate) fn start_with(down_after: Duration) -> Result<Self, Error> {
        let lines = [nodes::IN_MEMORY, nodes::REPLICATES_AT_ONCE].concat();
        let nodes = Nodes::start(2, false, &lines)?;
        let (master, replica) = nodes.pair();
        replica.ask(&["REPLICAOF", "127.0.0.1", &master.port().to_string()])?;
        // Sentinels look for replicas at once, and then every ten seconds: they must find this one the first time.
        wait("a replica that follows its master", READY, || {
            follows(replica.port())
        })?;

        let lines = [
            format!(
                "sentinel monitor {SERVICE} 127.0.0.1 {} {QUORUM}",
                master.port()
            ),
            format!(
                "sentinel down-after-milliseconds {SERVICE} {}",
                down_after.as_millis()
            ),
            format!("sentinel failover-timeout {SERVICE} 3000"),
        ];
        let sentinels = Nodes::start(SENTINELS, true, &lines)?;
        let all = Self {
            url: format!(
                "redis-sentinel://127.0.0.1{}&sentinelServiceName={SERVICE}",
                sentinels.in_url()
            ),
            nodes,
            sentinels,
        };
        for node in all.sentinels.iter() {
            // They look around every two to ten seconds. Redis 6 knows no way to hurry them, and only takes longer.
            let hurry = [
                "SENTINEL",
                "DEBUG",
                "INFO-PERIOD",
                "500",
                "PUBLISH-PERIOD",
                "200",
            ];
            let _ = node.ask(&hurry);
        }
        wait("sentinels that know each other", READY, || {
            Some(
                all.sentinels
                    .iter()
                    .all(|node| is_informed(node.port()) == Some(true)),
            )
        })?;
        Ok(all)
    }

    /// `redis-sentinel://127.0.0.1:PORT?node=127.0.0.1:PORT&…&sentinelServiceName=main`, with the ports of the sentinels.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The ports of the two nodes with data.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        self.nodes.ports()
    }

    /// The ports of the sentinels.
    #[must_use]
    pub fn sentinel_ports(&self) -> Vec<u16> {
        self.sentinels.ports()
    }

    /// The port of the master, by the word of the first sentinel that answers.
    pub fn master_port(&self) -> Result<u16, Error> {
        let mut named = self
            .sentinels
            .running()
            .filter_map(|node| named_master(node.port()));
        named.next().ok_or_else(|| Error::NotRunning {
            server: "every sentinel".to_owned(),
        })
    }

    /// Kills the master. Says which port that was.
    pub fn kill_master(&self) -> Result<u16, Error> {
        let port = self.master_port()?;
        self.kill(port)?;
        Ok(port)
    }

    /// Stops the master, so that connections stay and nothing is answered. Says which port that is.
    pub fn freeze_master(&self) -> Result<u16, Error> {
        let port = self.master_port()?;
        self.freeze(port)?;
        Ok(port)
    }

    /// Ends the node or sentinel on this port by SIGKILL.
    pub fn kill(&self, port: u16) -> Result<(), Error> {
        self.on(port)?.kill()
    }

    /// Starts the node or sentinel on this port again, after killing it if it runs.
    pub fn restart(&self, port: u16) -> Result<(), Error> {
        self.on(port)?.restart()
    }

    /// Stops the node or sentinel on this port, so that connections stay and nothing is answered.
    pub fn freeze(&self, port: u16) -> Result<(), Error> {
        self.on(port)?.freeze()
    }

    /// Lets a frozen node or sentinel go on.
    pub fn thaw(&self, port: u16) -> Result<(), Error> {
        self.on(port)?.thaw()
    }

    /// Cuts the replica off its master: what is written from here on is lost if the master fails over. Waits until the
    /// link is down on both sides.
    ///
    /// The sentinels notice nothing, but they promote no replica that has been cut off for longer than about five
    /// seconds: the master must fail before.
    pub fn cut_replication(&self) -> Result<(), Error> {
        let (master, replica) = self.master_and_replica()?;
        // The replica still knows its master, so no sentinel sees anything to repair; it just can't log in any more.
        replica.ask(&["CONFIG", "SET", "masteruser", NOBODY, "masterauth", NOBODY])?;
        master.ask(&["CLIENT", "KILL", "TYPE", "replica"])?;
        wait("the cut of the replication", REPLICATION, || {
            let seen = replication(master.port())?;
            let alone = wire::field(&seen, "connected_slaves") == Some("0");
            Some(alone && !follows(replica.port())?)
        })
    }

    /// Lets every node that runs replicate again, after [`cut_replication`](Self::cut_replication). Waits until those
    /// that are replicas do.
    pub fn mend_replication(&self) -> Result<(), Error> {
        for node in self.nodes.running() {
            node.ask(&["CONFIG", "SET", "masteruser", "", "masterauth", ""])?;
        }
        wait("the mending of the replication", REPLICATION, || {
            let mut ports = self.nodes.running().map(Node::port);
            Some(ports.all(|port| follows(port) != Some(false)))
        })
    }

    /// Waits until all sentinels that run name another master than the one on this port, and it agrees that it is one.
    /// Says its port.
    pub fn wait_for_failover(&self, from: u16, bound: Duration) -> Result<u16, Error> {
        let successor = || {
            let mut named = self
                .sentinels
                .running()
                .map(|node| named_master(node.port()));
            let first = named.next()??;
            let agreed = named.all(|other| other == Some(first));
            (agreed && first != from && is_master(first)?).then_some(first)
        };
        let found = until(bound, || Ok(successor()))?;
        found.ok_or_else(|| too_late(&format!("a failover from port {from}"), bound))
    }

    fn on(&self, port: u16) -> Result<&Node, Error> {
        self.nodes.on(port).or_else(|_| self.sentinels.on(port))
    }

    fn master_and_replica(&self) -> Result<(&Node, &Node), Error> {
        let master = self.master_port()?;
        let (first, second) = self.nodes.pair();
        Ok(if first.port() == master {
            (first, second)
        } else {
            (second, first)
        })
    }
}

fn named_master(sentinel: u16) -> Option<u16> {
    let words = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE];
    let address = wire::ask(sentinel, &words).ok()?.texts();
    address.get(1)?.parse().ok()
}

/// Whether a sentinel knows the replica and the other sentinels, and thinks well of the master.
fn is_informed(sentinel: u16) -> Option<bool> {
    let words = wire::ask(sentinel, &["SENTINEL", "MASTER", SERVICE]);
    let words = words.ok()?.texts();
    let value = |name: &str| {
        let pairs = words.chunks_exact(2);
        pairs
            .into_iter()
            .find(|pair| pair[0] == name)
            .map(|pair| &pair[1])
    };
    Some(
        value("flags")? == "master"
            && value("num-slaves")? == "1"
            && value("num-other-sentinels")? == &(SENTINELS - 1).to_string(),
    )
}

fn replication(port: u16) -> Option<String> {
    wire::ask_text(port, &["INFO", "replication"]).ok()
}

fn is_master(port: u16) -> Option<bool> {
    Some(wire::field(&replication(port)?, "role")? == "master")
}

/// Whether a replica's link to its master is up. None for a master.
fn follows(port: u16) -> Option<bool> {
    Some(wire::field(&replication(port)?, "master_link_status")? == "up")
}

fn wait(what: &str, bound: Duration, is_so: impl Fn() -> Option<bool>) -> Result<(), Error> {
    let seen = until(bound, || Ok((is_so() == Some(true)).then_some(())))?;
    seen.ok_or_else(|| too_late(what, bound))
}

fn too_late(what: &str, bound: Duration) -> Error {
    Error::TooLate {
        what: what.to_owned(),
        bound,
        log: String::new(),
    }
}
