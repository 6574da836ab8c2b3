//! The tiered store: truth behind a cache. It loses what its truth loses, and nothing else: **the cache may be flushed,
//! fail over, freeze, fail or lie about what is alive at any time, and no answer changes.**
//!
//! Truth is a [`Store`](counterfoil_core::store::Store) that decides, the cache a
//! [`Cache`](counterfoil_core::store::Cache) in front of it. What the cache is for is the replay: a retry of an
//! operation that has ended is answered without truth.
//!
//! - Acquire and find read the cache first. A copy answers if it is of a terminal record with this id, and, for an
//!   acquire, with this subject, scope and hash. Anything else is a miss, and truth is asked.
//! - Every other call goes to truth alone. The cache never says that there is no record, and never lets anything run.
//! - The cache is told after truth, and lazily: the first replay that truth answers leaves a copy behind. That happens
//!   off the caller's path, in a bounded number of tasks; beyond it the copy is left out.
//! - After a call through this store that changed a record, the cache is told that it changed, so that whoever
//!   [watches](counterfoil_core::store::Store::watch) it looks again. That is a hint, and it may be lost.
//! - A call of the cache is given up after 20 ms. After three reads in a row that failed or were given up, the cache is
//!   left out for a second, and then tried again by a single read that nobody waits for.
//!
//! A copy never says less than truth about what became of an operation. Two things in it may be older: the
//! [evidence](counterfoil_core::store::Record::evidence), where the news of more was lost on its way to the cache, and
//! the time beside it ([`Sighting::now`](counterfoil_core::store::Sighting::now)), which is one that truth's clock has
//! surely reached.
//!
//! ```
//! # use std::{collections::HashMap, sync::Mutex};
//! # use async_trait::async_trait;
//! # use counterfoil_core::{OperationId, store::{Cache, Record, StoreError, Watch}};
//! # #[derive(Debug, Default)]
//! # struct MyCache(Mutex<HashMap<OperationId, Record>>);
//! # #[async_trait]
//! # impl Cache for MyCache {
//! #     async fn get(&self, id: OperationId) -> Result<Option<Box<Record>>, StoreError> {
//! #         Ok(self.0.lock().unwrap().get(&id).cloned().map(Box::new))
//! #     }
//! #     async fn put(&self, record: &Record) -> Result<(), StoreError> {
//! #         self.0.lock().unwrap().insert(record.id, record.clone());
//! #         Ok(())
//! #     }
//! #     async fn announce(&self, _: OperationId) -> Result<(), StoreError> { Ok(()) }
//! #     fn watch(&self, _: OperationId) -> Watch { Watch::silent() }
//! # }
//! use std::time::Duration;
//! use counterfoil_store_memory::MemoryStore;
//! use counterfoil_store_tiered::TieredStore;
//!
//! let (truth, cache) = (MemoryStore::new(), MyCache::default());
//! let store = TieredStore::new(truth, cache).with_cache_limit(Duration::from_millis(30));
//! ```

mod breaker;
mod front;
mod store;

pub use store::TieredStore;
