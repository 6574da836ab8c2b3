//! A write that an AI agent asks for happens once, and it can always be said whether it happened.
//!
//! This is the crate that services add. It has no code of its own: it gathers what the other crates of the project
//! give, under one name. In the order of a request's way:
//!
//! - the words that everything speaks: [`Subject`], [`Scope`], [`OperationId`], [`Timestamp`];
//! - [`fingerprint`]: the signed one-time credential, and the keys that sign it;
//! - [`idempotency`]: the keys that clients make, in its place where the caller is a program;
//! - [`params`]: how arguments are read strictly, made canonical and hashed;
//! - [`engine`]: [`Counterfoil`](engine::Counterfoil), one per process, and its gates, one per action;
//! - [`lifecycle`]: the states of an operation, as one pure function;
//! - [`store`]: the contract with whatever keeps the records;
//! - [`answer`]: what a caller is told;
//! - [`grant`]: the signed header by which a service downstream knows that a write came through a gate.
//!
//! Features change no behaviour; they add what they name:
//!
//! - `memory`, on by default: `MemoryStore`, which forgets on restart and serves one process.
//! - `postgres`: the store that decides, for services that run, as `counterfoil::postgres`.
//! - `redis`: a cache in front of it, as `counterfoil::redis`; alone only for what may run twice.
//! - `tiered`: the two together, as `counterfoil::tiered`.
//! - `tower`, on by default: the layer for HTTP handlers, as `counterfoil::tower`.
//! - `axum`: extractors for axum handlers, and path values as its router found them.
//! - `grpc`: the layer and the helper for services on tonic, as `counterfoil::tower::grpc`.
//! - `reqwest`: requests of that client under a downstream key, as `counterfoil::tower::reqwest`.

#[doc(inline)]
pub use counterfoil_core::{
    answer, engine, fingerprint, grant, idempotency, lifecycle, params, store,
};

#[doc(inline)]
pub use counterfoil_core::{
    Clock, Epoch, InvalidKeyId, InvalidOperationId, InvalidScope, InvalidStep, InvalidSubject,
    KeyId, OperationId, Owner, ParamHash, Scope, Step, Subject, SystemClock, Timestamp,
};

#[cfg(feature = "memory")]
#[doc(inline)]
pub use counterfoil_store_memory::MemoryStore;

#[cfg(feature = "postgres")]
#[doc(inline)]
pub use counterfoil_store_postgres as postgres;

#[cfg(feature = "redis")]
#[doc(inline)]
pub use counterfoil_store_redis as redis;

#[cfg(feature = "tiered")]
#[doc(inline)]
pub use counterfoil_store_tiered as tiered;

#[cfg(feature = "tower")]
#[doc(inline)]
pub use counterfoil_tower as tower;

// The texts under `docs/` that hold Rust, so that none of them shows what does not compile. Only for doctests: a
// published crate does not hold those files.
#[cfg(all(doctest, feature = "memory", feature = "axum"))]
mod http_texts {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/guides/01-wrap-a-handler.md")]
    mod wrap_a_handler {}
    #[doc = include_str!("../../../docs/guides/03-unit-testing.md")]
    mod unit_testing {}
    #[doc = include_str!("../../../docs/guides/08-idempotency-keys.md")]
    mod idempotency_keys {}
    #[doc = include_str!("../../../docs/guides/12-downstream.md")]
    mod downstream {}
}

#[cfg(all(doctest, feature = "memory"))]
mod texts {
    #[doc = include_str!("../../../docs/guides/02-without-http.md")]
    mod without_http {}
    #[doc = include_str!("../../../docs/guides/04-keys.md")]
    mod keys {}
    #[doc = include_str!("../../../docs/guides/05-what-the-agent-reads.md")]
    mod what_the_agent_reads {}
    #[doc = include_str!("../../../docs/guides/06-limits.md")]
    mod limits {}
    #[doc = include_str!("../../../docs/lifecycle.md")]
    mod lifecycle {}
    #[doc = include_str!("../../../docs/store-contract.md")]
    mod store_contract {}
}

#[cfg(all(doctest, feature = "memory", feature = "grpc"))]
mod grpc_texts {
    #[doc = include_str!("../../../docs/guides/10-grpc.md")]
    mod grpc {}
}

#[cfg(all(doctest, feature = "postgres", feature = "redis", feature = "tiered"))]
mod store_texts {
    #[doc = include_str!("../../../docs/guides/07-stores.md")]
    mod stores {}
}
