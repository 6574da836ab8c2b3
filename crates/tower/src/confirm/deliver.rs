//! What a response means for its operation, and what its caller gets.

use counterfoil_core::{
    answer::Status,
    engine::{Attempt, Outcome},
};
use http::{Response, StatusCode};

use super::{
    capture::Captured,
    classify::{self, Accepted, Doubt, Failures},
};
use crate::{Body, headers, http_answer::Rendering, run::Told};

/// What the gate's responses mean.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meanings {
    pub(crate) failures: Failures,
    pub(crate) accepted: Accepted,
    pub(crate) doubt: Doubt,
}

/// What the caller gets, once the end is on record: nobody sees one that the store has not.
pub(super) fn response(
    captured: Captured,
    told: &Told,
    doubt: Doubt,
    rendering: &Rendering<'_>,
) -> Response<Body> {
    let answer = &told.answer;
    let in_doubt = answer.status == Status::OutcomeUnknown;
    if !told.own_response || switches(&captured) || in_doubt && doubt == Doubt::Answer {
        return rendering.answer(answer);
    }
    let mut response = captured.into_response();
    headers::tell(response.headers_mut(), answer);
    response
}

/// What the response means.
pub(super) fn outcome(captured: &Captured, attempt: &Attempt, meanings: Meanings) -> Outcome {
    if switches(captured) {
        return Outcome::Unknown("the handler switched protocols");
    }
    if captured.is_broken() {
        // Whatever the word was: its caller can't have got the result, and nobody else could.
        return Outcome::Unknown("the response's body broke off");
    }
    classify::meaning(
        captured.parts.status,
        attempt.declared(),
        attempt.is_clean(),
        meanings.failures,
        meanings.accepted,
    )
    .outcome(|| captured.stored())
}

/// What happens on an upgraded connection is no response, and can't be kept or replayed.
fn switches(captured: &Captured) -> bool {
    captured.parts.status == StatusCode::SWITCHING_PROTOCOLS
}
