//! Waiting for news of operations: a connection of its own, which listens on one channel for each that is watched.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use counterfoil_core::store::Watch;
use fred::{
    error::Error,
    interfaces::{ClientLike, EventInterface, PubsubInterface},
    types::{Message, config::Options},
};
use tokio::{
    sync::{
        OwnedSemaphorePermit, Semaphore,
        broadcast::error::RecvError,
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
    time::{Duration, Instant, MissedTickBehavior, interval},
};

use crate::link::{AbortOnDrop, Link};

/// Hands out watches. Dropping it ends its connection.
pub(crate) struct Channels {
    asks: UnboundedSender<Ask>,
    room: Arc<Semaphore>,
    _listener: AbortOnDrop,
}

/// So many wait at once at most; further ones are not told, and look for themselves.
const MAX_WATCHES: usize = 10_000;

/// What failed to be listened to is tried again after this.
const RETRY: Duration = Duration::from_secs(1);

/// Asks are taken together where they come together.
const AT_ONCE: usize = 256;

#[derive(Debug)]
enum Ask {
    Listen {
        channel: String,
        ticket: u64,
        wake: oneshot::Sender<()>,
    },
    Leave {
        channel: String,
        ticket: u64,
    },
}

impl Channels {
    /// Listens over this connection, which nothing else may use.
    pub(crate) fn new(link: Link) -> Self {
        let (asks, asked) = unbounded_channel();
        Self {
            asks,
            // Each watch asks twice at most, so that the room bounds the asks too.
            room: Arc::new(Semaphore::new(MAX_WATCHES)),
            _listener: AbortOnDrop(tokio::spawn(Listener::new(link).run(asked))),
        }
    }

    /// A watch of a channel; silent where there is no room for more.
    pub(crate) fn watch(&self, channel: String, ticket: u64) -> Watch {
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else {
            return Watch::silent();
        };
        let (wake, woken) = oneshot::channel();
        let leave = Leave {
            channel: channel.clone(),
            ticket,
            asks: self.asks.clone(),
            _room: room,
        };
        let ask = Ask::Listen {
            channel,
            ticket,
            wake,
        };
        if self.asks.send(ask).is_err() {
            return Watch::silent();
        }
        Watch::new(async move {
            if woken.await.is_err() {
                // Nobody listens any more: that is no change.
                std::future::pending::<()>().await;
            }
            drop(leave);
        })
    }
}

/// Says that a watch is over, whichever way it ended.
struct Leave {
    channel: String,
    ticket: u64,
    asks: UnboundedSender<Ask>,
    _room: OwnedSemaphorePermit,
}

impl Drop for Leave {
    fn drop(&mut self) {
        let ask = Ask::Leave {
            channel: std::mem::take(&mut self.channel),
            ticket: self.ticket,
        };
        // Nobody listens any more: then there is nothing to leave.
        let _ = self.asks.send(ask);
    }
}

struct Listener {
    link: Link,
    rooms: HashMap<String, Room>,
}

/// Those who wait on one channel.
#[derive(Default)]
struct Room {
    listening: bool,
    waiting: BTreeMap<u64, oneshot::Sender<()>>,
}

impl Listener {
    fn new(link: Link) -> Self {
        Self {
            link,
            rooms: HashMap::new(),
        }
    }

    async fn run(mut self, mut asked: UnboundedReceiver<Ask>) {
        let mut news = self.link.client().message_rx();
        let mut connected = self.link.client().reconnect_rx();
        let mut retry = interval(RETRY);
        retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut asks = Vec::new();
        loop {
            tokio::select! {
                taken = asked.recv_many(&mut asks, AT_ONCE) => {
                    if taken == 0 {
                        return;
                    }
                    self.take(&mut asks).await;
                }
                message = news.recv() => match message {
                    Ok(message) => self.tell(&message),
                    // What was missed may have been anybody's.
                    Err(RecvError::Lagged(_)) => self.tell_all(),
                    Err(RecvError::Closed) => return,
                },
                // A server that was connected to anew knows of no channel.
                _ = connected.recv() => {
                    self.rooms.values_mut().for_each(|room| room.listening = false);
                    self.listen().await;
                }
                _ = retry.tick() => self.listen().await,
            }
        }
    }

    async fn take(&mut self, asks: &mut Vec<Ask>) {
        let mut left = Vec::new();
        for ask in asks.drain(..) {
            match ask {
                Ask::Listen {
                    channel,
                    ticket,
                    wake,
                } => {
                    let room = self.rooms.entry(channel).or_default();
                    room.waiting.insert(ticket, wake);
                }
                Ask::Leave { channel, ticket } => {
                    if let Some(room) = self.rooms.get_mut(&channel) {
                        room.waiting.remove(&ticket);
                        left.push(channel);
                    }
                }
            }
        }
        left.retain(|channel| {
            let empty = self
                .rooms
                .get(channel)
                .is_some_and(|room| room.waiting.is_empty());
            empty
                && self
                    .rooms
                    .remove(channel)
                    .is_some_and(|room| room.listening)
        });
        // A channel that is not left, since that failed, only brings news that nobody waits for.
        let _ = self.send(left, false).await;
        self.listen().await;
    }

    /// Listens to every channel that somebody waits on.
    async fn listen(&mut self) {
        let wanted = self.rooms.iter().filter(|(_, room)| !room.listening);
        let wanted: Vec<_> = wanted.map(|(channel, _)| channel.clone()).collect();
        if self.send(wanted.clone(), true).await.is_ok() {
            for channel in wanted {
                if let Some(room) = self.rooms.get_mut(&channel) {
                    room.listening = true;
                }
            }
        }
    }

    async fn send(&self, channels: Vec<String>, listen: bool) -> Result<(), Error> {
        if channels.is_empty() {
            return Ok(());
        }
        let until = self.link.deadline();
        let client = self.link.client().with_options(&Options {
            fail_fast: true,
            timeout: Some(until.saturating_duration_since(Instant::now())),
            ..Options::default()
        });
        match (self.link.is_clustered(), listen) {
            (false, true) => client.subscribe(channels).await,
            (false, false) => client.unsubscribe(channels).await,
            // Each has a slot of its own.
            (true, true) => {
                for channel in channels {
                    client.ssubscribe(channel).await?;
                }
                Ok(())
            }
            (true, false) => {
                for channel in channels {
                    client.sunsubscribe(channel).await?;
                }
                Ok(())
            }
        }
    }

    fn tell(&mut self, message: &Message) {
        if let Some(room) = self.rooms.get_mut(&*message.channel) {
            room.tell();
        }
    }

    fn tell_all(&mut self) {
        self.rooms.values_mut().for_each(Room::tell);
    }
}

impl Room {
    /// Those who are told leave by themselves.
    fn tell(&mut self) {
        for (_, wake) in std::mem::take(&mut self.waiting) {
            // It may have been dropped a moment ago.
            let _ = wake.send(());
        }
    }
}
