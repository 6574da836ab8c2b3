//! Faults around the layer: before the claim, after the completion, and on the connection.

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::StatusCode;

use super::{Chaos, Place};
use crate::reply;

/// On a response: the server is to cut the connection in place of sending it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutConnection;

/// Reads the header once, hands what it says to the handler, and carries out what lies outside of it.
pub(crate) async fn misbehave(mut request: Request, next: Next) -> Response {
    let chaos = match Chaos::of(request.headers()) {
        Ok(chaos) => chaos,
        Err(sentence) => {
            return reply::error(StatusCode::BAD_REQUEST, "chaos_malformed", &sentence)
                .into_response();
        }
    };
    chaos.at(Place::BeforeClaim);
    request.extensions_mut().insert(chaos.clone());
    let mut response = next.run(request).await;
    // The head waits for the commit: what comes after it comes after the completion.
    chaos.at(Place::AfterComplete);
    if chaos.drop_response {
        response.extensions_mut().insert(CutConnection);
    }
    response
}
