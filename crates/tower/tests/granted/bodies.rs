//! The body: read only for a good grant, up to a limit, and handed on byte for byte.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use counterfoil_core::grant::RecentEpochs;
use counterfoil_tower::{Body, headers};
use http::Request;
use http_body::Frame;
use proptest::prelude::*;

use crate::ledger::{BODY, Ledger, grant, grant_for, operation};

/// Frames that come one by one, and count how often they are asked for.
struct Counted {
    frames: Vec<Bytes>,
    asked: Arc<AtomicUsize>,
    ends: bool,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match self.frames.pop() {
            Some(frame) => Poll::Ready(Some(Ok(Frame::data(frame)))),
            None if self.ends => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

fn with_body(grant: &str, body: Body) -> Request<Body> {
    Request::post("/entries")
        .header(headers::GRANT, grant)
        .body(body)
        .unwrap()
}

#[tokio::test]
async fn no_byte_of_a_body_is_read_for_a_grant_that_is_not_good() {
    let ledger = Ledger::new();
    let expired = Ledger::with(RecentEpochs::new(), |layer| {
        layer.with_clock(counterfoil_core::SystemClock)
    });
    for (ledger, text) in [
        (&ledger, "x".to_owned()),
        (&ledger, grant().as_str().replacen("g1", "g2", 1)),
        (
            &ledger,
            grant_for("POST", "/other", b"").as_str().to_owned(),
        ),
        (&expired, grant().as_str().to_owned()),
    ] {
        let asked = Arc::<AtomicUsize>::default();
        let body = Counted {
            frames: vec![Bytes::from(BODY)],
            asked: Arc::clone(&asked),
            ends: true,
        };
        let told = ledger.send(with_body(&text, Body::new(body))).await;
        assert!(told.status.is_client_error(), "{told:?}");
        assert_eq!(asked.load(Ordering::SeqCst), 0, "{text}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_or_out_of_time_is_refused() {
    let set = |layer: counterfoil_tower::GrantLayer| {
        layer
            .with_max_body(15)
            .with_body_timeout(Duration::from_millis(20))
    };
    let ledger = Ledger::with(RecentEpochs::new(), set);
    assert_eq!(
        ledger.enter(&grant()).await.status,
        200,
        "15 bytes are in it"
    );

    let long = grant_for("POST", "/entries", &[b'x'; 16]);
    let told = ledger
        .send(with_body(long.as_str(), Body::from(vec![b'x'; 16])))
        .await;
    assert_eq!(
        (told.status.as_u16(), told.word.as_str()),
        (413, "body_too_large")
    );

    let body = Counted {
        frames: vec![Bytes::from(BODY)],
        asked: Arc::default(),
        ends: false,
    };
    let told = ledger
        .send(with_body(grant().as_str(), Body::new(body)))
        .await;
    assert_eq!(
        (told.status.as_u16(), told.word.as_str()),
        (408, "body_timeout")
    );
    assert_eq!(told.json()["type"], "/docs/problems.md#body_timeout");
    assert_eq!(ledger.writes(), 1);
}

#[tokio::test]
async fn a_head_that_contradicts_its_body_is_refused() {
    let ledger = Ledger::new();
    for (name, value) in [
        ("content-length", "14"),
        ("content-length", "16"),
        ("content-type", "text/plain"),
    ] {
        let mut request = with_body(grant().as_str(), Body::from(BODY));
        let headers = request.headers_mut();
        headers.insert("content-type", "application/json".parse().unwrap());
        headers.append(name, value.parse().unwrap());
        let told = ledger.send(request).await;
        assert!(told.status.is_client_error(), "{name}: {told:?}");
    }
    assert_eq!(ledger.writes(), 0);
}

proptest! {
    #[test]
    fn any_body_in_any_pieces_arrives_byte_for_byte(
        pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..8),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let whole = pieces.concat();
        let frames = pieces.into_iter().rev().map(Bytes::from).collect();
        let body = Counted { frames, asked: Arc::default(), ends: true };
        let grant = grant_for("POST", "/entries", &whole);
        let told = runtime.block_on(async {
            Ledger::new().send(with_body(grant.as_str(), Body::new(body))).await
        });
        let id = operation(1);
        let expected = [format!("{id} - 1 {id} ").as_bytes(), &whole].concat();
        prop_assert_eq!(&told.body[..], &expected[..]);
    }
}
