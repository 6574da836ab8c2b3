//! Writes what a caller is told.

use counterfoil_core::answer::{Answer, Status, Wording};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use super::{
    answer_status,
    capture::Captured,
    codes::status_under,
    read::{ACCEPT_ENCODING, How, Refusal},
    reply::{CONTENT_TYPE, Reply},
};
use crate::{Body, headers, run::Told};

/// A call that is refused before anything is claimed.
pub(super) fn refusal(refusal: &Refusal, wording: &Wording) -> Response<Body> {
    let status = match refusal.code() {
        Some(code) => status_under(code, &refusal.answer, wording),
        None => answer_status(&refusal.answer, wording),
    };
    let mut response = status.into_http();
    match refusal.how {
        How::Table => {}
        How::Compressed => {
            let identity = HeaderValue::from_static("identity");
            response.headers_mut().insert(ACCEPT_ENCODING, identity);
        }
        How::NotGrpc => *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE,
    }
    response
}

/// A call that could be taken for one of a guarded method, by another path than its own.
pub(super) fn misspelt(wording: &Wording) -> Response<Body> {
    answer_status(&Answer::new(Status::NotImplemented), wording).into_http()
}

/// The method's own reply where it stands, else the first one, else the answer, in trailers alone.
pub(super) fn reply(told: &Told, own: Option<Captured>, wording: &Wording) -> Response<Body> {
    let answer = &told.answer;
    if own_stands(told)
        && let Some(mut response) = own.and_then(Captured::into_response)
    {
        forget(response.headers_mut());
        headers::tell(response.headers_mut(), answer);
        return response;
    }
    replay(answer).unwrap_or_else(|| answer_status(answer, wording).into_http())
}

/// Whether the method's own reply goes to its caller. In doubt that caller is told so, as every later one: an `INTERNAL` or
/// `UNAVAILABLE` of the method's reads as leave to begin anew.
pub(super) fn own_stands(told: &Told) -> bool {
    told.own_response && told.answer.status != Status::OutcomeUnknown
}

/// The trailers of a reply whose messages its caller has, or is getting.
pub(super) fn trailers(told: &Told, own: Option<Captured>, wording: &Wording) -> HeaderMap {
    let answer = &told.answer;
    let mut trailers = match own.filter(|_| own_stands(told)) {
        Some(own) => own.into_trailers(),
        None => {
            // The whole head of the answer, but for what only a head has.
            let mut trailers = answer_status(answer, wording)
                .into_http::<Body>()
                .into_parts()
                .0
                .headers;
            trailers.remove(header::CONTENT_TYPE);
            trailers
        }
    };
    forget(&mut trailers);
    headers::tell(&mut trailers, answer);
    trailers
}

/// Takes out what only we may say.
pub(super) fn forget(metadata: &mut HeaderMap) {
    for name in [headers::STATUS, headers::OPERATION_ID, headers::REPLAYED] {
        metadata.remove(name);
    }
}

/// The first reply as it was; `None` where the answer carries none, or not all of it.
fn replay(answer: &Answer) -> Option<Response<Body>> {
    let first = Reply::decode(answer.result.as_ref()?)?;
    let frames = Some(first.body?).filter(|body| !body.is_empty());
    let trailers = Some(first.trailers).filter(|trailers| !trailers.is_empty());
    let body = Body::whole(frames.into_iter().collect(), trailers);
    let mut response = Response::new(body);
    *response.headers_mut() = first.headers;
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_TYPE).or_insert(CONTENT_TYPE);
    headers::tell(headers, answer);
    headers.insert(headers::REPLAYED, HeaderValue::from_static("true"));
    Some(response)
}
