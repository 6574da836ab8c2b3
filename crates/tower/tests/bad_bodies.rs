//! Bodies of requests that are not what their head says: refused by name or by the server, and nothing is claimed.

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use common::{
    BODY, Liar, Read, Script, Step, World, agent, confirm, count, counter, response, send,
    server::{Protocol, Server},
    wrapped,
};
use counterfoil_core::Scope;
use counterfoil_tower::{Body, KeyLayer, PreviewService};
use http::{HeaderMap, HeaderValue, Request};
use http_body::SizeHint;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tower::{Layer, service_fn};

/// A handler on a socket, and what is written to it by hand.
struct Socket {
    world: World,
    fingerprint: String,
    runs: Arc<AtomicUsize>,
    server: Server,
}

impl Socket {
    async fn open(protocol: Protocol) -> Self {
        let world = World::new();
        let fingerprint = world.fingerprint().await;
        let runs = counter();
        let layer = world.layer().with_max_body(1000);
        let layer = layer.with_body_timeout(Duration::from_secs(1));
        let service = wrapped(&layer, &runs, |_, request: Request<Body>| async move {
            let body = http_body_util::BodyExt::collect(request.into_body()).await?;
            assert!(body.trailers().is_none(), "no hash covers them");
            assert_eq!(body.to_bytes(), BODY);
            response(201, "{}")
        });
        let server = Server::start(service, protocol).await;
        Self {
            world,
            fingerprint,
            runs,
            server,
        }
    }

    /// The head of a confirm, with these lines that say how long its body is.
    fn head(&self, lines: &[&str]) -> String {
        let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        let fingerprint = &self.fingerprint;
        format!(
            "POST /confirm HTTP/1.1\r\nhost: here\r\ncounterfoil-fingerprint: {fingerprint}\r\n\
             content-type: application/json\r\n{lines}\r\n"
        )
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.server.address).await.unwrap()
    }

    /// All that comes back for these bytes, until the server closes the connection.
    async fn answers(&self, sent: impl AsRef<[u8]>, hang_up: bool) -> String {
        let mut stream = self.connect().await;
        stream.write_all(sent.as_ref()).await.unwrap();
        if hang_up {
            stream.shutdown().await.unwrap();
        }
        all_of(stream).await
    }

    fn assert_nothing_ran(&self) {
        assert_eq!((count(&self.runs), self.world.asked()), (0, 0));
    }
}

async fn all_of(mut stream: TcpStream) -> String {
    let mut all = Vec::new();
    let read = timeout(Duration::from_secs(10), stream.read_to_end(&mut all)).await;
    // A connection that is reset after its answer is closed, too.
    let _ = read.expect("the server closes the connection");
    String::from_utf8(all).unwrap()
}

/// The statuses of the responses in a text, and the words in them.
fn told(answers: &str) -> Vec<(u16, String)> {
    let responses = answers.split("HTTP/1.1 ").skip(1);
    let told = responses.map(|response| {
        let word = response
            .lines()
            .find_map(|line| line.strip_prefix("counterfoil-status: "));
        let word = word.unwrap_or_default().to_owned();
        (response[..3].parse().unwrap(), word)
    });
    told.collect()
}

fn is(status: u16, word: &str) -> Vec<(u16, String)> {
    vec![(status, word.to_owned())]
}

fn length(length: usize) -> String {
    format!("content-length: {length}")
}

#[tokio::test]
async fn a_body_that_ends_before_its_length_runs_nothing() {
    let socket = Socket::open(Protocol::Http1).await;
    let sent = socket.head(&[&length(BODY.len() + 1)]) + BODY;
    // Its caller waits: so does the layer, for as long as a body may take.
    let mut stream = socket.connect().await;
    stream.write_all(sent.as_bytes()).await.unwrap();
    assert_eq!(told(&all_of(stream).await), is(408, "body_timeout"));
    // Its caller says that nothing more will come.
    let answers = socket.answers(&sent, true).await;
    assert_eq!(told(&answers), is(408, "body_timeout"));
    socket.assert_nothing_ran();
}

#[tokio::test]
async fn a_body_that_goes_on_after_its_length_is_cut_there_and_its_rest_is_no_request() {
    let socket = Socket::open(Protocol::Http1).await;
    let sent = socket.head(&[&length(BODY.len() - 1)]) + BODY;
    let answers = socket.answers(&sent, false).await;
    let mut expected = is(422, "params_invalid");
    // The server's own answer to the brace that is left over.
    expected.extend(is(400, ""));
    assert_eq!(told(&answers), expected, "{answers}");
    socket.assert_nothing_ran();
}

#[tokio::test]
async fn two_lengths_that_differ_and_a_length_that_is_none_are_refused_by_the_server() {
    let socket = Socket::open(Protocol::Http1).await;
    let long = length(BODY.len() + 1);
    for lines in [
        &[length(BODY.len()).as_str(), long.as_str()][..],
        &["content-length: +27"],
        &["content-length: -1"],
        &["content-length: 27, 27"],
        &["transfer-encoding: gzip"],
        &["transfer-encoding: chunked, identity"],
    ] {
        let answers = socket.answers(socket.head(lines) + BODY, true).await;
        assert_eq!(told(&answers), is(400, ""), "{lines:?} {answers}");
    }
    socket.assert_nothing_ran();
}

/// RFC 9112, section 6.3: a server may read such a body by its chunks, if it hangs up then. What a front server took for
/// the next request, or for a part of the body, must not be one here.
#[tokio::test]
async fn a_body_with_a_length_and_in_chunks_is_read_by_its_chunks_and_nothing_after_it() {
    for lines in [
        ["content-length: 4", "transfer-encoding: chunked"],
        ["transfer-encoding: chunked", "content-length: 4"],
    ] {
        let socket = Socket::open(Protocol::Http1).await;
        let second = socket.head(&["transfer-encoding: chunked"]);
        let (size, first) = (BODY.len(), socket.head(&lines));
        let body = format!("{size:x}\r\n{BODY}\r\n0\r\n\r\n");
        let answers = socket
            .answers(format!("{first}{body}{second}{body}"), false)
            .await;
        assert_eq!(told(&answers), is(201, "completed"), "{answers}");
        assert_eq!(count(&socket.runs), 1);
    }
}

#[tokio::test]
async fn chunks_that_are_none_run_nothing() {
    let socket = Socket::open(Protocol::Http1).await;
    let (size, head) = (BODY.len(), socket.head(&["transfer-encoding: chunked"]));
    for body in [
        format!("{size:x}\r\n{BODY}\r\nzz\r\n\r\n"),
        format!("{:x}\r\n{BODY}\r\n0\r\n\r\n", size - 1),
        format!("fffffffffffffffff\r\n{BODY}\r\n0\r\n\r\n"),
    ] {
        let answers = socket.answers(format!("{head}{body}"), true).await;
        assert_eq!(told(&answers), is(408, "body_timeout"), "{answers}");
    }
    socket.assert_nothing_ran();
}

#[tokio::test]
async fn a_body_over_the_cap_is_refused_by_its_length_or_as_soon_as_it_is_over() {
    let socket = Socket::open(Protocol::Http1).await;
    // Announced: refused before a byte of it has come.
    let announced = socket.answers(socket.head(&[&length(1001)]), false).await;
    assert_eq!(told(&announced), is(413, "body_too_large"));
    // In chunks, without an end.
    let head = socket.head(&["transfer-encoding: chunked"]);
    let chunks = format!("100\r\n{}\r\n", " ".repeat(256)).repeat(4);
    let came = socket.answers(head + &chunks, false).await;
    assert_eq!(told(&came), is(413, "body_too_large"));
    socket.assert_nothing_ran();
}

#[tokio::test]
async fn a_body_that_never_ends_is_waited_for_until_its_time_is_over() {
    let socket = Socket::open(Protocol::Http1).await;
    let (mut read, mut write) = socket.connect().await.into_split();
    let head = socket.head(&["transfer-encoding: chunked"]);
    write.write_all(head.as_bytes()).await.unwrap();
    let drip = tokio::spawn(async move {
        while write.write_all(b"1\r\n \r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut all = Vec::new();
    let read = timeout(Duration::from_secs(10), read.read_to_end(&mut all)).await;
    let _ = read.expect("the server closes the connection");
    assert_eq!(
        told(std::str::from_utf8(&all).unwrap()),
        is(408, "body_timeout")
    );
    drip.abort();
    socket.assert_nothing_ran();
}

#[tokio::test]
async fn a_body_that_is_not_utf_8_is_no_json() {
    let socket = Socket::open(Protocol::Http1).await;
    for body in [
        &b"{\"amount\":10,\"payee\":\"b\xffb\"}"[..],
        b"{\"amount\":10,\"payee\":\"\xed\xa0\x80\"}",
        b"\xef\xbb\xbf{\"amount\":10,\"payee\":\"bob\"}",
        b"{\0\"\0a\0\"\0:\x001\0}\0",
        b"\xff",
    ] {
        let head = socket.head(&[&length(body.len()), "connection: close"]);
        let answers = socket
            .answers([head.as_bytes(), body].concat(), false)
            .await;
        assert_eq!(told(&answers), is(422, "params_invalid"), "{answers}");
        assert!(answers.contains(r#""reason":"syntax""#), "{answers}");
    }
    socket.assert_nothing_ran();
}

#[tokio::test]
async fn trailers_of_a_request_are_no_part_of_it() {
    let mut trailers = HeaderMap::new();
    trailers.insert("amount", HeaderValue::from_static("99"));
    for protocol in common::server::BOTH {
        let socket = Socket::open(protocol).await;
        let steps = [Step::Data(BODY.into()), Step::Trailers(trailers.clone())];
        let mut request = socket.server.confirm(&socket.fingerprint);
        *request.body_mut() = Body::new(Script::new(steps));
        request
            .headers_mut()
            .insert("trailer", HeaderValue::from_static("amount"));
        let came = socket.server.ask(request).await;
        assert_eq!((came.head.status.as_u16(), came.word()), (201, "completed"));
    }
}

#[tokio::test]
async fn over_http_2_a_length_that_lies_ends_the_stream() {
    for lie in ["26", "28"] {
        let socket = Socket::open(Protocol::Http2).await;
        let mut request = socket.server.confirm(&socket.fingerprint);
        request
            .headers_mut()
            .insert("content-length", HeaderValue::from_static(lie));
        *request.body_mut() = Body::new(Liar {
            says: SizeHint::new(),
            ended: false,
            body: Script::data([BODY]),
        });
        let came = socket.server.open(request).await;
        assert!(came.is_err(), "{came:?}");
        socket.assert_nothing_ran();
    }
}

/// A confirm that reaches the layer with these fields, as from a server that doesn't frame by them.
async fn layered(fields: &[(&'static str, &'static str)]) -> Read {
    let world = World::new();
    let mut request = confirm(&world.fingerprint().await);
    for (name, value) in fields {
        request
            .headers_mut()
            .append(*name, HeaderValue::from_static(value));
    }
    let runs = counter();
    let service = wrapped(&world.layer(), &runs, |_, _| async { response(201, "{}") });
    let read = send(service, request).await;
    let ran = usize::from(read.word() == "completed");
    assert_eq!((count(&runs), world.asked()), (ran, ran));
    read
}

#[tokio::test]
async fn the_layer_too_refuses_a_body_that_is_not_as_long_as_its_head_says() {
    assert_eq!(BODY.len(), 27);
    let short = layered(&[("content-length", "28")]).await;
    assert_eq!((short.status, short.word()), (408, "body_timeout"));
    for fields in [
        &[("content-length", "26")][..],
        &[("content-length", "27"), ("content-length", "26")],
        &[("content-length", "+27")],
        &[("content-length", "many")],
    ] {
        let told = layered(fields).await;
        assert_eq!(
            (told.status, told.word()),
            (400, "params_invalid"),
            "{fields:?}"
        );
        assert_eq!(told.json()["field"], "content-length");
        assert_eq!(told.json()["reason"], "malformed");
    }
    let both = [("content-length", "27"), ("transfer-encoding", "chunked")];
    let told = layered(&both).await;
    assert_eq!((told.status, told.word()), (400, "params_invalid"));
    assert_eq!(told.json()["field"], "transfer-encoding");
    for fields in [
        &[("content-length", "27")][..],
        &[("content-length", "27"), ("content-length", "27")],
        &[("transfer-encoding", "chunked")],
    ] {
        assert_eq!(layered(fields).await.word(), "completed", "{fields:?}");
    }
}

#[tokio::test]
async fn a_preview_refuses_it_as_well() {
    let world = World::new();
    let mut request = confirm("");
    request
        .headers_mut()
        .insert("content-length", HeaderValue::from_static("28"));
    let told = send(PreviewService::new(world.gate.clone()), request).await;
    assert_eq!((told.status, told.word()), (408, "body_timeout"));
}

/// Of a text any part is a text: only the head can tell that it is a part.
#[tokio::test]
async fn under_a_key_a_part_of_a_body_is_not_bound_and_the_key_is_still_free() {
    let world = World::new();
    let scope = Scope::new("notes.create");
    let gate = world.counterfoil.raw_gate(scope).build().unwrap();
    let runs = counter();
    let counted = Arc::clone(&runs);
    let service = KeyLayer::of_any_body(gate).layer(service_fn(move |_: Request<Body>| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { response(201, "noted") }
    }));
    let note = |body: &'static str| {
        Request::post("/notes")
            .extension(agent())
            .header("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324")
            .header("content-type", "text/plain")
            .header("content-length", "14")
            .body(Body::from(body))
            .unwrap()
    };
    let part = send(service.clone(), note("pay 10")).await;
    assert_eq!((part.status, part.word()), (408, "body_timeout"));
    assert_eq!((count(&runs), world.asked()), (0, 0));
    let whole = send(service, note("pay 10 to bob.")).await;
    assert_eq!((whole.status, whole.word()), (201, "completed"));
}
