//! Reads a request's body whole, within a number of bytes and a time.

use std::{error::Error, time::Duration};

use bytes::Bytes;
use counterfoil_core::answer::{Answer, Status};
use http_body::Body as HttpBody;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::BoxError;

/// Reads all of `body`. Its trailers are dropped: no hash covers them, so no handler may act on them.
pub(super) async fn read<B>(body: B, max: usize, within: Duration) -> Result<Bytes, Answer>
where
    B: HttpBody<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    // A length that is announced is refused before the first byte is waited for.
    if body.size_hint().lower() > max as u64 {
        return Err(Answer::new(Status::BodyTooLarge));
    }
    // An announced `exact` 0 is a body too; collecting it costs nothing.
    match tokio::time::timeout(within, Limited::new(body, max).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if is_over_limit(&*error) => Err(Answer::new(Status::BodyTooLarge)),
        // A body that broke off did not arrive in time either, and its caller is most likely gone.
        Ok(Err(_)) | Err(_) => Err(Answer::new(Status::BodyTimeout)),
    }
}

/// Ours, or that of a limit further out, whose error comes through the body.
fn is_over_limit(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<LengthLimitError>() {
            return true;
        }
        next = error.source();
    }
    false
}
