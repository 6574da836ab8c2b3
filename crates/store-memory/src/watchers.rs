//! Who watches which record of a shard. There is an entry for as long as somebody does.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use counterfoil_core::{OperationId, store::Watch};
use tokio::sync::{Notify, futures::OwnedNotified};

use crate::shard::{Shard, shard_of};

/// A watch that ends with the next change after this call.
pub(crate) fn watch(shards: &Arc<[Mutex<Shard>]>, id: OperationId) -> Watch {
    let change = shard_of(shards, id).watchers.add(id);
    let watching = Watching {
        shards: Arc::clone(shards),
        id,
    };
    Watch::new(async move {
        change.await;
        drop(watching);
    })
}

#[derive(Debug, Default)]
pub(crate) struct Watchers {
    watched: HashMap<OperationId, Watched>,
}

#[derive(Debug, Default)]
struct Watched {
    changed: Arc<Notify>,
    watchers: usize,
}

impl Watchers {
    fn add(&mut self, id: OperationId) -> OwnedNotified {
        let watched = self.watched.entry(id).or_default();
        watched.watchers += 1;
        Arc::clone(&watched.changed).notified_owned()
    }

    fn remove(&mut self, id: OperationId) {
        if let Some(watched) = self.watched.get_mut(&id) {
            watched.watchers -= 1;
            if watched.watchers == 0 {
                self.watched.remove(&id);
            }
        }
    }

    pub(crate) fn tell(&self, id: OperationId) {
        if let Some(watched) = self.watched.get(&id) {
            watched.changed.notify_waiters();
        }
    }
}

/// Takes its watcher away when the watch ends, or is dropped.
struct Watching {
    shards: Arc<[Mutex<Shard>]>,
    id: OperationId,
}

impl Drop for Watching {
    fn drop(&mut self) {
        shard_of(&self.shards, self.id).watchers.remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use counterfoil_core::{
        Clock, Owner, ParamHash, Scope, Subject,
        lifecycle::Claim,
        store::{Acquire, Acquired, Annotation, Completion, Identity, Lease, Store},
    };
    use counterfoil_testkit::ManualClock;

    use super::*;
    use crate::MemoryStore;

    const LEASE: Duration = Duration::from_secs(30);

    struct World {
        clock: ManualClock,
        store: MemoryStore,
        id: OperationId,
    }

    impl World {
        fn new() -> Self {
            let clock = ManualClock::default();
            Self {
                id: OperationId::mint(clock.now()),
                store: MemoryStore::with_clock(clock.clone()),
                clock,
            }
        }

        async fn claim(&self) -> Lease {
            let identity = Identity {
                subject: Subject::new("acme", "agent-7").expect("a valid subject"),
                scope: Scope::new("payments.transfer"),
                hash: ParamHash::from_bytes([7; 32]),
            };
            let claim = Claim::new(Owner::mint(), LEASE);
            let request = Acquire::new(self.id, identity, claim, LEASE);
            match self.store.acquire(&request).await.expect("an answer") {
                Acquired::Claimed(claimed) => claimed.lease,
                other => panic!("not claimed: {other:?}"),
            }
        }

        async fn doubt(&self, held: &Lease) {
            let doubt = Completion::Unknown {
                reason: "the connection broke".to_owned(),
            };
            self.store.complete(held, &doubt).await.expect("an answer");
        }

        fn watched(&self) -> usize {
            let of = |shard: &Mutex<Shard>| crate::shard::lock(shard).watchers.watched.len();
            self.store.shards().iter().map(of).sum()
        }
    }

    async fn ends(watch: Watch) -> bool {
        tokio::time::timeout(Duration::from_millis(1), watch)
            .await
            .is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn every_watch_of_a_record_ends_when_its_state_changes() {
        let world = World::new();
        let before = world.store.watch(world.id);
        let held = world.claim().await;
        assert!(ends(before).await, "a record came to be");
        let watches: Vec<_> = (0..3).map(|_| world.store.watch(world.id)).collect();
        world.doubt(&held).await;
        for watch in watches {
            assert!(ends(watch).await);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn renewals_notes_and_other_records_end_no_watch() {
        let world = World::new();
        let held = world.claim().await;
        let watch = world.store.watch(world.id);
        let note = Annotation::default();
        for _ in 0..3 {
            world.clock.advance(LEASE / 2);
            world.store.renew(&held, LEASE).await.expect("an answer");
            world.store.annotate(&held, &note).await.expect("an answer");
        }
        // In the same shard: the last byte is the same.
        let mut other = *world.id.as_bytes();
        other[14] ^= 1;
        let World { clock, store, .. } = world;
        let id = OperationId::from_bytes(other);
        World { clock, store, id }.claim().await;
        assert!(!ends(watch).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_before_the_watch_began_does_not_end_it() {
        let world = World::new();
        let held = world.claim().await;
        world.doubt(&held).await;
        assert!(!ends(world.store.watch(world.id)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_kept_of_watches_that_are_over() {
        let world = World::new();
        let held = world.claim().await;
        let (ended, dropped) = (world.store.watch(world.id), world.store.watch(world.id));
        let polled = world.store.watch(world.id);
        assert!(!ends(polled).await, "and dropped");
        assert_eq!(world.watched(), 1);
        world.doubt(&held).await;
        assert!(ends(ended).await);
        assert_eq!(world.watched(), 1);
        drop(dropped);
        assert_eq!(world.watched(), 0);
    }
}
