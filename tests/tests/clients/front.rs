//! What stands between a client and a service, as a load balancer does, and fails as it is told.

use std::{
    collections::VecDeque,
    fmt,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Instant,
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tests::{Call, Reply};
use tokio::{net::TcpListener, task::JoinHandle};

/// What happens to one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// It arrives and is answered, and the connection is cut before the first byte of the answer.
    AnswerLost,
    /// It arrives and is answered, and the connection is cut in the middle of the answer's body.
    AnswerBroken,
    /// It never arrives: the front says 503.
    KeptOut,
    /// The same, with a `Retry-After` of so many seconds.
    KeptOutFor(u8),
    /// It arrives and is answered, and the front says 503 in place of the answer.
    AnsweredFor,
    /// It arrives with this header, which asks the service for a fault of its own.
    Chaos(&'static str),
}

/// A request that came, and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// The values of `Idempotency-Key`, as they were sent.
    pub(crate) keys: Vec<String>,
    pub(crate) path: String,
    pub(crate) body: Bytes,
    pub(crate) at: Instant,
    /// The service's answer. None where the front kept the request out, or the client hung up before there was one.
    pub(crate) answer: Option<Reply>,
}

/// A front on a free port of the loopback. It takes connections until it is dropped.
#[derive(Debug)]
pub(crate) struct Front {
    address: SocketAddr,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    service: SocketAddr,
    faults: Mutex<VecDeque<Fault>>,
    attempts: Mutex<Vec<Attempt>>,
}

/// Not to be told in HTTP: the connection ends.
#[derive(Debug)]
struct Cut;

impl Front {
    /// Places these faults, one for each request that comes, in turn. What comes after them passes.
    pub(crate) async fn start(service: SocketAddr, faults: &[Fault]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(State {
            service,
            faults: Mutex::new(faults.iter().copied().collect()),
            attempts: Mutex::default(),
        });
        let accepting = tokio::spawn(Arc::clone(&state).accept(listener));
        Self {
            address,
            state,
            accepting,
        }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests that came so far, in their order.
    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        lock(&self.state.attempts).clone()
    }

    /// Holds that each fault met a request.
    #[track_caller]
    pub(crate) fn assert_all_placed(&self) {
        let left = lock(&self.state.faults).clone();
        assert!(left.is_empty(), "no request met {left:?}");
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl State {
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            let state = Arc::clone(&self);
            // It ends when the client hangs up, or by a fault. Both are as they should be.
            tokio::spawn(async move {
                let service = service_fn(|request| state.serve(request));
                let connection = http1::Builder::new();
                let connection = connection.serve_connection(TokioIo::new(stream), service);
                drop(connection.await);
            });
        }
    }

    async fn serve(&self, request: Request<Incoming>) -> Result<Response<Pieces>, Cut> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| Cut)?.to_bytes();
        let keys = parts.headers.get_all("idempotency-key").iter();
        let number = {
            let mut attempts = lock(&self.attempts);
            attempts.push(Attempt {
                keys: keys
                    .map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned())
                    .collect(),
                path: parts.uri.path().to_owned(),
                body: body.clone(),
                at: Instant::now(),
                answer: None,
            });
            attempts.len() - 1
        };
        let fault = lock(&self.faults).pop_front();
        match fault {
            Some(Fault::KeptOut) => return Ok(unavailable()),
            Some(Fault::KeptOutFor(seconds)) => {
                let mut response = unavailable();
                let headers = response.headers_mut();
                headers.insert(header::RETRY_AFTER, u16::from(seconds).into());
                return Ok(response);
            }
            _ => {}
        }
        let mut call = Call::new(parts.method, parts.uri.to_string()).body(body);
        for (name, value) in &parts.headers {
            if !belongs_to_a_connection(name) {
                call = call.header(name.as_str(), value);
            }
        }
        if let Some(Fault::Chaos(chaos)) = fault {
            call = call.header("x-chaos", chaos);
        }
        let reply = call.send(self.service).await.map_err(|_| Cut)?;
        lock(&self.attempts)[number].answer = Some(reply.clone());
        match fault {
            Some(Fault::AnswerLost) => Err(Cut),
            Some(Fault::AnsweredFor) => Ok(unavailable()),
            Some(Fault::AnswerBroken) => Ok(passed_on(&reply, reply.body.len() / 2)),
            _ => Ok(passed_on(&reply, reply.body.len())),
        }
    }
}

/// As load balancers say it: without a word of what they stand before.
fn unavailable() -> Response<Pieces> {
    let mut response = Response::new(Pieces::whole(Bytes::from_static(
        b"<html><body>503 Service Temporarily Unavailable</body></html>",
    )));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    let html = HeaderValue::from_static("text/html");
    response.headers_mut().insert(header::CONTENT_TYPE, html);
    response
}

/// The answer, of whose body only so many bytes come.
fn passed_on(reply: &Reply, bytes: usize) -> Response<Pieces> {
    let mut pieces = Pieces::whole(reply.body.slice(..bytes));
    pieces.broken = bytes < reply.body.len();
    let mut response = Response::new(pieces);
    *response.status_mut() = StatusCode::from_u16(reply.status).expect("it came as one");
    *response.headers_mut() = reply.headers.clone();
    for name in [header::CONNECTION, header::TRANSFER_ENCODING] {
        response.headers_mut().remove(name);
    }
    // Of the whole one, so that a client sees that it was cut.
    let length = HeaderValue::from(reply.body.len());
    response
        .headers_mut()
        .insert(header::CONTENT_LENGTH, length);
    response
}

fn belongs_to_a_connection(name: &HeaderName) -> bool {
    [
        header::HOST,
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::TRANSFER_ENCODING,
    ]
    .contains(name)
}

/// A body that may break off.
struct Pieces {
    first: Option<Bytes>,
    broken: bool,
    flushed: bool,
}

impl Pieces {
    const fn whole(bytes: Bytes) -> Self {
        Self {
            first: Some(bytes),
            broken: false,
            flushed: false,
        }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if !self.broken {
            return Poll::Ready(None);
        }
        if !self.flushed {
            // What came before goes out while a body has nothing to give.
            self.flushed = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err(Cut)))
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cut on purpose")
    }
}

impl std::error::Error for Cut {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
