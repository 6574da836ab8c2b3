//! Waiting for news of operations: a connection of its own, which listens on one channel for each that is watched.
//!
//! A watch is on the list before the call that gave it returns, and ends once when the server has confirmed that the
//! channel is listened to: what was told before then may have been missed, so that whoever waits looks. The next watch of
//! the same operation finds the channel listened to, since one that is left is kept for a moment.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use counterfoil_core::store::Watch;
use fred::{
    error::Error,
    interfaces::{ClientLike, EventInterface, PubsubInterface},
    types::{Value, config::Options},
};
use futures_util::{StreamExt, stream};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, broadcast::error::RecvError, oneshot},
    time::{Duration, Instant, MissedTickBehavior, interval},
};

use crate::link::{AbortOnDrop, Link, Place};

/// Hands out watches. Dropping it ends its connection.
pub(crate) struct Channels {
    rooms: Rooms,
    places: Arc<Semaphore>,
    _listener: AbortOnDrop,
}

/// So many wait at once at most; further ones are not told, and look for themselves.
const MAX_WATCHES: usize = 10_000;

/// So many channels at most, with those that nobody waits on any more.
const MAX_ROOMS: usize = 2 * MAX_WATCHES;

/// What failed to be listened to is tried again after this; what nobody waits on for as long is left.
const TICK: Duration = Duration::from_secs(1);

/// Channels are taken together, so many at most.
const AT_ONCE: usize = 256;

impl Channels {
    /// Listens over this connection, which nothing else may use.
    pub(crate) fn new(link: Link) -> Self {
        let rooms = Rooms::default();
        let listener = Listener {
            link,
            rooms: rooms.clone(),
        };
        Self {
            rooms,
            places: Arc::new(Semaphore::new(MAX_WATCHES)),
            _listener: AbortOnDrop(tokio::spawn(listener.run())),
        }
    }

    /// A watch of a channel; silent where there is no room for more.
    pub(crate) fn watch(&self, channel: String, ticket: u64) -> Watch {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return Watch::silent();
        };
        let Some(woken) = self.rooms.enter(&channel, ticket) else {
            return Watch::silent();
        };
        let leave = Leave {
            channel,
            ticket,
            rooms: self.rooms.clone(),
            _place: place,
        };
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
    rooms: Rooms,
    _place: OwnedSemaphorePermit,
}

impl Drop for Leave {
    fn drop(&mut self) {
        if let Some(room) = self.rooms.all().get_mut(&self.channel) {
            room.waiting.remove(&self.ticket);
        }
    }
}

/// Who waits, by channel.
#[derive(Clone, Default)]
struct Rooms {
    all: Arc<Mutex<HashMap<String, Room>>>,
    /// Somebody waits on a channel that is not listened to.
    wanted: Arc<Notify>,
}

/// Those who wait on one channel.
#[derive(Default)]
struct Room {
    /// Whether the server has confirmed it.
    listened: bool,
    /// Whether nobody waited at the last tick.
    idle: bool,
    waiting: BTreeMap<u64, oneshot::Sender<()>>,
}

impl Rooms {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Room>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, channel: &str, ticket: u64) -> Option<oneshot::Receiver<()>> {
        let mut all = self.all();
        if !all.contains_key(channel) && all.len() >= MAX_ROOMS {
            return None;
        }
        let room = all.entry(channel.to_owned()).or_default();
        let (wake, woken) = oneshot::channel();
        room.waiting.insert(ticket, wake);
        room.idle = false;
        if !room.listened {
            self.wanted.notify_one();
        }
        Some(woken)
    }

    /// Channels that somebody waits on and that are not listened to, as many as are taken at once.
    fn unheard(&self) -> Vec<String> {
        let all = self.all();
        let unheard = all
            .iter()
            .filter(|(_, room)| !room.listened && !room.waiting.is_empty());
        let channels = unheard.map(|(channel, _)| channel.clone());
        channels.take(AT_ONCE).collect()
    }

    /// The server has confirmed these. What was told before it did may have been anybody's.
    fn heard(&self, channels: &[String]) {
        let mut all = self.all();
        for channel in channels {
            if let Some(room) = all.get_mut(channel) {
                room.listened = true;
                room.tell();
            }
        }
    }

    /// A server that was connected to anew knows of no channel.
    fn forgotten(&self) {
        self.all()
            .values_mut()
            .for_each(|room| room.listened = false);
    }

    /// Drops the rooms in which nobody has waited for a tick; gives those of them that are listened to.
    fn sweep(&self) -> Vec<String> {
        let mut left = Vec::new();
        self.all().retain(|channel, room| {
            let stays = !room.waiting.is_empty() || !room.idle;
            room.idle = room.waiting.is_empty();
            if !stays && room.listened {
                left.push(channel.clone());
            }
            stays
        });
        left
    }

    fn tell(&self, channel: &str) {
        if let Some(room) = self.all().get_mut(channel) {
            room.tell();
        }
    }

    fn tell_all(&self) {
        self.all().values_mut().for_each(Room::tell);
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

struct Listener {
    link: Link,
    rooms: Rooms,
}

impl Listener {
    async fn run(self) {
        let mut news = self.link.client().message_rx();
        let mut connected = self.link.client().reconnect_rx();
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = self.rooms.wanted.notified() => self.listen().await,
                message = news.recv() => match message {
                    Ok(message) => self.rooms.tell(&message.channel),
                    // What was missed may have been anybody's.
                    Err(RecvError::Lagged(_)) => self.rooms.tell_all(),
                    Err(RecvError::Closed) => return,
                },
                _ = connected.recv() => {
                    self.rooms.forgotten();
                    self.listen().await;
                }
                _ = tick.tick() => {
                    self.leave(self.rooms.sweep()).await;
                    self.listen().await;
                }
            }
        }
    }

    /// Listens to channels that somebody waits on; to more of them in the next round, if this one got anywhere.
    async fn listen(&self) {
        let unheard = self.rooms.unheard();
        if unheard.is_empty() {
            return;
        }
        let is_all = unheard.len() < AT_ONCE;
        let heard = self.subscribe(unheard).await;
        self.rooms.heard(&heard);
        if !is_all && !heard.is_empty() {
            self.rooms.wanted.notify_one();
        }
    }

    /// The channels that the server has confirmed.
    async fn subscribe(&self, channels: Vec<String>) -> Vec<String> {
        let until = self.link.deadline();
        if self.link.is_clustered() {
            // Each has a slot of its own, and one whose node is down keeps no other from being listened to.
            let subscribing = stream::iter(channels).map(async |channel| {
                let done = self.client(until).ssubscribe(channel.as_str()).await;
                done.is_ok().then_some(channel)
            });
            let done = subscribing.buffer_unordered(AT_ONCE);
            return done.filter_map(std::future::ready).collect().await;
        }
        match self.subscribe_at_once(channels.clone(), until).await {
            Ok(true) => channels,
            Ok(false) => {
                // The server refused, and the client took that for another command's reply.
                self.link.suspect();
                Vec::new()
            }
            Err(_) => Vec::new(),
        }
    }

    /// Whether the server has confirmed them. The client does not wait for that, but the server takes one command after
    /// the other.
    async fn subscribe_at_once(
        &self,
        channels: Vec<String>,
        until: Instant,
    ) -> Result<bool, Error> {
        let word = Value::Bytes(Bytes::copy_from_slice(&self.link.nonce()));
        self.client(until).subscribe(channels).await?;
        let args = vec![word.clone()];
        let answer = self.link.send("PING", Place::Anywhere, args, until).await?;
        Ok(answer.as_bytes() == word.as_bytes())
    }

    /// A channel that is not left, since that failed, only brings news that nobody waits for, until the connection is
    /// made anew.
    async fn leave(&self, channels: Vec<String>) {
        let until = self.link.deadline();
        if !self.link.is_clustered() {
            for some in channels.chunks(AT_ONCE) {
                let _: Result<(), Error> = self.client(until).unsubscribe(some.to_vec()).await;
            }
            return;
        }
        let leaving = stream::iter(channels).map(async |channel| {
            let _: Result<(), Error> = self.client(until).sunsubscribe(channel).await;
        });
        leaving.buffer_unordered(AT_ONCE).collect::<()>().await;
    }

    /// To the client no time at all means for ever.
    fn client(&self, until: Instant) -> impl PubsubInterface {
        let left = until.saturating_duration_since(Instant::now());
        self.link.client().with_options(&Options {
            fail_fast: true,
            timeout: Some(left.max(Duration::from_millis(1))),
            ..Options::default()
        })
    }
}
