//! The connection: made in the background and made again whenever it breaks, with an end to every wait.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use counterfoil_core::store::StoreError;
use fred::{
    clients::Client,
    error::{Error, ErrorKind},
    interfaces::{ClientLike, EventInterface},
    types::{
        Builder, ClusterHash, CustomCommand, RespVersion, Value,
        config::{Options, ReconnectPolicy, Server, UnresponsiveConfig},
    },
};
use socket2::TcpKeepalive;
use tokio::{
    sync::Notify,
    task::JoinHandle,
    time::{Instant, sleep, sleep_until},
};

use crate::{RedisConfig, failure};

/// A client of Redis and the task that keeps it connected. Dropping it ends both at once.
pub(crate) struct Link {
    client: Client,
    state: Arc<State>,
    last_reset: Mutex<Option<Instant>>,
    silence: Mutex<Silence>,
    command_timeout: Duration,
    nonce: AtomicU64,
    _keeper: AbortOnDrop,
}

/// What the link and its task tell each other.
struct State {
    broken: Notify,
    /// How many connections were to be dropped.
    dropped: AtomicU64,
    /// The same as it was when the client last began to connect; `NONE` while it does not.
    standing: AtomicU64,
    last_error: Mutex<Option<Error>>,
}

const NONE: u64 = u64::MAX;

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
                // The client would hand such an error to every command on its way, done or not.
                connection.reconnect_errors = Vec::new();
            })
            .with_performance_config(|performance| {
                performance.default_command_timeout = command_timeout;
                performance.broadcast_channel_capacity = MAX_NEWS;
            })
            .set_policy(policy())
            .build()?;
        let state = Arc::new(State {
            broken: Notify::new(),
            dropped: AtomicU64::new(0),
            standing: AtomicU64::new(NONE),
            last_error: Mutex::default(),
        });
        let keeper = keep_connected(client.clone(), Arc::clone(&state));
        Ok(Self {
            client,
            state,
            last_reset: Mutex::default(),
            silence: Mutex::default(),
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
        let standing = self.state.standing.load(Ordering::SeqCst);
        standing == self.connection() && self.client.is_connected()
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
                return Err(match lock(&self.state.last_error).clone() {
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
        let (hash, node) = match place {
            Place::Slot(slot) => (ClusterHash::Custom(slot), None),
            Place::Node(node) => (ClusterHash::FirstKey, Some(node)),
            Place::Anywhere => (ClusterHash::Random, None),
        };
        let options = Options {
            fail_fast: true,
            // To the client no time at all means for ever.
            timeout: Some(left.max(Duration::from_millis(1))),
            cluster_node: node,
            ..Options::default()
        };
        let command = CustomCommand::new_static(name, hash, false);
        let answer = self
            .client
            .with_options(&options)
            .custom(command, args)
            .await;
        match &answer {
            Err(error) if failure::is_of_a_lesser_server(error) => self.suspect(),
            Err(error) if *error.kind() == ErrorKind::Timeout => self.was_silent(),
            _ => {}
        }
        answer
    }

    /// The client takes a connection for dead when it owes a reply and nothing is sent for a while. Where others go on
    /// sending it never notices, so that the timeouts are counted here.
    fn was_silent(&self) {
        let window = UNRESPONSIVE.max(self.command_timeout * (MAX_TIMEOUTS + 2));
        if lock(&self.silence).is_too_long(Instant::now(), window) {
            self.suspect();
        }
    }

    /// Which connection a call that begins now goes over.
    pub(crate) fn connection(&self) -> u64 {
        self.state.dropped.load(Ordering::SeqCst)
    }

    /// Drops a connection, with all that is on its way, and makes another; once, however many calls find it broken.
    pub(crate) fn drop_connection(&self, which: u64) {
        let one_more = self.state.dropped.compare_exchange(
            which,
            which + 1,
            Ordering::SeqCst,
            Ordering::SeqCst,
        );
        if one_more.is_ok() {
            self.state.broken.notify_one();
        }
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

/// Timeouts of late.
#[derive(Default)]
struct Silence {
    since: Option<Instant>,
    timeouts: u32,
}

/// So many of late are no accident. Those that answer in between don't count against it: they may be other nodes.
const MAX_TIMEOUTS: u32 = 5;

impl Silence {
    /// Counts one more.
    fn is_too_long(&mut self, now: Instant, window: Duration) -> bool {
        if self.since.is_none_or(|since| now - since > window) {
            *self = Self {
                since: Some(now),
                timeouts: 0,
            };
        }
        self.timeouts += 1;
        if self.timeouts < MAX_TIMEOUTS {
            return false;
        }
        *self = Self::default();
        true
    }
}

/// Which server a command goes to.
pub(crate) enum Place {
    /// The one that has this slot.
    Slot(u16),
    /// This one.
    Node(Server),
    /// Any.
    Anywhere,
}

/// Runs the client's own task, and starts it again where it ends, as it does on errors that it takes for final.
async fn keep_connected(client: Client, state: Arc<State>) {
    let mut errors = client.error_rx();
    loop {
        let dropped = state.dropped.load(Ordering::SeqCst);
        let mut running = AbortOnDrop(client.connect());
        state.standing.store(dropped, Ordering::SeqCst);
        let pause = loop {
            tokio::select! {
                ended = &mut running.0 => {
                    if let Ok(Err(error)) = ended {
                        *lock(&state.last_error) = Some(error);
                    }
                    break Duration::from_secs(1);
                }
                () = state.broken.notified() => break Duration::ZERO,
                Ok((error, _)) = errors.recv() => *lock(&state.last_error) = Some(error),
            }
        };
        state.standing.store(NONE, Ordering::SeqCst);
        running.end().await;
        sleep(pause).await;
    }
}

pub(crate) struct AbortOnDrop<T = ()>(pub(crate) JoinHandle<T>);

impl<T> AbortOnDrop<T> {
    async fn end(mut self) {
        self.0.abort();
        if !self.0.is_finished() {
            let _ = (&mut self.0).await;
        }
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Differs from process to process, so that a reply to one is not taken for another's.
fn first_nonce() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
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
