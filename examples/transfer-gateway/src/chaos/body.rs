//! Bodies of odd shapes. Whole, each is the usual JSON object with one member more.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::channel::{Channel, SendError, Sender};
use tokio::time::sleep;

use super::Shape;

/// How large a chunk of a stream is.
const CHUNK: usize = 4096;
/// How long a stream waits between two chunks, so that each is flushed by itself.
const PAUSE: Duration = Duration::from_millis(2);

/// The JSON object, which is not empty, in the shape that was asked for.
pub(crate) fn shaped(object: String, shape: Option<Shape>) -> Body {
    match shape {
        None => Body::from(object),
        Some(Shape::Big(size)) => Body::from(padded(object, size)),
        Some(Shape::Stream(chunks)) => streamed(&object, chunks, false),
        Some(Shape::Break(chunks)) => streamed(&object, chunks, true),
    }
}

/// The object with a member that brings it to `size` bytes.
fn padded(object: String, size: usize) -> String {
    let opened = opened(&object);
    match size.checked_sub(opened.len() + CLOSING.len()) {
        Some(missing) => format!("{opened}{}{CLOSING}", "x".repeat(missing)),
        None => object,
    }
}

const CLOSING: &str = "\"}";

/// The object up to the content of one member more.
fn opened(object: &str) -> String {
    let unended = object.strip_suffix('}').unwrap_or(object);
    format!("{unended},\"padding\":\"")
}

/// `chunks` chunks, the last of which closes the object; or which is never closed, and breaks off.
fn streamed(object: &str, chunks: usize, breaks: bool) -> Body {
    let (mut sender, body) = Channel::<Bytes, std::io::Error>::new(1);
    let opened = opened(object);
    tokio::spawn(async move {
        // The receiver may be gone: then nobody waits for the rest.
        let sent = send(&mut sender, &opened, chunks, breaks).await;
        if sent.is_ok() && breaks {
            sender.abort(std::io::Error::other(
                "a body that breaks off on request of X-Chaos",
            ));
        }
    });
    Body::new(body)
}

async fn send(
    sender: &mut Sender<Bytes, std::io::Error>,
    opened: &str,
    chunks: usize,
    breaks: bool,
) -> Result<(), SendError> {
    for number in 1..=chunks {
        let mut chunk = if number == 1 {
            opened.to_owned()
        } else {
            String::new()
        };
        let closing = if number == chunks && !breaks {
            CLOSING
        } else {
            ""
        };
        let missing = CHUNK.saturating_sub(chunk.len() + closing.len());
        chunk.extend(std::iter::repeat_n('x', missing));
        chunk.push_str(closing);
        sender.send_data(Bytes::from(chunk)).await?;
        sleep(PAUSE).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_big_body_has_exactly_its_size() {
        let object = r#"{"a":1}"#;
        for size in [22, 23, 100, 5000] {
            let text = padded(object.to_owned(), size);
            assert_eq!(text.len(), size.max(object.len()));
            assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
        }
        assert_eq!(padded(object.to_owned(), 3), object);
    }

    #[tokio::test]
    async fn a_stream_is_one_object_in_chunks() {
        let whole = streamed(r#"{"a":1}"#, 3, false)
            .collect()
            .await
            .expect("whole")
            .to_bytes();
        assert_eq!(whole.len(), 3 * CHUNK);
        let read: Value = serde_json::from_slice(&whole).expect("JSON");
        assert_eq!(read["a"], 1);
    }

    #[tokio::test]
    async fn a_broken_body_gives_its_chunks_and_an_error() {
        let mut body = streamed(r#"{"a":1}"#, 2, true);
        for _ in 0..2 {
            let frame = body.frame().await.expect("a frame").expect("data");
            assert_eq!(frame.into_data().expect("data").len(), CHUNK);
        }
        assert!(body.frame().await.expect("an error").is_err());
    }
}
