//! The handlers. Each runs once per key; the layer answers every retry.

use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::Response,
};
use counterfoil::{
    Subject,
    engine::{Attempt, Disposition},
    tower::{Confirmed, ThisAttempt},
};
use http::StatusCode;
use serde::Serialize;

use super::{Nothing, Ticket};
use crate::{
    app::App,
    carry_out::{Work, carry_out, respond},
    chaos::Chaos,
    ledger::{Action, Content, Deed, Filed},
    reply,
};

/// A new ticket.
pub(crate) async fn create(
    State(app): State<App>,
    ThisAttempt(attempt): ThisAttempt,
    Confirmed(ticket): Confirmed<Ticket>,
    chaos: Option<Extension<Chaos>>,
) -> Response {
    // The ticket's number: the same for every attempt of an operation.
    let ticket_id = format!("tk_{}", attempt.operation_id().simple());
    let filed = Filed {
        ticket_id,
        action: Action::Created,
        content: Some(ticket.content()),
    };
    carry_out(&app, &attempt, work(filed), faults(chaos)).await
}

/// Another content.
pub(crate) async fn update(
    State(app): State<App>,
    Path(ticket_id): Path<String>,
    ThisAttempt(attempt): ThisAttempt,
    Confirmed(ticket): Confirmed<Ticket>,
    chaos: Option<Extension<Chaos>>,
) -> Response {
    if !stands(&app, &attempt, &ticket_id).await {
        return no_such_ticket(&attempt);
    }
    let filed = Filed {
        ticket_id,
        action: Action::Updated,
        content: Some(ticket.content()),
    };
    carry_out(&app, &attempt, work(filed), faults(chaos)).await
}

/// No ticket any more.
pub(crate) async fn remove(
    State(app): State<App>,
    Path(ticket_id): Path<String>,
    ThisAttempt(attempt): ThisAttempt,
    Confirmed(_): Confirmed<Nothing>,
    chaos: Option<Extension<Chaos>>,
) -> Response {
    if !stands(&app, &attempt, &ticket_id).await {
        return no_such_ticket(&attempt);
    }
    let filed = Filed {
        ticket_id,
        action: Action::Deleted,
        content: None,
    };
    carry_out(&app, &attempt, work(filed), faults(chaos)).await
}

/// A ticket of the caller's tenant: what `Location` leads to. A safe request: the layer lets it pass.
pub(crate) async fn show(
    State(app): State<App>,
    Extension(subject): Extension<Subject>,
    Path(ticket_id): Path<String>,
) -> Response {
    match app.ledger().ticket(subject.tenant(), &ticket_id).await {
        Some(content) => {
            let body = result(&ticket_id, "open", Some(&content));
            respond(StatusCode::OK, None, Body::from(body))
        }
        None => missing(),
    }
}

fn faults(chaos: Option<Extension<Chaos>>) -> Chaos {
    chaos.map(|Extension(chaos)| chaos).unwrap_or_default()
}

async fn stands(app: &App, attempt: &Attempt, ticket_id: &str) -> bool {
    let tenant = attempt.subject().tenant();
    app.ledger().ticket(tenant, ticket_id).await.is_some()
}

/// The handler's word makes it final: under this key it stays so, even if such a ticket comes to be.
fn no_such_ticket(attempt: &Attempt) -> Response {
    attempt.declare(Disposition::Failed);
    missing()
}

fn missing() -> Response {
    let sentence = "this tenant has no such ticket";
    reply::error(StatusCode::NOT_FOUND, "no_such_ticket", sentence)
}

fn work(filed: Filed) -> Work {
    let (success, status) = match filed.action {
        Action::Created => (StatusCode::CREATED, "open"),
        Action::Updated => (StatusCode::OK, "open"),
        Action::Deleted => (StatusCode::OK, "deleted"),
    };
    let (id, content) = (&filed.ticket_id, filed.content.as_ref());
    Work {
        reference: id.clone(),
        success,
        location: (filed.action == Action::Created).then(|| format!("/v1/tickets/{id}")),
        done: result(id, status, content),
        accepted: result(id, "accepted", content),
        refused: "ticket_refused",
        deed: Deed::Ticket(filed),
    }
}

/// The body of a success.
#[derive(Serialize)]
struct TicketResult<'a> {
    ticket_id: &'a str,
    status: &'static str,
    #[serde(flatten)]
    content: Option<&'a Content>,
}

fn result(ticket_id: &str, status: &'static str, content: Option<&Content>) -> String {
    let result = TicketResult {
        ticket_id,
        status,
        content,
    };
    serde_json::to_string(&result).expect("texts can always be written as JSON")
}

impl Ticket {
    fn content(&self) -> Content {
        Content {
            project: self.project.to_string(),
            title: self.title.to_string(),
            priority: self.priority.map(|priority| priority.as_str().to_owned()),
            source_event_id: self.source_event_id.as_ref().map(ToString::to_string),
        }
    }
}
