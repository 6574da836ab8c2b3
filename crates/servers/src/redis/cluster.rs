//! A cluster of Redis.

use std::process::Command;
use std::time::Duration;

use crate::bounded::{self, until};
use crate::error::Error;
use crate::program;
use crate::server::READY;

use super::nodes::{self, Nodes};
use super::wire;

const NODES: usize = 6;
/// How long `redis-cli` may take to join the nodes.
const CREATE: Duration = Duration::from_secs(60);

/// A cluster of three masters with a replica each, that notices the death of a node after a second.
///
/// Nodes are named by their ports. A node that was killed comes back empty, and gets the data from the master that it
/// finds.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Nodes,
    url: String,
}

impl RedisCluster {
    /// Starts the nodes, and waits until all slots are served and every replica follows its master.
    pub fn start() -> Result<Self, Error> {
        Self::start_with(Duration::from_secs(1))
    }

    /// The same, with nodes that think another one dead after so long.
    pub(crate) fn start_with(timeout: Duration) -> Result<Self, Error> {
        let timeout = format!("cluster-node-timeout {}", timeout.as_millis());
        let lines = [
            nodes::IN_MEMORY,
            nodes::REPLICATES_AT_ONCE,
            &["cluster-enabled yes", &timeout],
        ];
        let nodes = Nodes::start(NODES, false, &lines.concat())?;
        let cluster = Self {
            url: format!("redis-cluster://127.0.0.1{}", nodes.in_url()),
            nodes,
        };
        cluster.join()?;
        cluster.wait_until_whole(READY)?;
        Ok(cluster)
    }

    /// `redis-cluster://127.0.0.1:PORT?node=127.0.0.1:PORT&…`, with all nodes.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The ports of all nodes.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        self.nodes.ports()
    }

    /// The ports of those that are masters now, in the order of their slots.
    pub fn masters(&self) -> Result<Vec<u16>, Error> {
        let view = self.view()?;
        let mut masters: Vec<_> = view.iter().filter(|member| member.serves()).collect();
        masters.sort_by_key(|member| member.slots.iter().map(|(first, _)| *first).min());
        Ok(masters.into_iter().map(|member| member.port).collect())
    }

    /// The port of the master that serves this key now.
    pub fn master_of(&self, key: &str) -> Result<u16, Error> {
        let slot = match self.any()?.ask(&["CLUSTER", "KEYSLOT", key])? {
            wire::Reply::Integer(slot) => slot,
            other => return Err(unexpected(&other)),
        };
        let view = self.view()?;
        let has = |member: &&Member| {
            let mut slots = member.slots.iter();
            slots.any(|(first, last)| (*first..=*last).contains(&slot))
        };
        let master = view.iter().find(has);
        master
            .map(|member| member.port)
            .ok_or_else(|| unexpected(&slot))
    }

    /// Kills a master: 0 is the one with the first slots, 2 the one with the last. Says which port that was.
    pub fn kill_master(&self, which: usize) -> Result<u16, Error> {
        let masters = self.masters()?;
        let port = masters.get(which).ok_or_else(|| unexpected(&masters))?;
        self.kill(*port)?;
        Ok(*port)
    }

    /// Ends the node on this port by SIGKILL.
    pub fn kill(&self, port: u16) -> Result<(), Error> {
        self.nodes.on(port)?.kill()
    }

    /// Starts the node on this port again, after killing it if it runs.
    pub fn restart(&self, port: u16) -> Result<(), Error> {
        self.nodes.on(port)?.restart()
    }

    /// Stops the node on this port, so that connections stay and nothing is answered.
    pub fn freeze(&self, port: u16) -> Result<(), Error> {
        self.nodes.on(port)?.freeze()
    }

    /// Lets a frozen node go on.
    pub fn thaw(&self, port: u16) -> Result<(), Error> {
        self.nodes.on(port)?.thaw()
    }

    /// Waits until the other nodes agree that the node on this port is no master any more and that all slots are served.
    /// It is to have been killed or frozen.
    pub fn wait_for_failover(&self, from: u16, bound: Duration) -> Result<(), Error> {
        let what = format!("a failover of the cluster from port {from}");
        self.wait(&what, bound, |port| {
            if port == from {
                return Some(true);
            }
            let serves = members(port)?
                .iter()
                .any(|member| member.port == from && member.serves());
            Some(!serves && is_ok(port)?)
        })
    }

    /// Waits until every node that runs says that all slots are served, and every replica among them follows its master.
    pub fn wait_until_whole(&self, bound: Duration) -> Result<(), Error> {
        self.wait("a whole cluster", bound, |port| {
            let replication = wire::ask_text(port, &["INFO", "replication"]).ok()?;
            let link = wire::field(&replication, "master_link_status");
            Some(is_ok(port)? && link.is_none_or(|link| link == "up"))
        })
    }

    /// Waits until it is so for every node that was not killed.
    fn wait(
        &self,
        what: &str,
        bound: Duration,
        is_so: impl Fn(u16) -> Option<bool>,
    ) -> Result<(), Error> {
        let all = until(bound, || {
            let mut running = self.nodes.running();
            Ok(running
                .all(|node| is_so(node.port()) == Some(true))
                .then_some(()))
        })?;
        all.ok_or_else(|| Error::TooLate {
            what: what.to_owned(),
            bound,
            log: String::new(),
        })
    }

    fn join(&self) -> Result<(), Error> {
        let mut command = Command::new(program::find("redis-cli", "redis-tools")?);
        command.args(["--cluster", "create"]);
        command.args(self.ports().iter().map(|port| format!("127.0.0.1:{port}")));
        command.args(["--cluster-replicas", "1", "--cluster-yes"]);
        let output = self.any()?.file("create.log");
        bounded::run(&mut command, &output, CREATE)
    }

    /// A node that answers.
    fn any(&self) -> Result<&super::node::Node, Error> {
        let answers = |node: &&super::node::Node| wire::ask(node.port(), &["PING"]).is_ok();
        let node = self.nodes.running().find(answers);
        node.ok_or_else(|| Error::NotRunning {
            server: "every node of the cluster".to_owned(),
        })
    }

    fn view(&self) -> Result<Vec<Member>, Error> {
        let port = self.any()?.port();
        members(port).ok_or_else(|| unexpected(&"no list of nodes"))
    }
}

/// A node as another one sees it.
#[derive(Debug, PartialEq, Eq)]
struct Member {
    port: u16,
    is_master: bool,
    /// Ranges of slots, with their ends.
    slots: Vec<(i64, i64)>,
}

impl Member {
    fn serves(&self) -> bool {
        self.is_master && !self.slots.is_empty()
    }
}

fn members(port: u16) -> Option<Vec<Member>> {
    let text = wire::ask_text(port, &["CLUSTER", "NODES"]).ok()?;
    text.lines().map(parse).collect()
}

/// `ID IP:PORT@BUS FLAGS MASTER PING PONG EPOCH LINK SLOTS…`, where slots are `N` or `N-M`, or in brackets while they move.
fn parse(line: &str) -> Option<Member> {
    let mut words = line.split(' ');
    let address = words.nth(1)?;
    let (_, port) = address.split('@').next()?.rsplit_once(':')?;
    let flags = words.next()?;
    let slots = words
        .skip(5)
        .filter(|word| !word.starts_with('['))
        .map(|word| {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            Some((first.parse().ok()?, last.parse().ok()?))
        });
    Some(Member {
        port: port.parse().ok()?,
        is_master: flags.split(',').any(|flag| flag == "master"),
        slots: slots.collect::<Option<_>>()?,
    })
}

fn is_ok(port: u16) -> Option<bool> {
    let info = wire::ask_text(port, &["CLUSTER", "INFO"]).ok()?;
    let number = |name| wire::field(&info, name).and_then(|value| value.parse::<usize>().ok());
    Some(
        wire::field(&info, "cluster_state") == Some("ok")
            && number("cluster_slots_ok") == Some(16_384)
            && number("cluster_known_nodes") == Some(NODES),
    )
}

fn unexpected(answer: &impl std::fmt::Debug) -> Error {
    Error::Answer {
        server: "the cluster".to_owned(),
        answer: format!("{answer:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_about_a_node_is_understood() {
        let line = "ab 127.0.0.1:7000@17000,host myself,master - 0 0 1 connected 0-5 7 [8->-cd]";
        assert_eq!(
            parse(line),
            Some(Member {
                port: 7000,
                is_master: true,
                slots: vec![(0, 5), (7, 7)]
            })
        );
        let line = "ab 127.0.0.1:7001@17001 slave,fail cd 0 0 1 connected";
        let member = parse(line).expect("it is a line");
        assert!(!member.is_master && member.slots.is_empty());
    }
}
