//! What a service remembers of the epochs that it has seen.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;

use super::GrantTerms;
use crate::{Clock, Epoch, OperationId, SystemClock, Timestamp};

/// What a service remembers of the epochs that it has seen, so that it refuses an attempt that a later one has overtaken.
///
/// **The one that lasts belongs in the service's own database, in the transaction of the write**: compare the epoch with
/// the highest of the operation, raise it, and write, all or nothing, under a lock of the operation's row. Only that holds
/// between two requests that arrive together, and over a restart. A memory behind this trait is asked before the handler
/// runs; it keeps late requests away from the handler, and it is the whole fence only where it shares the write's
/// transaction.
#[async_trait]
pub trait EpochMemory: fmt::Debug + Send + Sync + 'static {
    /// Raises the highest epoch of the operation to `epoch`, in one step that no other call comes between, and says
    /// whether a higher one was there. An epoch that was seen before is current: an attempt may make several writes.
    ///
    /// # Errors
    ///
    /// What can't be remembered must not pass: the request is refused, and may be sent again.
    async fn see(&self, operation: OperationId, epoch: Epoch) -> Result<Seen, NotRemembered>;
}

const _: fn(&dyn EpochMemory) = |_| {};

/// What a memory says of an epoch. Exhaustive on purpose: it passes or it doesn't.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It is the highest that was seen, and is remembered.
    Current,
    /// A higher one was seen. Nothing is changed.
    Stale,
}

/// An epoch can't be remembered: there is no room, or what keeps them is out of reach.
#[derive(Debug, thiserror::Error)]
#[error("the epoch can't be remembered")]
pub struct NotRemembered(#[source] Option<Box<dyn std::error::Error + Send + Sync>>);

impl NotRemembered {
    /// Because of this.
    pub fn because(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Some(source.into()))
    }
}

/// The epochs that were seen a short while ago, in the memory of this process. Cheap to clone; clones share it.
///
/// It keeps an operation for ten minutes after its last epoch came: twice [`GrantTerms::MAX_LIFE`], and by then every
/// grant of a lower epoch is over, also one from a gate whose clock differs by five minutes. It holds a bounded number of
/// operations, and when that is reached it **refuses new ones** and forgets none: a memory that drops what it needs fences
/// nothing.
///
/// It forgets at a restart, and each process has its own. Then a grant of a lower epoch passes for the rest of its life: see
/// [`EpochMemory`] for what holds.
#[derive(Clone)]
pub struct RecentEpochs {
    clock: Arc<dyn Clock>,
    most: usize,
    seen: Arc<Mutex<Table>>,
}

#[derive(Default)]
struct Table {
    highest: HashMap<OperationId, Entry>,
    /// In the order in which they may be dropped; an operation that came again stands there twice.
    ends: VecDeque<(Timestamp, OperationId)>,
}

struct Entry {
    epoch: Epoch,
    until: Timestamp,
}

impl RecentEpochs {
    /// How many operations are remembered, unless told otherwise.
    pub const DEFAULT_MOST: usize = 100_000;
    /// How long an operation is remembered.
    pub const KEPT: Duration = Duration::from_secs(2 * GrantTerms::MAX_LIFE.as_secs());

    /// With the machine's clock and the default bound.
    #[must_use]
    pub fn new() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            most: Self::DEFAULT_MOST,
            seen: Arc::default(),
        }
    }

    /// Another bound. It is reached by more than this many operations within ten minutes.
    #[must_use]
    pub const fn with_most(mut self, operations: usize) -> Self {
        self.most = operations;
        self
    }

    /// Another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// How many operations it remembers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table().highest.len()
    }

    /// Whether it remembers none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for RecentEpochs {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RecentEpochs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentEpochs")
            .field("most", &self.most)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl EpochMemory for RecentEpochs {
    async fn see(&self, operation: OperationId, epoch: Epoch) -> Result<Seen, NotRemembered> {
        let now = self.clock.now();
        let mut table = self.table();
        table.drop_ended(now);
        let until = now + Self::KEPT;
        if let Some(entry) = table.highest.get_mut(&operation) {
            if epoch < entry.epoch {
                return Ok(Seen::Stale);
            }
            // The same epoch again outdates nothing new, so its end stays and the table does not grow.
            if epoch > entry.epoch {
                *entry = Entry { epoch, until };
                table.ends.push_back((until, operation));
            }
            return Ok(Seen::Current);
        }
        if table.highest.len() >= self.most {
            return Err(NotRemembered(None));
        }
        table.highest.insert(operation, Entry { epoch, until });
        table.ends.push_back((until, operation));
        Ok(Seen::Current)
    }
}

impl Table {
    fn drop_ended(&mut self, now: Timestamp) {
        while let Some(&(end, operation)) = self.ends.front() {
            if now < end {
                break;
            }
            self.ends.pop_front();
            if self.highest.get(&operation).is_some_and(|e| e.until <= now) {
                self.highest.remove(&operation);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug)]
    struct Moved(Arc<Mutex<Timestamp>>);

    impl Clock for Moved {
        fn now(&self) -> Timestamp {
            *self.0.lock().unwrap()
        }
    }

    impl Moved {
        fn on(&self, by: Duration) {
            let mut now = self.0.lock().unwrap();
            *now = *now + by;
        }
    }

    fn memory(most: usize) -> (RecentEpochs, Moved) {
        let clock = Moved(Arc::new(Mutex::new(Timestamp::from_unix_secs(
            1_800_000_000,
        ))));
        let epochs = RecentEpochs::new()
            .with_most(most)
            .with_clock(clock.clone());
        (epochs, clock)
    }

    fn id(number: u8) -> OperationId {
        OperationId::from_bytes([number; 16])
    }

    async fn see(epochs: &RecentEpochs, number: u8, epoch: u64) -> Option<Seen> {
        epochs.see(id(number), Epoch::from_u64(epoch)).await.ok()
    }

    #[tokio::test]
    async fn an_epoch_below_the_highest_is_stale_and_changes_nothing() {
        let (epochs, _) = memory(10);
        assert_eq!(see(&epochs, 1, 2).await, Some(Seen::Current));
        assert_eq!(see(&epochs, 1, 1).await, Some(Seen::Stale));
        assert_eq!(see(&epochs, 1, 2).await, Some(Seen::Current));
        assert_eq!(see(&epochs, 1, 7).await, Some(Seen::Current));
        assert_eq!(see(&epochs, 1, 6).await, Some(Seen::Stale));
        // Another operation has epochs of its own.
        assert_eq!(see(&epochs, 2, 1).await, Some(Seen::Current));
    }

    #[tokio::test]
    async fn an_epoch_is_remembered_until_no_grant_below_it_can_be_good() {
        let (epochs, clock) = memory(10);
        see(&epochs, 1, 1).await;
        clock.on(RecentEpochs::KEPT - Duration::from_secs(1));
        // The higher one counts from when it came.
        see(&epochs, 1, 2).await;
        clock.on(RecentEpochs::KEPT - Duration::from_millis(1));
        assert_eq!(see(&epochs, 1, 1).await, Some(Seen::Stale));
        clock.on(Duration::from_millis(1));
        assert_eq!(see(&epochs, 9, 1).await, Some(Seen::Current));
        assert_eq!(epochs.len(), 1, "what is over is forgotten");
    }

    #[tokio::test]
    async fn a_full_memory_refuses_what_is_new_and_forgets_nothing() {
        let (epochs, clock) = memory(2);
        see(&epochs, 1, 2).await;
        see(&epochs, 2, 2).await;
        assert_eq!(see(&epochs, 3, 1).await, None);
        assert_eq!(see(&epochs, 1, 1).await, Some(Seen::Stale));
        assert_eq!(see(&epochs, 1, 3).await, Some(Seen::Current));
        clock.on(RecentEpochs::KEPT);
        assert_eq!(see(&epochs, 3, 1).await, Some(Seen::Current));
    }

    #[tokio::test]
    async fn an_operation_that_comes_often_takes_no_more_room() {
        let (epochs, _) = memory(2);
        for _ in 0..1000 {
            see(&epochs, 1, 1).await;
        }
        assert_eq!(epochs.table().ends.len(), 1);
    }
}
