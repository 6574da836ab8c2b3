//! What later versions answer. Until then: 501, in the form of every answer, and nothing happens.

use axum::{extract::State, response::Response};
use counterfoil::answer::{Answer, Status};

use crate::{app::App, reply};

/// 501.
pub(crate) async fn not_implemented(State(app): State<App>) -> Response {
    reply::answer(&Answer::new(Status::NotImplemented), app.wording())
}
