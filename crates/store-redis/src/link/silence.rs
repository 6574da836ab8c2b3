//! Timeouts in a row, and when they are too many.
//!
//! The client takes a connection for dead when it owes a reply and nothing was sent for a while. Where callers go on
//! sending it never notices, and a connection that lost one reply stays one behind for ever. So that timeouts are counted
//! here, for each node, until one of its replies arrives.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use fred::types::config::Server;
use tokio::time::Instant;

use super::lock;

/// So many in a row, and for so long, are no hiccup.
const MAX_IN_A_ROW: u32 = 5;
const MAX_SILENCE: Duration = Duration::from_secs(1);

/// `None` is the one server where there is no cluster.
type Node = Option<Server>;

#[derive(Default)]
pub(super) struct Silences {
    /// Whether there is any: all that a healthy connection pays for.
    any: AtomicBool,
    of: Mutex<HashMap<Node, Silence>>,
}

#[derive(Clone, Copy)]
struct Silence {
    since: Instant,
    timeouts: u32,
}

impl Silences {
    /// A reply came.
    pub(super) fn ended(&self, node: impl FnOnce() -> Node) {
        if self.any.load(Ordering::Relaxed) {
            let mut silences = self.silences();
            silences.remove(&node());
            self.any.store(!silences.is_empty(), Ordering::Relaxed);
        }
    }

    /// No reply came in time. Whether the connection is to be given up.
    pub(super) fn went_on(&self, node: Node, now: Instant) -> bool {
        self.any.store(true, Ordering::Relaxed);
        let mut silences = self.silences();
        let silence = silences.entry(node).or_insert(Silence {
            since: now,
            timeouts: 0,
        });
        silence.timeouts += 1;
        let too_long = silence.timeouts >= MAX_IN_A_ROW && now - silence.since >= MAX_SILENCE;
        if too_long {
            silences.clear();
        }
        too_long
    }

    fn silences(&self) -> MutexGuard<'_, HashMap<Node, Silence>> {
        lock(&self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ms: u64, start: Instant) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn a_hiccup_of_many_callers_is_no_silence() {
        let (silences, start) = (Silences::default(), Instant::now());
        for ms in 0..900 {
            assert!(!silences.went_on(None, after(ms, start)));
        }
        silences.ended(|| None);
        assert!(!silences.went_on(None, after(1_500, start)));
    }

    #[test]
    fn five_in_a_row_over_a_second_are_a_silence() {
        let (silences, start) = (Silences::default(), Instant::now());
        for ms in [0, 300, 600, 900] {
            assert!(!silences.went_on(None, after(ms, start)));
        }
        assert!(silences.went_on(None, after(1_200, start)));
        // It is told once, and counted anew.
        assert!(!silences.went_on(None, after(1_300, start)));
    }

    #[test]
    fn few_timeouts_far_apart_are_no_silence_while_replies_come() {
        let (silences, start) = (Silences::default(), Instant::now());
        for ms in (0..60_000).step_by(100) {
            assert!(!silences.went_on(None, after(ms, start)));
            silences.ended(|| None);
        }
    }

    #[test]
    fn a_node_is_silent_although_others_answer() {
        let (silences, start) = (Silences::default(), Instant::now());
        let (dead, alive) = (Server::new("a", 1), Server::new("b", 1));
        let mut given_up = false;
        for ms in (0..=1_200).step_by(300) {
            given_up |= silences.went_on(Some(dead.clone()), after(ms, start));
            silences.ended(|| Some(alive.clone()));
        }
        assert!(given_up);
    }
}
