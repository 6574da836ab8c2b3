//! Several processes of Redis, told apart by their ports.

use std::thread;

use crate::error::Error;

use super::node::Node;

/// Nothing is kept on disk.
pub(crate) const IN_MEMORY: &[&str] = &["save \"\"", "appendonly no"];
/// A replica follows from the moment at which it says that its link is up. With the other way of copying, by no file, its
/// master sends it nothing for up to a second longer.
pub(crate) const REPLICATES_AT_ONCE: &[&str] = &["repl-diskless-sync no"];

/// Processes that were started together.
#[derive(Debug)]
pub(crate) struct Nodes(Vec<Node>);

impl Nodes {
    /// So many, started at once, with the same lines.
    pub(crate) fn start(
        count: usize,
        sentinel: bool,
        lines: &[impl AsRef<str> + Sync],
    ) -> Result<Self, Error> {
        thread::scope(|scope| {
            let starts: Vec<_> = (0..count)
                .map(|_| scope.spawn(|| Node::start(sentinel, lines)))
                .collect();
            let nodes = starts
                .into_iter()
                .map(|start| start.join().expect("a start does not panic"));
            Ok(Self(nodes.collect::<Result<_, _>>()?))
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Node> {
        self.0.iter()
    }

    pub(crate) fn ports(&self) -> Vec<u16> {
        self.iter().map(Node::port).collect()
    }

    /// The two of two.
    pub(crate) fn pair(&self) -> (&Node, &Node) {
        let [first, second] = &self.0[..] else {
            unreachable!("only who started two asks for them");
        };
        (first, second)
    }

    /// Those that were not killed.
    pub(crate) fn running(&self) -> impl Iterator<Item = &Node> {
        self.iter().filter(|node| node.pid().is_some())
    }

    /// The one on this port.
    pub(crate) fn on(&self, port: u16) -> Result<&Node, Error> {
        let node = self.iter().find(|node| node.port() == port);
        node.ok_or_else(|| Error::NotRunning {
            server: format!("a redis of ours on port {port}"),
        })
    }

    /// What follows the host in an address: the first port, and the others as further nodes.
    pub(crate) fn in_url(&self) -> String {
        let mut text = String::new();
        for (index, port) in self.ports().into_iter().enumerate() {
            text.push_str(match index {
                0 => ":",
                1 => "?node=127.0.0.1:",
                _ => "&node=127.0.0.1:",
            });
            text.push_str(&port.to_string());
        }
        text
    }
}
