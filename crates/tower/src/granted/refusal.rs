//! What a caller without a good grant is told: problem details, RFC 9457.

use counterfoil_core::{OperationId, grant::GrantError};
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::json;

use super::layer::Settings;
use crate::{
    Body, Form, Replay, headers,
    http_answer::{Refusal, Rendering},
};

/// Why a request is refused. Nothing of the service has run.
pub(super) enum Refused {
    /// No grant came.
    Required,
    /// The one that came is not good, or not for this; the operation is named once the tag was found right.
    Grant(GrantError, Option<OperationId>),
    /// A later attempt has the operation.
    Stale(OperationId),
    /// The body, or the memory of epochs: what other services answer too.
    Answer(Refusal),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Answer(refusal)
    }
}

/// The texts of one problem.
struct Problem {
    code: &'static str,
    http: StatusCode,
    title: &'static str,
    detail: &'static str,
    reason: Option<&'static str>,
}

const NOT_VALID: Problem = Problem {
    code: "grant_invalid",
    http: StatusCode::FORBIDDEN,
    title: "The grant is not valid",
    detail: "No key of this service vouches for the grant. Send the write through the gate, and check that gate and \
             service have the same grant key.",
    reason: None,
};

const REQUIRED: Problem = Problem {
    code: "grant_required",
    http: StatusCode::PRECONDITION_REQUIRED,
    title: "A grant is required",
    detail: "This service takes no write but through the gate, which sends a grant with it. Send the write there.",
    reason: None,
};

const STALE: Problem = Problem {
    code: "epoch_stale",
    http: StatusCode::CONFLICT,
    title: "A later attempt has the operation",
    detail: "This attempt lost its operation to a later one, which this service has seen. This write is not made. Stop, \
             and ask the gate how the operation stands.",
    reason: None,
};

const fn mismatch(detail: &'static str, reason: &'static str) -> Problem {
    Problem {
        code: "grant_mismatch",
        http: StatusCode::FORBIDDEN,
        title: "The grant is for another write",
        detail,
        reason: Some(reason),
    }
}

const fn problem_of(error: GrantError) -> Problem {
    match error {
        GrantError::Mistyped => Problem {
            code: "grant_mistyped",
            http: StatusCode::BAD_REQUEST,
            title: "The grant can't be read",
            detail: "What came in Counterfoil-Grant is not one grant. Send the one that the gate minted, as it is, once.",
            reason: None,
        },
        GrantError::Expired => Problem {
            code: "grant_expired",
            http: StatusCode::GONE,
            title: "The grant's time is over",
            detail: "The grant was good until a moment ago, by this service's clock. A run whose lease still holds mints \
                     another one for the same write.",
            reason: None,
        },
        GrantError::EndsTooLate => Problem {
            code: "grant_ends_too_late",
            http: StatusCode::FORBIDDEN,
            title: "The grant would be good for too long",
            detail: "The grant ends later than a grant may, by this service's clock. Set the clocks of gate and service.",
            reason: None,
        },
        GrantError::OtherAudience => mismatch(
            "The grant is for another service. Mint one for this service's name.",
            "other_audience",
        ),
        GrantError::OtherRequest => mismatch(
            "The grant is for another method, path or query than those that came. Mint one for the request as it is sent.",
            "other_request",
        ),
        GrantError::OtherBody => mismatch(
            "The grant is for another body than the one that came. Mint one over the bytes as they are sent.",
            "other_body",
        ),
        // A stranger is told the same, whatever failed; and so of what a later version of the core refuses.
        _ => NOT_VALID,
    }
}

impl Refused {
    pub(super) fn response(self, settings: &Settings) -> Response<Body> {
        let (problem, id) = match self {
            Self::Required => (REQUIRED, None),
            Self::Grant(error, id) => (problem_of(error), id),
            Self::Stale(id) => (STALE, Some(id)),
            Self::Answer(refusal) => {
                return Rendering::new(&settings.wording, Replay::Verbatim)
                    .in_form(Form::ProblemDetails, &settings.problem_types)
                    .refusal(&refusal);
            }
        };
        render(&problem, id, &settings.problem_types)
    }
}

fn render(problem: &Problem, id: Option<OperationId>, types: &str) -> Response<Body> {
    let mut members = json!({
        "type": format!("{types}#{}", problem.code),
        "title": problem.title,
        "status": problem.http.as_u16(),
        "detail": problem.detail,
        "code": problem.code,
        // Of the operation: another attempt may have made the write.
        "executed": "unknown",
        "this_call": "not_run",
        "retryable": false,
    });
    if let Some(id) = id {
        members["instance"] = format!("urn:uuid:{id}").into();
        members["operation_id"] = id.to_string().into();
    }
    if let Some(reason) = problem.reason {
        members["reason"] = reason.into();
    }
    let mut response = Response::new(Body::from(members.to_string().into_bytes()));
    *response.status_mut() = problem.http;
    let to = response.headers_mut();
    to.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/problem+json"),
    );
    to.insert(headers::STATUS, HeaderValue::from_static(problem.code));
    if let Some(id) = id {
        let id = HeaderValue::try_from(id.to_string());
        to.insert(
            headers::OPERATION_ID,
            id.expect("hex digits and hyphens make a header value"),
        );
    }
    headers::forbid_caching(to);
    response
}
