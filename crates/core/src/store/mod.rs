//! The contract between the engine and whatever keeps the records.
//!
//! [`Store`] is object-safe, takes data and returns data. Its docs are the contract; the conformance suite in
//! `counterfoil-testkit` holds any implementation to it.

mod acquire;
mod cache;
mod complete;
mod error;
mod guard;
mod query;
mod record;
mod settle;
mod trait_def;
mod watch;

pub use acquire::{Acquire, Acquired, Claimed, Lease, Renewed};
pub use cache::Cache;
pub use complete::{Annotated, Annotation, Completed, Completion, Released, StoredResult};
pub use error::{StoreError, StoreErrorKind};
pub use guard::{Fence, GuardClaim};
pub use query::{Capabilities, Listing, Page, Sighting};
pub use record::{Approval, Evidence, IN_DOUBT, Identity, Mismatch, RETENTION_SKEW, Record};
pub use settle::{
    Cancellation, Cancelled, Decided, Decision, DecisionKind, FenceRequest, Fenced, Proposal,
    Proposed, Receipt, Received, Resolution, Resolved, Tombstone,
};
pub use trait_def::Store;
pub use watch::Watch;
