//! One lock's worth of records, and the order in which their time is over.

use std::{
    collections::{BTreeSet, HashMap, hash_map::RandomState},
    hash::{BuildHasher, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
};

use counterfoil_core::{OperationId, Timestamp, store::Record};

use crate::watchers::Watchers;

/// With two threads and a million records, more shards gave little.
pub(crate) const SHARDS: usize = 64;

/// Records by id, and an index of those that may be dropped.
///
/// The index is exact: it is brought up to date in the same step as the record, so that a released operation that is
/// claimed again leaves it, and dropping looks at nothing but its front.
#[derive(Debug)]
pub(crate) struct Shard {
    records: HashMap<OperationId, Record, IdHash>,
    endings: BTreeSet<(Timestamp, OperationId)>,
    pub(crate) watchers: Watchers,
}

impl Shard {
    pub(crate) fn new(hash: IdHash) -> Self {
        Self {
            records: HashMap::with_hasher(hash),
            endings: BTreeSet::new(),
            watchers: Watchers::default(),
        }
    }

    /// A record past its time is still given out: it answers a retry better than "there is no record", and whatever
    /// exp it had is over, so that keeping it opens nothing.
    pub(crate) fn get(&self, id: OperationId) -> Option<&Record> {
        self.records.get(&id)
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values()
    }

    /// Adds a record that is known to be absent.
    pub(crate) fn insert(&mut self, record: Record) {
        if let Some(end) = record.purge_at() {
            self.endings.insert((end, record.id));
        }
        self.watchers.tell(record.id);
        self.records.insert(record.id, record);
    }

    /// The only way to a record that may be written; `None` if there is no record.
    pub(crate) fn change<R>(
        &mut self,
        id: OperationId,
        change: impl FnOnce(&mut Record) -> R,
    ) -> Option<R> {
        let record = self.records.get_mut(&id)?;
        let before = record.purge_at();
        let (state, epoch) = (record.life.state, record.life.epoch);
        let answer = change(record);
        let after = record.purge_at();
        if (state, epoch) != (record.life.state, record.life.epoch) {
            self.watchers.tell(id);
        }
        if before != after {
            if let Some(end) = before {
                self.endings.remove(&(end, id));
            }
            if let Some(end) = after {
                self.endings.insert((end, id));
            }
        }
        Some(answer)
    }

    /// Drops up to `limit` records whose time is over; returns how many.
    pub(crate) fn purge(&mut self, now: Timestamp, limit: usize) -> usize {
        let mut dropped = 0;
        while dropped < limit
            && let Some(&(end, id)) = self.endings.first()
            && end <= now
        {
            self.endings.pop_first();
            self.records.remove(&id);
            dropped += 1;
        }
        dropped
    }
}

/// The shard that an id's record lives in, locked.
pub(crate) fn shard_of(shards: &[Mutex<Shard>], id: OperationId) -> MutexGuard<'_, Shard> {
    let place = usize::from(id.as_bytes()[15]) % SHARDS;
    lock(&shards[place])
}

/// A panic under the lock leaves no half-written record: what is written is worked out before.
pub(crate) fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hashes an id in one multiplication. The seed keeps a client that chooses its keys from choosing their places.
#[derive(Clone, Debug)]
pub(crate) struct IdHash {
    seed: [u64; 2],
}

impl IdHash {
    pub(crate) fn new() -> Self {
        let random = RandomState::new();
        Self {
            seed: [random.hash_one(0), random.hash_one(1)],
        }
    }
}

impl BuildHasher for IdHash {
    type Hasher = IdHasher;

    fn build_hasher(&self) -> IdHasher {
        IdHasher {
            seed: self.seed,
            hash: 0,
        }
    }
}

#[derive(Debug)]
pub(crate) struct IdHasher {
    seed: [u64; 2],
    hash: u64,
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for half in bytes.chunks(16) {
            let mut word = [0; 16];
            word[..half.len()].copy_from_slice(half);
            let word = u128::from_le_bytes(word);
            let low = (word as u64) ^ self.seed[0] ^ self.hash;
            let high = ((word >> 64) as u64) ^ self.seed[1];
            let product = u128::from(low) * u128::from(high);
            self.hash = (product as u64) ^ ((product >> 64) as u64);
        }
    }

    /// The length that goes in front of an array; all ids have the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.hash
    }
}
