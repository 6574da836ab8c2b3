//! How long a connection lasts, by a clock that is moved: over pipes in memory, so that nothing real is waited for.

use std::{convert::Infallible, time::Duration};

use axum::{
    Router,
    body::Body,
    routing::{get, post},
};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, channel::Channel};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    connection::{GRACE, QUIET, attend},
    lingering::LINGER,
};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
/// A head that goes on for five bytes, and never ends.
const HALF_A_HEAD: &[u8] = b"\0\0\x05\x01\0\0\0\0\x01\0\x01a\x01b";
/// A caller with no room for a body.
const NO_WINDOW: &[u8] = b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\0";
/// `GET http://a/large`.
const GET_LARGE: &[u8] = b"\0\0\x0d\x01\x05\0\0\0\x01\x82\x86\x04\x06/large\x41\x01a";
/// How large an answer is that no pipe here holds.
const LARGE: usize = 1 << 20;
/// Longer than a connection stays that nothing moves on.
const LONG: Duration = Duration::from_secs(300);

/// A connection of a service that is at once, slow, large, halting or refusing.
struct Connection {
    caller: DuplexStream,
    ended: JoinHandle<()>,
    stop: watch::Sender<bool>,
    began: Instant,
}

fn open() -> Connection {
    let router = Router::new()
        .route("/", get(async || "at once"))
        .route("/slow", get(async || sleep(LONG).await))
        .route("/large", get(async || vec![b'l'; LARGE]))
        .route("/halting", get(async || halting()))
        .route("/refusing", post(async || StatusCode::PAYLOAD_TOO_LARGE));
    let (caller, service) = duplex(4096);
    let (stop, stopping) = watch::channel(false);
    Connection {
        caller,
        ended: tokio::spawn(attend(service, router, stopping)),
        stop,
        began: Instant::now(),
    }
}

/// Two frames with a long pause between them.
fn halting() -> Body {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(1);
    tokio::spawn(async move {
        for frame in ["one ", "two"] {
            // Nobody may be there any more.
            let _ = sender.send_data(Bytes::from_static(frame.as_bytes())).await;
            sleep(LONG).await;
        }
    });
    Body::new(body)
}

/// How long the connection lasts, if nothing is read from it.
async fn lasts(ended: JoinHandle<()>, began: Instant) -> Duration {
    let end = timeout(2 * LONG, ended).await;
    end.expect("it ends").expect("without a panic");
    began.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_does_not_get_to_a_request_ends() {
    for sent in [
        &b""[..],
        b"P",
        &PREFACE[..12],
        PREFACE,
        &[PREFACE, SETTINGS].concat(),
        &[PREFACE, SETTINGS, HALF_A_HEAD].concat(),
        b"GET / HTTP/1.1\r\nHost: a",
    ] {
        let mut connection = open();
        connection.caller.write_all(sent).await.expect("it is read");
        let lasted = lasts(connection.ended, connection.began).await;
        let shown = String::from_utf8_lossy(sent);
        assert!(
            (QUIET..=QUIET + 2 * GRACE).contains(&lasted),
            "{shown:?}: {lasted:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_sends_a_byte_now_and_then_ends_at_the_same_time() {
    for sent in [PREFACE, b"GET / HTTP/1.1\r\nHost: a\r\nX: "] {
        let Connection {
            mut caller,
            ended,
            began,
            stop: _stop,
        } = open();
        let drips = tokio::spawn(async move {
            for byte in sent {
                if caller.write_all(&[*byte]).await.is_err() {
                    break;
                }
                sleep(Duration::from_secs(5)).await;
            }
            caller
        });
        let lasted = lasts(ended, began).await;
        assert!((QUIET..=QUIET + 2 * GRACE).contains(&lasted), "{lasted:?}");
        drips.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_takes_ends_its_connection() {
    for asked in [
        &b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n"[..],
        &[PREFACE, NO_WINDOW, GET_LARGE].concat(),
    ] {
        let mut connection = open();
        connection
            .caller
            .write_all(asked)
            .await
            .expect("it is read");
        let lasted = lasts(connection.ended, connection.began).await;
        assert!((QUIET..=QUIET + 2 * GRACE).contains(&lasted), "{lasted:?}");
    }
}

/// The body at a path, over a version of HTTP. A caller that is slow takes a little at a time.
async fn asked(caller: DuplexStream, version: u8, path: &str) -> Bytes {
    let request = hyper::Request::get(format!("http://a{path}"));
    let request = request.body(Body::empty()).expect("a request");
    let io = TokioIo::new(caller);
    let response = if version == 2 {
        let executor = TokioExecutor::new();
        let (mut sender, connection) = http2::handshake(executor, io).await.expect("HTTP/2");
        tokio::spawn(connection);
        sender.send_request(request).await
    } else {
        let (mut sender, connection) = http1::handshake(io).await.expect("HTTP/1.1");
        tokio::spawn(connection);
        sender.send_request(request).await
    };
    let body = response.expect("an answer").into_body();
    body.collect().await.expect("all of it").to_bytes()
}

#[tokio::test(start_paused = true)]
async fn the_service_may_take_its_time() {
    for version in [1, 2] {
        for (path, body) in [("/slow", ""), ("/halting", "one two")] {
            let connection = open();
            assert_eq!(asked(connection.caller, version, path).await, body);
            assert!(connection.began.elapsed() >= LONG, "{path}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_reads_slowly_gets_all_of_it() {
    for version in [1, 2] {
        let Connection {
            caller,
            ended,
            began,
            stop: _stop,
        } = open();
        // A pipe that lets a few thousand bytes pass every twenty seconds.
        let (near, far) = duplex(64);
        let (mut from_service, mut to_service) = tokio::io::split(caller);
        let (mut from_caller, mut to_caller) = tokio::io::split(far);
        tokio::spawn(async move { tokio::io::copy(&mut from_caller, &mut to_service).await });
        tokio::spawn(async move {
            let mut some = vec![0; 16 << 10];
            while let Ok(read @ 1..) = from_service.read(&mut some).await {
                if to_caller.write_all(&some[..read]).await.is_err() {
                    break;
                }
                sleep(Duration::from_secs(20)).await;
            }
        });
        let body = timeout(100 * LONG, asked(near, version, "/large")).await;
        assert_eq!(body.expect("an end").len(), LARGE);
        assert!(began.elapsed() > LONG, "{:?}", began.elapsed());
        drop(ended);
    }
}

#[tokio::test(start_paused = true)]
async fn told_to_end_a_connection_waits_for_its_answers_and_for_nothing_else() {
    for version in [1, 2] {
        let connection = open();
        let slow = tokio::spawn(asked(connection.caller, version, "/slow"));
        sleep(Duration::from_secs(1)).await;
        connection.stop.send_replace(true);
        assert_eq!(slow.await.expect("an answer"), "");
        let lasted = lasts(connection.ended, connection.began).await;
        assert!((LONG..=LONG + 2 * GRACE).contains(&lasted), "{lasted:?}");
    }
    // One that doesn't do its part of an end in order is not waited for.
    for sent in [
        &b""[..],
        &PREFACE[..12],
        PREFACE,
        &[PREFACE, SETTINGS].concat(),
    ] {
        let mut connection = open();
        connection.caller.write_all(sent).await.expect("it is read");
        sleep(Duration::from_secs(1)).await;
        connection.stop.send_replace(true);
        let lasted = lasts(connection.ended, connection.began).await;
        assert!(lasted <= 2 * GRACE, "{sent:?}: {lasted:?}");
    }
}

/// A caller that was told that its body is too large, and goes on sending it.
async fn refused() -> Connection {
    let mut connection = open();
    let head = b"POST /refusing HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n";
    connection.caller.write_all(head).await.expect("it is read");
    let mut answer = String::new();
    let read = connection.caller.read_to_string(&mut answer).await;
    read.expect("an answer, and an end in order");
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    connection
}

#[tokio::test(start_paused = true)]
async fn a_caller_whose_body_is_refused_may_send_it_to_its_end() {
    let mut connection = refused().await;
    let body = vec![b'b'; 1 << 20];
    connection
        .caller
        .write_all(&body)
        .await
        .expect("it is not cut off");
    drop(connection.caller);
    let lasted = lasts(connection.ended, connection.began).await;
    assert!(lasted < LINGER, "{lasted:?}");
}

#[tokio::test(start_paused = true)]
async fn one_that_never_stops_sending_is_cut_off() {
    let Connection {
        mut caller,
        ended,
        began,
        stop: _stop,
    } = refused().await;
    let endless = tokio::spawn(async move {
        while caller.write_all(b"more of it").await.is_ok() {
            sleep(Duration::from_millis(100)).await;
        }
    });
    let lasted = lasts(ended, began).await;
    assert!((LINGER..2 * LINGER).contains(&lasted), "{lasted:?}");
    endless.await.expect("its writes fail");
}
