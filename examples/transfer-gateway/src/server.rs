//! The server: accepts, serves, and ends in order.
//!
//! By hand over hyper, since a test may ask for a connection that is cut before its answer. One that ends: no new
//! connections, then the requests under way, then the operations under way, each for a bounded time.

use std::{fmt, io, time::Duration};

use axum::{Router, body::Body};
use counterfoil::engine::Counterfoil;
use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::{TcpListener, TcpStream},
    time::{Instant, sleep, timeout_at},
};
use tower_service::Service;
use tracing::{debug, info, warn};

use crate::chaos::CutConnection;

/// Serves until `stop` ends, then lets what runs end, for `limit` at most.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    counterfoil: &Counterfoil,
    stop: impl Future<Output = ()>,
    limit: Duration,
) {
    let connections = GracefulShutdown::new();
    accept(&listener, &router, &connections, stop).await;
    // From here on a new caller is refused by the system, and goes elsewhere.
    drop(listener);
    info!(running = counterfoil.running(), "stopping");
    let deadline = Instant::now() + limit;
    if timeout_at(deadline, connections.shutdown()).await.is_err() {
        warn!("requests were still under way when the time to stop was over");
    }
    let left = deadline.saturating_duration_since(Instant::now());
    if let Err(still_running) = counterfoil.drain(left.max(LEAST_DRAIN)).await {
        warn!(%still_running, "stopped before everything had ended");
    }
}

/// However long requests took: operations that have ended get the time to be written down.
const LEAST_DRAIN: Duration = Duration::from_secs(1);

/// After an error of the listener, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

async fn accept(
    listener: &TcpListener,
    router: &Router,
    connections: &GracefulShutdown,
    stop: impl Future<Output = ()>,
) {
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => attend(stream, router.clone(), connections),
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                sleep(PAUSE).await;
            }
        }
    }
}

fn attend(stream: TcpStream, router: Router, connections: &GracefulShutdown) {
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "an answer may wait for the next packet");
    }
    let service = service_fn(move |request| respond(router.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    let connection = connections.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            debug!(%error, "a connection ended early");
        }
    });
}

/// An error ends the connection without an answer.
async fn respond(mut router: Router, request: Request<Incoming>) -> Result<Response<Body>, Cut> {
    // A router is always ready, and never fails.
    let Ok(response) = router.call(request).await;
    match response.extensions().get::<CutConnection>() {
        Some(CutConnection) => Err(Cut),
        None => Ok(response),
    }
}

/// The connection is cut on request.
#[derive(Debug)]
struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cut on request of X-Chaos")
    }
}

impl std::error::Error for Cut {}

/// A listener at the address, or why not, in a sentence.
pub(crate) async fn bind(address: std::net::SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "it is in use; take another one with --listen, or port 0".to_owned()
            }
            io::ErrorKind::PermissionDenied => "that needs more rights".to_owned(),
            io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
            _ => error.to_string(),
        };
        format!("can't listen on {address}: {why}")
    })
}
