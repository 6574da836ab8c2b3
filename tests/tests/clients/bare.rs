//! A service of tickets as it is without the library: each request that comes is a ticket.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle};

/// It runs on a free port of the loopback until it is dropped.
#[derive(Debug)]
pub(crate) struct Bare {
    address: SocketAddr,
    tickets: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Bare {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let tickets = Arc::new(AtomicUsize::new(0));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&tickets)));
        Self {
            address,
            tickets,
            accepting,
        }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn tickets(&self) -> usize {
        self.tickets.load(Ordering::SeqCst)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, tickets: Arc<AtomicUsize>) {
    while let Ok((stream, _)) = listener.accept().await {
        let tickets = Arc::clone(&tickets);
        tokio::spawn(async move {
            let service = service_fn(|request| file(request, &tickets));
            let connection = http1::Builder::new();
            // The client may have hung up.
            drop(
                connection
                    .serve_connection(TokioIo::new(stream), service)
                    .await,
            );
        });
    }
}

async fn file(
    request: Request<Incoming>,
    tickets: &AtomicUsize,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let delay = delay(&request);
    drop(request.into_body().collect().await);
    let number = tickets.fetch_add(1, Ordering::SeqCst) + 1;
    tokio::time::sleep(delay).await;
    let ticket = json!({"ticket_id": format!("ticket-{number}"), "status": "open"});
    let mut response = Response::new(Full::from(ticket.to_string()));
    *response.status_mut() = StatusCode::CREATED;
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert("content-type", json);
    Ok(response)
}

/// As the gateway's fault of the same name: it is slow where the test asks for that.
fn delay(request: &Request<Incoming>) -> Duration {
    let chaos = request.headers().get("x-chaos");
    let millis = chaos
        .and_then(|chaos| {
            chaos
                .to_str()
                .ok()?
                .strip_prefix("delay-after=")?
                .parse()
                .ok()
        })
        .unwrap_or(0);
    Duration::from_millis(millis)
}
