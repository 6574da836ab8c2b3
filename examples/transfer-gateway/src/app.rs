//! The whole service: the gate around the one handler that moves money, and everything beside it.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    extract::{Query, State},
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get, get_service, post, post_service},
};
use counterfoil::{
    Clock, OperationId, Scope, Subject, SystemClock,
    answer::Wording,
    engine::{ConfigError, Counterfoil, Gate, GateBuilder, LeaseTime, Params},
    fingerprint::Keyring,
    store::Store,
    tower::{CancelService, ConfirmLayer, KeyLayer, PROBLEM_TYPES, PreviewService, StatusService},
};
use http::{StatusCode, header};
use serde::Deserialize;
use serde_json::json;

use crate::{
    auth,
    books::Books,
    chaos, granted_ledger,
    later::not_implemented,
    ledger::Ledger,
    operations,
    options::Options,
    reply,
    ticket::{self, Nothing, Ticket},
    transfer::{self, Transfer},
};

/// What every handler needs. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct App(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    counterfoil: Counterfoil,
    gate: Gate<Transfer>,
    tickets: TicketGates,
    books: Books,
}

/// One for each action.
#[derive(Debug)]
struct TicketGates {
    create: Gate<Ticket>,
    update: Gate<Ticket>,
    delete: Gate<Nothing>,
}

/// What the ledger of this process may take at worst, with our own timeout and all back-off. A real service adds up what
/// its provider states here.
const WORST_CASE: Duration = Duration::from_millis(50);
const OWN_TIMEOUT: Duration = Duration::from_millis(50);
const BACKOFF_TOTAL: Duration = Duration::ZERO;

impl App {
    /// The service over a store, with its keys and its ledger.
    ///
    /// # Errors
    ///
    /// A configuration that would break a promise.
    pub(crate) fn new(
        options: &Options,
        store: Arc<dyn Store>,
        keys: Keyring,
        books: impl Into<Books>,
    ) -> Result<Self, ConfigError> {
        let counterfoil = Counterfoil::builder(store, keys)
            .with_wording(options.language.wording())
            .build()?;
        let times = &options.times;
        let gate = timed(counterfoil.gate::<Transfer>(transfer::scope()), options)
            .with_params(transfer::policy(options.max_body))
            .with_check(transfer::refuse_what_needs_one)
            .with_fingerprint_life(times.fingerprint_ttl)
            .build()?;
        let tickets = TicketGates {
            create: ticket_gate(&counterfoil, ticket::CREATE, options)?,
            update: ticket_gate(&counterfoil, ticket::UPDATE, options)?,
            delete: ticket_gate(&counterfoil, ticket::DELETE, options)?,
        };
        Ok(Self(Arc::new(Parts {
            counterfoil,
            gate,
            tickets,
            books: books.into(),
        })))
    }

    pub(crate) fn counterfoil(&self) -> &Counterfoil {
        &self.0.counterfoil
    }

    pub(crate) fn gate(&self) -> &Gate<Transfer> {
        &self.0.gate
    }

    /// The ledger of this process.
    pub(crate) fn ledger(&self) -> &Ledger {
        self.0.books.here()
    }

    pub(crate) fn books(&self) -> &Books {
        &self.0.books
    }

    pub(crate) fn wording(&self) -> &Wording {
        self.0.counterfoil.wording()
    }

    /// The routes of tickets: the layer goes around each handler alone. What is safe passes it.
    fn tickets(&self, options: &Options) -> (MethodRouter<Self>, MethodRouter<Self>) {
        let layer = |layer: KeyLayer| {
            layer
                .with_max_body(options.max_body)
                .with_max_result(options.max_body)
        };
        let gates = &self.0.tickets;
        let create = layer(KeyLayer::new(gates.create.clone()));
        let update = layer(KeyLayer::new(gates.update.clone()));
        let delete = layer(KeyLayer::new(gates.delete.clone()));
        let all = post(ticket::create).route_layer(create);
        let one = get(ticket::show)
            .put(ticket::update)
            .route_layer(update)
            .merge(axum::routing::delete(ticket::remove).route_layer(delete));
        if options.chaos {
            let misbehaving =
                |routes: MethodRouter<Self>| routes.route_layer(from_fn(chaos::misbehave));
            (misbehaving(all), misbehaving(one))
        } else {
            (all, one)
        }
    }

    /// All endpoints.
    pub(crate) fn router(&self, options: &Options) -> Router {
        let language = options.language;
        let quote_ttl = options.times.quote_ttl;
        let preview = PreviewService::new(self.gate().clone())
            .with_max_body(options.max_body)
            // A preview states a price, and nothing may be confirmed once the price is over.
            .with_quote_end(move |_| Some(SystemClock.now() + quote_ttl))
            .with_summary(move |transfer: &Transfer| transfer.summary(language));
        // The layer goes around the handler alone, inside of authentication.
        let confirm = post(transfer::confirm).route_layer(
            ConfirmLayer::new(self.gate().clone())
                .with_max_body(options.max_body)
                .with_max_result(options.max_body),
        );
        let confirm = if options.chaos {
            confirm.route_layer(from_fn(chaos::misbehave))
        } else {
            confirm
        };
        let (tickets, one_ticket) = self.tickets(options);
        let status = StatusService::new(self.counterfoil().clone());
        let cancel = CancelService::new(self.counterfoil().clone());
        let for_callers = Router::new()
            .route("/v1/transfers/preview", post_service(preview))
            .route("/v1/transfers/confirm", confirm)
            .route("/v1/transfers/{id}", get(transfer::settled))
            .route("/v1/tickets", tickets)
            .route("/v1/tickets/{ticket}", one_ticket)
            .route("/v1/operations/{id}", get_service(status.clone()))
            .route(
                "/v1/operation",
                get_service(status).route_layer(from_fn_with_state(
                    self.clone(),
                    operations::needs_credential,
                )),
            )
            .route(
                "/v1/operations/{id}/cancel",
                post_service(cancel).route_layer(from_fn_with_state(
                    self.clone(),
                    operations::fingerprint_from_body,
                )),
            )
            .route("/ledger", get(effects))
            .merge(later())
            .route_layer(from_fn_with_state(self.clone(), auth::authenticate));
        Router::new()
            .route("/healthz", get(alive))
            .route(PROBLEM_TYPES, get(problems))
            .route("/metrics", get(not_implemented))
            .merge(for_callers)
            .fallback(no_such_path)
            .method_not_allowed_fallback(no_such_method)
            .with_state(self.clone())
    }
}

/// What all gates here have in common.
fn timed<P>(gate: GateBuilder<P>, options: &Options) -> GateBuilder<P> {
    let times = &options.times;
    let gate = gate
        .with_lease_time(lease_time(options))
        .with_retention(times.retention)
        .with_wait(times.wait);
    // Whoever started it said so, by --accept-lost-writes.
    if options.store.may_lose_writes() {
        gate.repeatable()
    } else {
        gate
    }
}

fn ticket_gate<P: Params>(
    counterfoil: &Counterfoil,
    scope: Scope,
    options: &Options,
) -> Result<Gate<P>, ConfigError> {
    timed(counterfoil.gate(scope), options)
        .with_params(ticket::policy(options.max_body))
        // No fingerprint is issued here. Its life must only not outlast the record.
        .with_fingerprint_life(options.times.retention)
        .build()
}

fn lease_time(options: &Options) -> LeaseTime {
    let times = &options.times;
    let worst = match options.ledger_at {
        Some(_) => granted_ledger::WORST_CASE,
        None => WORST_CASE,
    };
    let time = LeaseTime::for_downstream(worst, OWN_TIMEOUT, BACKOFF_TOTAL)
        .with_lease(times.lease)
        .with_max_run(times.max_run);
    if times.renewed {
        time
    } else {
        time.without_renewal()
    }
}

/// The paths of later versions.
fn later() -> Router<App> {
    Router::new()
        .route("/v1/deployments/preview", post(not_implemented))
        .route("/v1/deployments/confirm", post(not_implemented))
        .route("/v1/deployments/rollback/preview", post(not_implemented))
        .route("/v1/deployments/rollback/confirm", post(not_implemented))
        .route("/v1/operations", get(not_implemented))
        .route("/v1/operations/{id}/approve", post(not_implemented))
        .route("/v1/operations/{id}/deny", post(not_implemented))
        .route("/v1/operations/{id}/resolve", post(not_implemented))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    operation_id: Option<String>,
}

/// The effects of the caller's tenant: the count that must never pass 1 for an operation.
async fn effects(
    State(app): State<App>,
    Extension(subject): Extension<Subject>,
    which: Result<Query<Which>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let of: Option<Option<OperationId>> = match which {
        Ok(Query(Which { operation_id: None })) => Some(None),
        Ok(Query(Which {
            operation_id: Some(text),
        })) => text.parse().ok().map(Some),
        Err(_) => None,
    };
    let Some(of) = of else {
        let sentence = "the query is operation_id=ID, with an operation's id";
        return reply::error(StatusCode::BAD_REQUEST, "query_malformed", sentence);
    };
    match app.books().effects(subject.tenant(), of).await {
        Ok(effects) => reply::json(
            StatusCode::OK,
            &json!({"count": effects.len(), "effects": effects}),
        ),
        Err(error) => reply::ledger_out_of_reach(&error),
    }
}

/// What the types of problem details lead to.
async fn problems() -> impl IntoResponse {
    const PAGE: &str = include_str!("../../../docs/problems.md");
    (
        [(header::CONTENT_TYPE, "text/markdown; charset=utf-8")],
        PAGE,
    )
}

async fn alive() -> Response {
    reply::json(StatusCode::OK, &json!({"status": "ok"}))
}

async fn no_such_path() -> Response {
    reply::error(
        StatusCode::NOT_FOUND,
        "no_such_path",
        "there is nothing at this path",
    )
}

async fn no_such_method() -> Response {
    reply::error(
        StatusCode::METHOD_NOT_ALLOWED,
        "no_such_method",
        "this path takes another method; the header Allow names it",
    )
}
