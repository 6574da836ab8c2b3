//! Answers over HTTP: which status, which headers, which body.

mod refusal;
mod rendering;
#[cfg(test)]
mod tests;

use counterfoil_core::answer::{Answer, Status, Wording};
use http::{Response, StatusCode};

use crate::{Body, stored_response::StoredResponse};

pub(crate) use refusal::Refusal;
pub(crate) use rendering::Rendering;

/// What a retry of an ended operation gets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Replay {
    /// The answer as JSON, written for a model, with the first body inside as `result`; the first status, and the first
    /// headers but for those that describe the first body.
    #[default]
    Envelope,
    /// The first response as it was, in the parts that are kept, with `Idempotent-Replayed: true`. Where the body was
    /// too large to keep there is nothing to repeat, and the envelope says so.
    Verbatim,
}

/// How an answer is written that is no replay.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Form {
    /// Agent JSON, for callers that are models: a clear result to go on with. What is under way or not known is 202.
    #[default]
    AgentJson,
    /// Problem details (RFC 9457), for callers that are programs, where the HTTP status is an error's. What is under way
    /// or not known is 409 then. An answer that is no error, or that carries a result, is agent JSON here too.
    ProblemDetails,
}

/// The page that the types of problem details lead to, unless told otherwise: a path of the service itself, which serves
/// [`docs/problems.md`](crate#problem-details) there.
pub const PROBLEM_TYPES: &str = "/docs/problems.md";

/// The HTTP status of an answer. For a replay it is that of the first response.
///
/// ```
/// use counterfoil_core::answer::{Answer, Status};
/// use counterfoil_tower::http_status;
///
/// assert_eq!(http_status(&Answer::new(Status::InProgress)), 202);
/// assert_eq!(http_status(&Answer::new(Status::ParamsChanged)), 422);
/// ```
#[must_use]
pub fn http_status(answer: &Answer) -> StatusCode {
    if let Some(first) = first_status(answer) {
        return first;
    }
    match answer.status {
        Status::Completed | Status::AlreadyCompleted | Status::NotStarted => StatusCode::OK,
        Status::InProgress | Status::OutcomeUnknown | Status::ApprovalRequired => {
            StatusCode::ACCEPTED
        }
        Status::FingerprintMistyped
        | Status::CredentialsDiffer
        | Status::KeyRequired
        | Status::KeyInvalid => StatusCode::BAD_REQUEST,
        Status::Unauthenticated => StatusCode::UNAUTHORIZED,
        Status::FingerprintInvalid | Status::ApprovalDenied => StatusCode::FORBIDDEN,
        Status::NotFound => StatusCode::NOT_FOUND,
        Status::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
        Status::PossibleDuplicate
        | Status::AlreadyExists
        | Status::ResourceBusy
        | Status::VersionConflict
        | Status::TooLate => StatusCode::CONFLICT,
        Status::FingerprintExpired
        | Status::ApprovalExpired
        | Status::Cancelled
        | Status::NotExecuted => StatusCode::GONE,
        Status::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        // A failure without its first response: no status of success may stand for it.
        Status::AlreadyFailed
        | Status::ParamsChanged
        | Status::ParamsInvalid
        | Status::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
        Status::FingerprintRequired => StatusCode::PRECONDITION_REQUIRED,
        Status::OverCapacity => StatusCode::TOO_MANY_REQUESTS,
        Status::NotImplemented => StatusCode::NOT_IMPLEMENTED,
        Status::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        // A status of a later version that nobody mapped is our fault, and no success.
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// An answer as a response: its HTTP status, the agent JSON, and the headers that every answer has. For a service's own
/// endpoints beside the ones here; a result that is a stored response is unpacked.
///
/// ```
/// use counterfoil_core::answer::{Answer, Status, Wording};
/// use counterfoil_tower::answer_response;
///
/// let response = answer_response(&Answer::new(Status::NotImplemented), &Wording::english());
/// assert_eq!(response.status(), 501);
/// assert_eq!(response.headers()["counterfoil-status"], "not_implemented");
/// ```
#[must_use]
pub fn answer_response(answer: &Answer, wording: &Wording) -> Response<Body> {
    Rendering::new(wording, Replay::Envelope).answer(answer)
}

/// The status of the first response, where the answer repeats it and a body can stand under it.
fn first_status(answer: &Answer) -> Option<StatusCode> {
    let repeats = matches!(
        answer.status,
        Status::Completed
            | Status::AlreadyCompleted
            | Status::AlreadyFailed
            | Status::AlreadyExists
    );
    let stored = answer.result.as_ref().filter(|_| repeats)?;
    let first = StoredResponse::decode(stored).ok()?.status;
    // RFC 9110, sections 15.3.5 to 15.3.7 and 15.4.5: no body, or only a part of one. An envelope is whole.
    let bodiless = matches!(first.as_u16(), 100..=199 | 204..=206 | 304);
    (!bodiless).then_some(first)
}
