//! Callers on a socket that send less, more or slower than they should, and that leave at any moment.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{net::TcpStream, sync::mpsc, time::timeout};

use super::*;
use common::server::{Protocol, Server};

/// Longer than anything here takes.
const HUNG: Duration = Duration::from_secs(20);

/// A connection of one's own, and calls on it. It ends when this does.
struct Caller {
    sender: http2::SendRequest<Body>,
    connection: tokio::task::JoinHandle<hyper::Result<()>>,
    address: String,
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Caller {
    async fn of(server: &Server) -> Self {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (sender, connection) = handshake.await.unwrap();
        Self {
            sender,
            connection: tokio::spawn(connection),
            address: server.address.to_string(),
        }
    }

    /// A confirm with this body in place of the order.
    fn call(
        &mut self,
        fingerprint: &str,
        body: Body,
    ) -> impl Future<Output = hyper::Result<Response<hyper::body::Incoming>>> + 'static {
        let mut request = confirm(fingerprint);
        *request.body_mut() = body;
        *request.uri_mut() = format!("http://{}{PATH}", self.address).parse().unwrap();
        self.sender.send_request(request)
    }

    async fn told(&mut self, fingerprint: &str, body: Body) -> Got {
        let told = async {
            let read = read(self.call(fingerprint, body).await.unwrap()).await;
            Got {
                http: read.status,
                metadata: read.headers,
                body: read.body,
                trailers: read.trailers,
            }
        };
        timeout(HUNG, told).await.expect("an answer in time")
    }
}

async fn paying(world: &World, runs: &Arc<AtomicUsize>) -> Server {
    let layer = layer(world)
        .with_max_body(512)
        .with_body_timeout(Duration::from_millis(300));
    let service = wrapped(&layer, runs, |_, _| async { Ok(reply(&["paid"])) });
    Server::start(service, Protocol::Http2).await
}

fn whole() -> Bytes {
    frame(0, &order().encode_to_vec())
}

#[tokio::test]
async fn what_is_no_whole_message_is_named_in_time_and_nothing_runs() {
    let world = World::new();
    let runs = counter();
    let server = paying(&world, &runs).await;
    let mut caller = Caller::of(&server).await;
    let fingerprint = world.fingerprint().await;
    let length_of_4_gib = || Bytes::from_static(b"\0\xff\xff\xff\xff");
    let one_by_one = whole().into_iter().map(|byte| Bytes::from(vec![byte]));
    let slow =
        one_by_one.flat_map(|byte| [Step::Data(byte), Step::Wait(Duration::from_millis(100))]);
    for (name, steps, code, word, reason) in [
        (
            "a length of 4 GiB and an end",
            vec![Step::Data(length_of_4_gib())],
            Code::InvalidArgument,
            "params_invalid",
            "malformed",
        ),
        (
            "a length of 4 GiB and no end",
            vec![Step::Data(length_of_4_gib()), Step::Hang],
            Code::DeadlineExceeded,
            "body_timeout",
            "",
        ),
        (
            "a whole message and no end",
            vec![Step::Data(whole()), Step::Hang],
            Code::DeadlineExceeded,
            "body_timeout",
            "",
        ),
        (
            "a message byte by byte",
            slow.collect(),
            Code::DeadlineExceeded,
            "body_timeout",
            "",
        ),
        (
            "a stream of messages",
            (0..100)
                .map(|_| Step::Data(whole()))
                .chain([Step::Hang])
                .collect(),
            Code::ResourceExhausted,
            "body_too_large",
            "",
        ),
        (
            "two messages",
            vec![Step::Data(whole()), Step::Data(whole())],
            Code::InvalidArgument,
            "params_invalid",
            "given_twice",
        ),
        (
            "a message and half a frame",
            vec![Step::Data(whole()), Step::Data(Bytes::from_static(b"\0\0"))],
            Code::InvalidArgument,
            "params_invalid",
            "given_twice",
        ),
        (
            "nothing",
            vec![],
            Code::InvalidArgument,
            "params_invalid",
            "missing_member",
        ),
    ] {
        let got = caller
            .told(&fingerprint, Body::new(Script::new(steps)))
            .await;
        let info = got.info().metadata;
        let said = info.get("reason").map_or("", String::as_str);
        assert_eq!(
            (got.code(), got.word(), said),
            (code, word, reason),
            "{name}"
        );
        assert_eq!((count(&runs), world.asked()), (0, 0), "{name}");
    }
    let got = caller.told(&fingerprint, whole().into()).await;
    assert_eq!((got.word(), count(&runs)), ("completed", 1));
}

#[tokio::test]
async fn a_call_that_is_reset_before_its_message_is_whole_runs_nothing() {
    let world = World::new();
    let runs = counter();
    let server = paying(&world, &runs).await;
    let mut caller = Caller::of(&server).await;
    let fingerprint = world.fingerprint().await;
    for end in 0..whole().len() {
        let (sent, mut all_sent) = mpsc::channel(1);
        let part = Part {
            bytes: Some(whole().slice(..end)),
            sent,
        };
        let call = tokio::spawn(caller.call(&fingerprint, Body::new(part)));
        let all_sent = timeout(HUNG, all_sent.recv()).await;
        all_sent.expect("the part is taken").unwrap();
        // Its stream is reset.
        call.abort();
    }
    // The resets went first on this connection.
    let got = caller.told(&fingerprint, whole().into()).await;
    assert_eq!((got.word(), count(&runs)), ("completed", 1));
}

/// A part of a body, and a word once it was taken.
struct Part {
    bytes: Option<Bytes>,
    sent: mpsc::Sender<()>,
}

impl http_body::Body for Part {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, BoxError>>> {
        match self.bytes.take() {
            Some(bytes) => std::task::Poll::Ready(Some(Ok(http_body::Frame::data(bytes)))),
            None => {
                let _ = self.sent.try_send(());
                std::task::Poll::Pending
            }
        }
    }
}

#[tokio::test]
async fn a_caller_that_is_gone_while_the_method_runs_or_streams_loses_nothing() {
    for limit in [1 << 20, 16] {
        let world = World::new();
        let runs = counter();
        let (began, mut begun) = mpsc::channel(1);
        let go = Arc::new(tokio::sync::Notify::new());
        let layer = GrpcLayer::new().with_method(PATH, gate(&world).with_max_result(limit));
        let service = wrapped(&layer, &runs, {
            let go = Arc::clone(&go);
            move |_, _| {
                let (began, go) = (began.clone(), Arc::clone(&go));
                async move {
                    began.send(()).await?;
                    go.notified().await;
                    Ok(reply(&["a long receipt of many words"; 9]))
                }
            }
        });
        let server = Server::start(service, Protocol::Http2).await;
        let fingerprint = world.fingerprint().await;
        let mut caller = Caller::of(&server).await;
        let call = tokio::spawn(caller.call(&fingerprint, whole().into()));
        timeout(HUNG, begun.recv())
            .await
            .expect("the method begins");
        call.abort();
        drop(caller);
        go.notify_one();
        world.counterfoil.drain(HUNG).await.unwrap();
        assert_eq!(world.status(&fingerprint).await, "already_completed");
        assert_eq!(count(&runs), 1);
    }
}

#[tokio::test]
async fn a_reply_that_its_server_can_not_end_breaks_off_and_does_not_look_whole() {
    let world = World::new();
    let layer = GrpcLayer::new().with_method(PATH, gate(&world).with_max_result(16));
    let service = wrapped(&layer, &counter(), |_, _| async {
        let mut steps = frames(&["a long receipt of many words"]);
        steps.push(Step::Hang);
        Ok(scripted(steps))
    });
    let fingerprint = world.fingerprint().await;
    // The method goes down with the runtime that it runs on.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let response = runtime.spawn(service.oneshot(confirm(&fingerprint)));
    let mut body = response.await.unwrap().unwrap().into_body();
    let first = body.frame().await.unwrap().unwrap();
    assert!(first.is_data());
    runtime.shutdown_background();
    let end = timeout(HUNG, body.frame()).await.expect("an end in time");
    assert!(end.expect("no clean end").is_err());
}
