//! The connection: made in the background and made again whenever it breaks, with an end to every wait.

mod keeper;
mod silence;

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use counterfoil_core::store::StoreError;
use fred::{
    clients::Client,
    error::{Error, ErrorKind},
    interfaces::{ClientLike, ClusterInterface},
    types::{
        Builder, ClusterHash, CustomCommand, RespVersion, Value,
        config::{Options, ReconnectPolicy, Server, UnresponsiveConfig},
    },
};
use socket2::TcpKeepalive;
use tokio::time::{Instant, sleep_until};

pub(crate) use self::keeper::AbortOnDrop;
use self::{
    keeper::{State, keep_connected},
    silence::Silences,
};
use crate::{RedisConfig, failure};

/// A client of Redis and the task that keeps it connected. Dropping it ends both at once.
pub(crate) struct Link {
    client: Client,
    state: Arc<State>,
    last_reset: Mutex<Option<Instant>>,
    silences: Silences,
    command_timeout: Duration,
    nonce: AtomicU64,
    _keeper: AbortOnDrop,
}

/// More than this wait for an answer only where something is wrong; the next is refused at once.
const MAX_WAITING: usize = 10_000;

/// A connection that owes a reply for this long is dead: longer than any pause of a healthy server, such as a fork.
const UNRESPONSIVE: Duration = Duration::from_secs(2);

/// As much news is kept for a listener that is busy.
const MAX_NEWS: usize = 1_024;

/// A connection that only listens finds out by these that the other end has gone.
fn keepalive() -> TcpKeepalive {
    TcpKeepalive::new()
        .with_time(Duration::from_secs(15))
        .with_interval(Duration::from_secs(5))
}

/// Between two attempts to connect: at first at once, soon once a second, and for ever.
fn policy() -> ReconnectPolicy {
    let mut policy = ReconnectPolicy::new_exponential(0, 10, 1_000, 2);
    policy.set_jitter(10);
    policy
}

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Commands, and their replies.
    Commands,
    /// News of channels. It speaks RESP3, which tells news from replies.
    Channels,
}

impl Link {
    /// Begins to connect. Needs a tokio runtime to run in.
    pub(crate) fn open(
        config: &RedisConfig,
        command_timeout: Duration,
        way: Use,
    ) -> Result<Self, Error> {
        let connect_timeout = config.connect_timeout();
        let mut server = config.server();
        if way == Use::Channels {
            server.version = RespVersion::RESP3;
        }
        let client = Builder::from_config(server)
            .with_connection_config(|connection| {
                connection.connection_timeout = connect_timeout;
                connection.internal_command_timeout = connect_timeout;
                connection.max_command_buffer_len = MAX_WAITING;
                connection.tcp.nodelay = Some(true);
                connection.tcp.keepalive = Some(keepalive());
                connection.unresponsive = UnresponsiveConfig {
                    max_timeout: Some(UNRESPONSIVE),
                    interval: UNRESPONSIVE / 4,
                };
                // The client would hand such an error to every command on its way, done or not. Said here, since another
                // user of the client in the same program may switch its list of defaults on.
                connection.reconnect_errors = Vec::new();
            })
            .with_performance_config(|performance| {
                performance.default_command_timeout = command_timeout;
                performance.broadcast_channel_capacity = MAX_NEWS;
            })
            .set_policy(policy())
            .build()?;
        let state = Arc::new(State::new());
        let keeper = keep_connected(client.clone(), Arc::clone(&state));
        Ok(Self {
            client,
            state,
            last_reset: Mutex::default(),
            silences: Silences::default(),
            command_timeout,
            nonce: AtomicU64::new(first_nonce()),
            _keeper: AbortOnDrop(tokio::spawn(keeper)),
        })
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    /// Whether a command would go out. One that is about to be dropped is none.
    pub(crate) fn is_connected(&self) -> bool {
        self.state.stands() && self.client.is_connected()
    }

    pub(crate) fn is_clustered(&self) -> bool {
        self.client.is_clustered()
    }

    /// When a call that begins now has to end.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.command_timeout
    }

    /// A number that no other call of this process has.
    pub(crate) fn nonce(&self) -> [u8; 8] {
        self.nonce.fetch_add(1, Ordering::Relaxed).to_be_bytes()
    }

    /// Waits until there is a connection, and no longer than this.
    ///
    /// # Errors
    ///
    /// `NotApplied`: there is none.
    pub(crate) async fn connected(&self, until: Instant) -> Result<(), StoreError> {
        while !self.is_connected() {
            // The client tells of a connection only those who wait already, so that this looks again and again.
            let next = Instant::now() + Duration::from_millis(2);
            sleep_until(until.min(next)).await;
            if next >= until && !self.is_connected() {
                let error = failure::not_connected();
                return Err(match self.state.last_error() {
                    Some(source) => error.with_source(source),
                    None => error,
                });
            }
        }
        Ok(())
    }

    /// Sends one command, once: where the reply is lost, that is told, and nothing is sent again behind the caller's back.
    pub(crate) async fn send(
        &self,
        name: &'static str,
        place: Place,
        args: Vec<Value>,
        until: Instant,
    ) -> Result<Value, Error> {
        let left = until.saturating_duration_since(Instant::now());
        let (slot, hash, node) = match place {
            Place::Slot(slot) => (Some(slot), ClusterHash::Custom(slot), None),
            Place::Node(node) => (None, ClusterHash::FirstKey, Some(node)),
            Place::Anywhere => (None, ClusterHash::Random, None),
        };
        let options = Options {
            fail_fast: true,
            // To the client no time at all means for ever.
            timeout: Some(left.max(Duration::from_millis(1))),
            cluster_node: node.clone(),
            ..Options::default()
        };
        let command = CustomCommand::new_static(name, hash, false);
        let answer = self
            .client
            .with_options(&options)
            .custom(command, args)
            .await;
        let node = || node.or_else(|| self.node_of(slot?));
        match &answer {
            Err(error) if *error.kind() == ErrorKind::Timeout => {
                if self.silences.went_on(node(), Instant::now()) {
                    self.suspect();
                }
            }
            Err(error) if failure::is_of_a_lesser_server(error) => self.suspect(),
            _ => self.silences.ended(node),
        }
        answer
    }

    /// The node that has a slot, as far as the client knows; `None` where there is no cluster.
    fn node_of(&self, slot: u16) -> Option<Server> {
        let nodes = self.client.cached_cluster_state()?;
        nodes.get_server(slot).cloned()
    }

    /// Which connection a call that begins now goes over.
    pub(crate) fn connection(&self) -> u64 {
        self.state.connection()
    }

    /// Drops a connection, with all that is on its way, and makes another; once, however many calls find it broken.
    pub(crate) fn drop_connection(&self, which: u64) {
        self.state.drop_connection(which);
    }

    /// Drops a connection that may be the wrong one, at most once a second: a server without replicas may be the only one
    /// there is, and somebody may write what nobody vouches for as fast as he can.
    pub(crate) fn suspect(&self) {
        let mut last = lock(&self.last_reset);
        let now = Instant::now();
        if last.is_none_or(|last| now - last > Duration::from_secs(1)) {
            *last = Some(now);
            self.drop_connection(self.connection());
        }
    }
}

/// Which server a command goes to.
#[derive(Clone)]
pub(crate) enum Place {
    /// The one that has this slot.
    Slot(u16),
    /// This one.
    Node(Server),
    /// Any.
    Anywhere,
}

/// Differs from process to process, so that a reply to one is not taken for another's.
fn first_nonce() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("connected", &self.is_connected())
            .field("command_timeout", &self.command_timeout)
            .finish_non_exhaustive()
    }
}
