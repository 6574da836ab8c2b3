//! What the head says of the body's length is what came.
//!
//! A server that frames by the head has seen to that. This is for what stands between: a layer that changed the body, a
//! server or a bridge that took one of two lengths, or called a part the whole. A part may well be a valid request, for
//! less than was asked.

use counterfoil_core::answer::{Answer, Status};
use http::{HeaderMap, HeaderName, StatusCode, header};

use crate::{headers::says_length, http_answer::Refusal};

/// Refuses a head with two ways to find the body's end (RFC 9112, section 6.3): whoever took the other one saw another
/// request.
pub(super) fn check_one(headers: &HeaderMap) -> Result<(), Refusal> {
    if headers.contains_key(header::CONTENT_LENGTH)
        && headers.contains_key(header::TRANSFER_ENCODING)
    {
        return Err(contradicts(&header::TRANSFER_ENCODING));
    }
    Ok(())
}

/// Refuses a body that is shorter or longer than its head says.
pub(super) fn check_length(headers: &HeaderMap, came: u64) -> Result<(), Refusal> {
    for announced in headers.get_all(header::CONTENT_LENGTH) {
        if says_length(announced, came) {
            continue;
        }
        let announced = announced.to_str().ok().and_then(|text| text.parse().ok());
        return Err(match announced {
            // The rest of it is still on its way, or lost.
            Some(announced) if came < announced => Answer::new(Status::BodyTimeout).into(),
            _ => contradicts(&header::CONTENT_LENGTH),
        });
    }
    Ok(())
}

/// 400: the request contradicts itself.
fn contradicts(name: &HeaderName) -> Refusal {
    let answer = Answer::new(Status::ParamsInvalid)
        .with_reason("malformed")
        .with_field(name.as_str());
    Refusal::with_http(answer, StatusCode::BAD_REQUEST)
}
