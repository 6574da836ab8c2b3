//! Writes an answer as a response.

use counterfoil_core::{
    answer::{Answer, Status, Wording},
    store::StoredResult,
};
use http::{HeaderValue, Response, StatusCode, header};

use super::{Form, PROBLEM_TYPES, Refusal, Replay, http_status};
use crate::{Body, headers, request::says_json, stored_response::StoredResponse};

/// How a service's answers are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rendering<'a> {
    wording: &'a Wording,
    replay: Replay,
    form: Form,
    problem_types: &'a str,
}

/// Whether the first response's headers stand on an envelope: on a replay, which takes its place, and on no other answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstHeaders {
    Shown,
    Left,
}

impl<'a> Rendering<'a> {
    pub(crate) const fn new(wording: &'a Wording, replay: Replay) -> Self {
        Self {
            wording,
            replay,
            form: Form::AgentJson,
            problem_types: PROBLEM_TYPES,
        }
    }

    /// In another form, whose types lead to a page.
    pub(crate) const fn in_form(mut self, form: Form, problem_types: &'a str) -> Self {
        self.form = form;
        self.problem_types = problem_types;
        self
    }

    /// An answer, or a replay where it carries the first response.
    pub(crate) fn answer(&self, answer: &Answer) -> Response<Body> {
        if self.replay == Replay::Verbatim
            && let Some(response) = verbatim(answer)
        {
            return response;
        }
        self.envelope(answer, self.http_status(answer), FirstHeaders::Shown)
    }

    /// A refusal, under its own HTTP status if it has one.
    pub(crate) fn refusal(&self, refusal: &Refusal) -> Response<Body> {
        let answer = &*refusal.answer;
        let http = refusal.http.unwrap_or_else(|| self.http_status(answer));
        self.envelope(answer, http, FirstHeaders::Left)
    }

    /// What is under way, or not known, is an error to a program: the response that it asked for isn't there.
    fn http_status(&self, answer: &Answer) -> StatusCode {
        match (self.form, answer.status) {
            (Form::ProblemDetails, Status::InProgress | Status::OutcomeUnknown) => {
                StatusCode::CONFLICT
            }
            _ => http_status(answer),
        }
    }

    /// How an operation stands: it was found, whatever became of it.
    pub(crate) fn status(&self, answer: &Answer) -> Response<Body> {
        let http = match answer.status {
            Status::AlreadyCompleted
            | Status::AlreadyFailed
            | Status::InProgress
            | Status::OutcomeUnknown
            | Status::NotStarted
            | Status::NotExecuted
            | Status::ApprovalRequired
            | Status::ApprovalDenied
            | Status::ApprovalExpired
            | Status::Cancelled => StatusCode::OK,
            _ => http_status(answer),
        };
        self.envelope(answer, http, FirstHeaders::Left)
    }

    /// How a wish to call off went: a success only where the operation is called off.
    pub(crate) fn call_off(&self, answer: &Answer) -> Response<Body> {
        let http = match answer.status {
            Status::Cancelled => StatusCode::OK,
            _ => http_status(answer),
        };
        self.envelope(answer, http, FirstHeaders::Left)
    }

    fn body(&self, answer: &Answer, http: StatusCode) -> (Vec<u8>, &'static str) {
        let is_error = http.is_client_error() || http.is_server_error();
        if self.form == Form::ProblemDetails && is_error && answer.result.is_none() {
            let json = answer.to_problem_json(self.wording, http.as_u16(), self.problem_types);
            (json, "application/problem+json")
        } else {
            (answer.to_agent_json(self.wording), "application/json")
        }
    }

    /// The answer, with the first body inside, and the first headers but for those that describe that body.
    fn envelope(&self, answer: &Answer, http: StatusCode, show: FirstHeaders) -> Response<Body> {
        let (answer, first) = unpacked(answer);
        let (json, media_type) = self.body(&answer, http);
        let mut response = Response::new(Body::from(json));
        *response.status_mut() = http;
        let headers = response.headers_mut();
        if let Some(first) = first
            && show == FirstHeaders::Shown
        {
            for (name, value) in &first.headers {
                if !headers::describes_the_body(name) {
                    headers.append(name.clone(), value.clone());
                }
            }
        }
        let media_type = HeaderValue::from_static(media_type);
        headers.insert(header::CONTENT_TYPE, media_type);
        if let Some(wait) = answer.poll_after {
            let up = u64::from(wait.subsec_nanos() > 0);
            let seconds = wait.as_secs().saturating_add(up).max(1);
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if http == StatusCode::ACCEPTED
            && let Some(path) = answer
                .operation_id
                .and_then(|id| self.wording.poll_path(id))
            && let Ok(path) = HeaderValue::try_from(path)
        {
            // RFC 9110, section 15.3.3: a 202 points to where the status is told.
            headers.insert(header::LOCATION, path);
        }
        headers::tell(headers, &answer);
        headers::forbid_caching(headers);
        response
    }
}

/// The first response as it was; `None` where the answer carries none, or not all of it.
fn verbatim(answer: &Answer) -> Option<Response<Body>> {
    let first = StoredResponse::decode(answer.result.as_ref()?).ok()?;
    let body = Body::from(first.body?).with_trailers(first.trailers);
    let mut response = Response::new(body);
    *response.status_mut() = first.status;
    *response.headers_mut() = first.headers;
    let headers = response.headers_mut();
    headers::tell(headers, answer);
    headers.insert(headers::REPLAYED, HeaderValue::from_static("true"));
    headers::forbid_caching(headers);
    Some(response)
}

/// The answer with the first body as its result, and the first response that it came from.
///
/// A result that is no response of ours stays as it is: an operation can be run here and there. A response that can't
/// be read, or whose body was not kept, leaves no result, and the answer's text says so.
fn unpacked(answer: &Answer) -> (Answer, Option<StoredResponse>) {
    let mut answer = answer.clone();
    let Some(stored) = answer
        .result
        .take_if(|stored| stored.format.starts_with("http/"))
    else {
        return (answer, None);
    };
    let first = StoredResponse::decode(&stored).ok();
    answer.result = first.as_ref().and_then(|first| {
        let body = first.body.clone()?;
        Some(if says_json(&first.headers) {
            StoredResult::json(body)
        } else {
            StoredResult {
                format: "bytes".into(),
                bytes: body,
            }
        })
    });
    (answer, first)
}
