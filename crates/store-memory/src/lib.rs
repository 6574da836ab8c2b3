//! The in-memory store: the reference, for tests and for services of a single process. **It forgets everything on
//! restart**, and shares nothing with other processes.
//!
//! It is the smallest correct [`Store`](counterfoil_core::store::Store): every transition is
//! [`lifecycle::step`](counterfoil_core::lifecycle::step), under the lock of the shard that the record lives in, at the
//! time that the store's clock shows while the lock is held.
//!
//! What it can't do, it says:
//!
//! - It knows its birth. An id that was minted before it may have had a record that a restart lost, so acquire, find and
//!   cancel answer [`Forgotten`](counterfoil_core::store::StoreErrorKind::Forgotten), never "claimed" and never "no".
//!   That compares the minter's clock with the store's: both must be one, as they are in a single process.
//! - An id that is no UUIDv7 carries no time, such as one made from a client's idempotency key. It can't be judged, and
//!   is taken as new: **a key that is sent again across a restart runs again**.
//! - It is bounded. When it is full it drops what may be dropped, and then answers `NotApplied`; an open operation is
//!   never dropped to make room.
//! - It holds no guards and no approvals: asked for them it answers `Misuse`.
//!
//! Who watches a record is told of each change of its state or epoch at once. A lapse is none: nobody writes it.
//!
//! ```
//! use std::time::Duration;
//! use counterfoil_core::{
//!     Clock, Epoch, OperationId, Owner, ParamHash, Scope, Subject, SystemClock,
//!     lifecycle::Claim,
//!     store::{Acquire, Acquired, Identity, Store},
//! };
//! use counterfoil_store_memory::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryStore::new();
//! let identity = Identity {
//!     subject: Subject::new("acme", "agent-7")?,
//!     scope: Scope::new("payments.transfer"),
//!     hash: ParamHash::from_bytes([7; 32]),
//! };
//! let request = Acquire::new(
//!     OperationId::mint(SystemClock.now()),
//!     identity,
//!     Claim::new(Owner::mint(), Duration::from_secs(30)),
//!     Duration::from_secs(86_400),
//! );
//! let Acquired::Claimed(claimed) = store.acquire(&request).await? else {
//!     panic!("nobody else knows this id");
//! };
//! assert_eq!(claimed.lease.epoch, Epoch::FIRST);
//! # Ok(())
//! # }
//! ```

mod claim;
mod finish;
mod settle;
mod shard;
mod store;
mod watchers;

#[cfg(test)]
mod tests;

pub use store::MemoryStore;
