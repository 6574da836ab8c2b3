//! gRPC for services on tonic: a method that is asked for twice runs once.
//!
//! - [`GrpcGate`] is one method's gate: it reads params from the method's message. Inside a method,
//!   [`preview`](GrpcGate::preview) hands out the fingerprint, and [`confirm`](GrpcGate::confirm) runs a unary handler once.
//! - [`GrpcLayer`] does so around a generated service, for methods that are named by their path, streaming replies too.
//! - [`answer_status`] says any other answer, such as that of a status, as an RPC's status.
//!
//! ```
//! use counterfoil_core::{
//!     KeyId, Scope, Subject,
//!     engine::Counterfoil,
//!     fingerprint::{Key, Keyring},
//! };
//! use counterfoil_store_memory::MemoryStore;
//! use counterfoil_tower::grpc::GrpcGate;
//! use tonic::{Request, Response};
//!
//! #[derive(Clone, PartialEq, prost::Message)]
//! struct Transfer {
//!     #[prost(uint64, tag = "1")]
//!     cents: u64,
//!     #[prost(string, tag = "2")]
//!     payee: String,
//! }
//!
//! // What is hashed, and what the handler gets.
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Params {
//!     cents: u64,
//!     payee: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let keys = Keyring::new(Key::random(KeyId::parse("k1")?));
//! let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
//! let gate = counterfoil.gate(Scope::new("payments.transfer")).build()?;
//! let gate = GrpcGate::new(gate, |transfer: Transfer| {
//!     Ok(Params { cents: transfer.cents, payee: transfer.payee })
//! });
//!
//! // An interceptor puts the subject into the extensions.
//! let call = || -> Result<Request<Transfer>, Box<dyn std::error::Error>> {
//!     let mut request = Request::new(Transfer { cents: 1000, payee: "bob".into() });
//!     request.extensions_mut().insert(Subject::new("acme", "agent-7")?);
//!     Ok(request)
//! };
//! let preview = gate.preview(call()?).await?;
//! for expected in ["completed", "already_completed"] {
//!     let mut request = call()?;
//!     let fingerprint = preview.fingerprint.as_str().parse()?;
//!     request.metadata_mut().insert("counterfoil-fingerprint", fingerprint);
//!     let paid = gate.confirm(request, |attempt, params| async move {
//!         attempt.effect_started().map_err(|lost| tonic::Status::aborted(lost.to_string()))?;
//!         Ok(Response::new(format!("{} to {}", params.cents, params.payee)))
//!     });
//!     let paid = paid.await?;
//!     assert_eq!(paid.get_ref(), "1000 to bob");
//!     assert_eq!(paid.metadata().get("counterfoil-status").unwrap(), expected);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Metadata
//!
//! A call brings `counterfoil-fingerprint` or `idempotency-key`. Every answer, run and replay has `counterfoil-status` and,
//! where the operation is known, `counterfoil-operation-id`; a replay has `idempotent-replayed: true`. A reply that was
//! handed on before its end has its status in the trailers. Metadata of a call is not bound: what the method acts on must
//! stand in its message.
//!
//! # Replays
//!
//! A retry gets the first reply: its messages, its metadata, its status with details, its trailers. What belongs to the first
//! call is left out, as over HTTP ([headers](crate#caveats)). Where the messages were past the limit there is nothing to
//! repeat, and a retry is `ALREADY_EXISTS`, with `executed: yes` and the document's number.
//!
//! # Caveats
//!
//! - A method can't say *accepted*: gRPC has no status for it.
//! - One call brings one message. Methods whose callers stream are not for a gate.
//! - A reader that is slow to take a reply past the limit holds up the method's end, and with it the operation's. One that
//!   takes nothing for a minute is cut off, and the method goes on without it.
//!
//! A call's way: `methods` says whether it is guarded; `read` and `frame`; `gate` finds credential and params; what claims and runs is that
//! of HTTP; `capture` reads the reply;
//! `meaning` says what it means; `deliver` and `codes` write what a caller is told. `reply` is what is kept.

mod capture;
mod codes;
mod deliver;
mod details;
mod frame;
mod gate;
mod guarded;
mod held;
mod layer;
mod meaning;
mod methods;
mod read;
mod reply;
mod service;
mod unary;

pub use codes::{ERROR_DOMAIN, answer_status, grpc_code};
pub use gate::GrpcGate;
pub use layer::GrpcLayer;
pub use service::GrpcConfirm;
