//! Compression around the layer and inside of it: every caller can read what it gets, the first one and every later one.

mod common;

use std::{
    io::{Read as _, Write as _},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use common::{
    Script, Step, World, count, counter,
    server::{BOTH, Came, Protocol, Server},
};
use counterfoil_tower::{Body, BoxError, Replay};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use http::{Extensions, HeaderMap, HeaderValue, Request, Response, StatusCode, Version};
use tower::{Layer, ServiceExt, service_fn, util::BoxCloneService};
use tower_http::compression::{CompressionLayer, DefaultPredicate, Predicate};

type Handler = BoxCloneService<Request<Body>, Response<Body>, BoxError>;

/// Where compression stands, seen from the layer.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Order {
    Outside,
    Inside,
    Both,
}

const ORDERS: [Order; 3] = [Order::Outside, Order::Inside, Order::Both];

/// What a handler says of its body. That it is computed right is the handler's to see to: here it must stay, and the
/// bytes must be those.
const MD5: &str = "Q2hlY2sgSW50ZWdyaXR5IQ==";
const ETAG: &str = "\"v1\"";

/// Long enough for a compressor to take it on.
fn text() -> String {
    format!(r#"{{"note":"{}"}}"#, "paid ".repeat(500))
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn gunzip(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

fn compressed(inner: Handler, predicate: impl Predicate + Send + 'static) -> Handler {
    let layer = CompressionLayer::new().compress_when(predicate);
    let service = layer.layer(inner);
    let service = service.map_response(|response| response.map(Body::new));
    service.boxed_clone()
}

/// A handler on a socket, in the layer, with compression in some order.
struct Stage {
    fingerprint: String,
    runs: Arc<AtomicUsize>,
    server: Server,
}

impl Stage {
    async fn set(
        protocol: Protocol,
        order: Order,
        replay: Replay,
        handler: fn() -> http::Result<Response<Body>>,
    ) -> Self {
        Self::set_if(DefaultPredicate::new(), protocol, order, replay, handler).await
    }

    /// Only what the predicate takes is compressed.
    async fn set_if(
        predicate: impl Predicate + Send + 'static,
        protocol: Protocol,
        order: Order,
        replay: Replay,
        handler: fn() -> http::Result<Response<Body>>,
    ) -> Self {
        let world = World::new();
        let fingerprint = world.fingerprint().await;
        let runs = counter();
        let counted = Arc::clone(&runs);
        let handler = service_fn(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move { Ok::<_, BoxError>(handler()?) }
        });
        let mut service: Handler = handler.boxed_clone();
        if order != Order::Outside {
            service = compressed(service, predicate.clone());
        }
        let layer = world.layer().with_replay(replay);
        service = layer.layer(service).boxed_clone();
        if order != Order::Inside {
            service = compressed(service, predicate);
        }
        let server = Server::start(service, protocol).await;
        Self {
            fingerprint,
            runs,
            server,
        }
    }

    /// A confirm by a caller that takes these encodings.
    async fn ask(&self, takes: Option<&'static str>) -> Came {
        let mut request = self.server.confirm(&self.fingerprint);
        if let Some(takes) = takes {
            let takes = HeaderValue::from_static(takes);
            request.headers_mut().insert("accept-encoding", takes);
        }
        let came = self.server.ask(request).await;
        assert!(came.whole);
        assert_eq!((came.head.status.as_u16(), count(&self.runs)), (201, 1));
        came
    }
}

fn described() -> http::Result<Response<Body>> {
    Response::builder()
        .status(201)
        .header("content-type", "application/json")
        .header("etag", ETAG)
        .header("content-md5", MD5)
        .body(Body::from(text().into_bytes()))
}

/// The text, as its caller reads it, and whether it came compressed.
fn read(came: &Came) -> (String, bool) {
    match came.header("content-encoding") {
        "gzip" => {
            assert_eq!(
                came.header("content-length"),
                "",
                "of the compressed body nobody knows it"
            );
            assert!(came.body.len() < text().len() / 4);
            (gunzip(&came.body), true)
        }
        coding => {
            assert_eq!(coding, "");
            assert_eq!(came.header("content-length"), came.body.len().to_string());
            (String::from_utf8(came.body.clone()).unwrap(), false)
        }
    }
}

/// How often `Vary` names `Accept-Encoding`.
fn varies(came: &Came) -> usize {
    let values = came.head.headers.get_all("vary").iter();
    let values = values.flat_map(|value| value.to_str().unwrap().split(','));
    values
        .filter(|name| name.trim().eq_ignore_ascii_case("accept-encoding"))
        .count()
}

/// One asks for gzip, one doesn't, one refuses it, in either order of coming.
const CALLERS: [[Option<&str>; 4]; 2] = [
    [Some("gzip"), None, Some("gzip;q=0, identity"), Some("gzip")],
    [None, Some("gzip"), Some("identity"), None],
];

#[tokio::test]
async fn every_caller_can_read_the_replay_whoever_was_first() {
    for order in ORDERS {
        for (protocol, callers) in [
            (Protocol::Http1, CALLERS[0]),
            (Protocol::Http1, CALLERS[1]),
            (Protocol::Http2, CALLERS[0]),
            (Protocol::Http2, CALLERS[1]),
        ] {
            let stage = Stage::set(protocol, order, Replay::Verbatim, described).await;
            for (nth, takes) in callers.into_iter().enumerate() {
                let came = stage.ask(takes).await;
                let (body, in_gzip) = read(&came);
                assert_eq!(body, text(), "{order:?} {takes:?}");
                assert_eq!(
                    in_gzip,
                    order != Order::Inside && takes == Some("gzip"),
                    "{order:?}"
                );
                assert_eq!(varies(&came), 1, "{order:?} {takes:?}");
                assert_eq!(
                    (came.header("etag"), came.header("content-md5")),
                    (ETAG, MD5)
                );
                assert_eq!(
                    came.header("idempotent-replayed"),
                    if nth == 0 { "" } else { "true" }
                );
            }
        }
    }
}

#[tokio::test]
async fn every_caller_can_read_the_envelope_whoever_was_first() {
    for order in ORDERS {
        let stage = Stage::set(Protocol::Http1, order, Replay::Envelope, described).await;
        for takes in [Some("gzip"), Some("gzip"), None] {
            let came = stage.ask(takes).await;
            let (body, in_gzip) = read(&came);
            assert_eq!(in_gzip, order != Order::Inside && takes.is_some());
            let json: serde_json::Value = serde_json::from_str(&body).unwrap();
            let result = json.get("result").unwrap_or(&json);
            assert_eq!(result.to_string(), text(), "{order:?}");
        }
    }
}

/// A digest of the content, and a strong tag, are of the bytes before compression. A service whose callers compare them
/// leaves such responses alone.
#[tokio::test]
async fn what_is_described_by_a_digest_can_be_left_uncompressed() {
    let undescribed = |_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions| {
        !headers.contains_key("content-md5") && !headers.contains_key("etag")
    };
    for order in ORDERS {
        let predicate = DefaultPredicate::new().and(undescribed);
        let stage = Stage::set_if(
            predicate,
            Protocol::Http1,
            order,
            Replay::Verbatim,
            described,
        )
        .await;
        for takes in [Some("gzip"), None, Some("gzip")] {
            let came = stage.ask(takes).await;
            assert_eq!(read(&came), (text(), false));
            assert_eq!(
                (came.header("etag"), came.header("content-md5")),
                (ETAG, MD5)
            );
        }
    }
}

#[tokio::test]
async fn a_body_that_the_handler_compressed_is_the_same_for_all_and_not_compressed_again() {
    fn handler() -> http::Result<Response<Body>> {
        Response::builder()
            .status(201)
            .header("content-encoding", "gzip")
            .header("etag", ETAG)
            .body(Body::from(gzip(&text())))
    }
    for order in ORDERS {
        let stage = Stage::set(Protocol::Http1, order, Replay::Verbatim, handler).await;
        for takes in [Some("gzip"), None, Some("gzip")] {
            let came = stage.ask(takes).await;
            assert_eq!(came.header("content-encoding"), "gzip");
            assert_eq!(came.header("content-length"), came.body.len().to_string());
            assert_eq!(came.body, gzip(&text()));
        }
    }
}

#[tokio::test]
async fn trailers_come_through_compression_too() {
    fn handler() -> http::Result<Response<Body>> {
        let mut trailers = HeaderMap::new();
        trailers.insert("x-sum", HeaderValue::from_static("7"));
        let steps = [Step::Data(text().into()), Step::Trailers(trailers)];
        let response = Response::builder().status(201).header("trailer", "x-sum");
        response.body(Body::new(Script::new(steps)))
    }
    for order in ORDERS {
        for protocol in BOTH {
            let stage = Stage::set(protocol, order, Replay::Verbatim, handler).await;
            for takes in [Some("gzip"), None] {
                let came = stage.ask(takes).await;
                let in_gzip = came.header("content-encoding") == "gzip";
                assert_eq!(in_gzip, order != Order::Inside && takes.is_some());
                let body = if in_gzip {
                    gunzip(&came.body).into()
                } else {
                    came.body
                };
                assert_eq!(body, text().into_bytes());
                assert_eq!(
                    came.trailers.expect("trailers")["x-sum"],
                    "7",
                    "{order:?} {takes:?}"
                );
            }
        }
    }
}
