//! Has the first response stored, and hands it to its caller.

use counterfoil_core::{
    answer::Status,
    engine::{Outcome, Running, Settled},
};
use http::{Response, StatusCode};

use super::{
    capture::Captured,
    classify::{self, Accepted, Doubt, Failures},
};
use crate::{Body, headers, http_answer::Rendering};

/// What the gate's responses mean.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meanings {
    pub(crate) failures: Failures,
    pub(crate) accepted: Accepted,
    pub(crate) doubt: Doubt,
}

/// Completes the run with the response, and says what its caller gets. The head waits for the commit: nobody sees an
/// end that the store has not.
pub(super) async fn response(
    captured: Captured,
    running: Running,
    meanings: Meanings,
    rendering: &Rendering<'_>,
) -> Response<Body> {
    if captured.parts.status == StatusCode::SWITCHING_PROTOCOLS {
        // What happens on an upgraded connection is no response, and can't be kept or replayed.
        let outcome = Outcome::Unknown("the handler switched protocols");
        return rendering.answer(&running.complete(outcome).await.answer);
    }
    let outcome = outcome(&captured, &running, meanings);
    let Settled {
        own_response,
        answer,
        ..
    } = running.complete(outcome).await;
    let in_doubt = answer.status == Status::OutcomeUnknown;
    if !own_response || in_doubt && meanings.doubt == Doubt::Answer {
        return rendering.answer(&answer);
    }
    let mut response = captured.into_response();
    headers::tell(response.headers_mut(), &answer);
    response
}

fn outcome(captured: &Captured, running: &Running, meanings: Meanings) -> Outcome {
    if captured.is_broken() {
        // Whatever the word was: its caller can't have got the result, and nobody else could.
        return Outcome::Unknown("the response's body broke off");
    }
    let attempt = running.attempt();
    classify::meaning(
        captured.parts.status,
        attempt.declared(),
        attempt.is_clean(),
        meanings.failures,
        meanings.accepted,
    )
    .outcome(|| captured.stored())
}
