//! Counterfoil for HTTP: a tower layer around one handler, and services for preview, status and cancel. With the feature
//! `grpc`, for gRPC too, in the module `grpc`.
//!
//! - [`PreviewService`] hands out the fingerprint of an operation: who, which action, which params.
//! - [`ConfirmLayer`] wraps the handler. A confirmed operation runs once, in a task of its own that no caller can end by
//!   hanging up; its response is kept, and every retry gets it.
//! - [`KeyLayer`] does so for callers that are programs, and send an idempotency key.
//! - [`StatusService`] and [`CancelService`] speak to an operation's own subject.
//! - [`DownstreamKeyLayer`] is for clients: what a handler sends goes under its operation's key.
//! - [`GrantLayer`] is for services downstream: they take no write but through a gate.
//!
//! ```
//! use axum::{Router, routing::{get_service, post, post_service}};
//! use counterfoil_core::{KeyId, Scope, Subject, engine::Counterfoil, fingerprint::{Key, Keyring}};
//! use counterfoil_store_memory::MemoryStore;
//! use counterfoil_tower::{Body, ConfirmLayer, Confirmed, PreviewService, StatusService, ThisAttempt};
//! use http::{Request, StatusCode};
//! use http_body_util::BodyExt;
//! use serde::{Deserialize, Serialize};
//! use tower::ServiceExt;
//!
//! #[derive(Serialize, Deserialize)]
//! struct Transfer {
//!     amount: u64,
//!     payee: String,
//! }
//!
//! async fn transfer(
//!     ThisAttempt(attempt): ThisAttempt,
//!     Confirmed(transfer): Confirmed<Transfer>,
//! ) -> (StatusCode, String) {
//!     let Ok(key) = attempt.downstream_key() else {
//!         return (StatusCode::SERVICE_UNAVAILABLE, "the lease is lost".to_owned());
//!     };
//!     // Here the money moves; `key` goes along as `Idempotency-Key`.
//!     (StatusCode::CREATED, format!("{} to {} as {key}", transfer.amount, transfer.payee))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let keys = Keyring::new(Key::random(KeyId::parse("k1")?));
//! let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
//! let gate = counterfoil.gate::<Transfer>(Scope::new("payments.transfer")).build()?;
//! let routes: Router = Router::new()
//!     .route("/transfers/preview", post_service(PreviewService::new(gate.clone())))
//!     .route("/transfers/confirm", post(transfer).route_layer(ConfirmLayer::new(gate)))
//!     .route("/operations/{id}", get_service(StatusService::new(counterfoil)));
//!
//! // Authentication, further out, puts the subject into the request's extensions.
//! let agent = Subject::new("acme", "agent-7")?;
//! let ask = async |path: &str, fingerprint: &str| {
//!     let request = Request::post(path)
//!         .extension(agent.clone())
//!         .header("counterfoil-fingerprint", fingerprint)
//!         .body(Body::from(r#"{"amount":10,"payee":"bob"}"#))?;
//!     routes.clone().oneshot(request).await.map_err(counterfoil_tower::BoxError::from)
//! };
//! let preview = ask("/transfers/preview", "").await?.into_body().collect().await?.to_bytes();
//! let preview: serde_json::Value = serde_json::from_slice(&preview)?;
//! let fingerprint = preview["fingerprint"].as_str().expect("a preview hands one out");
//!
//! for expected in ["completed", "already_completed", "already_completed"] {
//!     let response = ask("/transfers/confirm", fingerprint).await?;
//!     assert_eq!(response.status(), StatusCode::CREATED);
//!     assert_eq!(response.headers()["counterfoil-status"], expected);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What is bound
//!
//! All that the handler acts on: the members of the body, the values of path parameters, the members of the query, and
//! the headers that the service declares. One changed between preview and confirm is `params_changed`, a name in two
//! places is 400, a member that the params type doesn't know is `params_invalid`. Path values are found through axum's
//! router with the feature `axum`, else by [`ConfirmLayer::with_path_values`]. Values of path and query are texts: the
//! params type takes them as strings, or parses them.
//!
//! # Idempotency keys
//!
//! Where the callers are programs, [`KeyLayer`] takes the place of preview and fingerprint: the caller names the operation by
//! a key of its own, in the header `Idempotency-Key`. A retry gets the first response as it was.
//!
//! # Problem details
//!
//! With [`Form::ProblemDetails`], the default of [`KeyLayer`], errors are `application/problem+json` (RFC 9457). The types lead to a
//! page that says what each means; `docs/problems.md` of this project is that page. Serve it at [`PROBLEM_TYPES`], or say where it
//! stands with `with_problem_types`.
//!
//! # What every response says
//!
//! `Counterfoil-Status`, and `Counterfoil-Operation-Id` where the operation is known: on answers, on replays, and beside
//! the handler's own response. Answers have `Cache-Control: no-store`, and `Retry-After` where waiting is the next step;
//! a verbatim replay has what the first response had.
//! 401 comes without `WWW-Authenticate`: the scheme is authentication's to name.
//!
//! # Caveats
//!
//! - Trailers of a response are kept with its body, and a verbatim replay has them. HTTP/1.1 sends those that `Trailer`
//!   names, to callers that take them. Those of a request are dropped.
//! - A body that breaks off past the limit breaks for its first caller alone: its operation is on record by then.
//! - A stream past the limit is not counted by [`drain`](counterfoil_core::engine::Counterfoil::drain): its operation is
//!   on record by then, and the server's own shutdown waits for the connection.
//! - Headers of the first call are not replayed: hop-by-hop ones but `Trailer`, `Date`, `Age`, `Set-Cookie`, those of
//!   authentication, CORS and tracing, `Server-Timing`. A replay computes its own `Content-Length`.
//!
//! The modules: `downstream` is the client's side, `granted` that of the service behind it. `request` reads, `confirm` checks (`keyed` by key), `run` claims and runs, `stored_response` is what is kept of a response,
//! `http_answer` writes what a caller is told.

mod body;
mod confirm;
mod downstream;
#[cfg(feature = "axum")]
mod extract;
mod future;
mod granted;
#[cfg(feature = "grpc")]
pub mod grpc;
pub mod headers;
mod http_answer;
mod inner;
mod keyed;
mod preview;
mod request;
mod run;
mod status;
mod stored_response;

pub use body::{Body, BoxError};
pub use confirm::{
    Accepted, Confirm, ConfirmLayer, DEFAULT_CAPTURE_TIME, DEFAULT_MAX_RESULT, Doubt, Failures,
};
#[cfg(feature = "reqwest")]
pub use downstream::reqwest;
pub use downstream::{
    DownstreamError, DownstreamFuture, DownstreamKeyLayer, DownstreamKeyed, NotSent,
};
#[cfg(feature = "axum")]
pub use extract::{Confirmed, ThisAttempt};
pub use future::ResponseFuture;
pub use granted::{GrantChecked, GrantLayer, Granted};
pub use http_answer::{Form, PROBLEM_TYPES, Replay, answer_response, http_status};
pub use keyed::KeyLayer;
pub use preview::PreviewService;
pub use request::{DEFAULT_BODY_TIMEOUT, DEFAULT_MAX_BODY};
pub use status::{CancelService, StatusService};
pub use stored_response::{StoredResponse, Unreadable};

// The guide whose Rust needs tower-http, so that it shows nothing that does not compile. Only for doctests: a published
// crate does not hold that file.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/09-bodies.md")]
mod bodies_guide {}
