//! The server: accepts, serves, and ends in order.
//!
//! By hand over hyper, since a test may ask for an answer that is cut off. A server that ends: no new connections, then the
//! requests under way, then the operations under way, each for a bounded time.

mod activity;
mod answer;
mod connection;
mod lingering;
#[cfg(test)]
mod tests;

use std::{io, time::Duration};

use axum::Router;
use counterfoil::engine::Counterfoil;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{Instant, sleep, timeout_at},
};
use tracing::{debug, info, warn};

/// Serves until `stop` ends, then lets what runs end, for `limit` at most.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    counterfoil: &Counterfoil,
    stop: impl Future<Output = ()>,
    limit: Duration,
) {
    // Each connection has a receiver as long as it lasts.
    let (stopping, _) = watch::channel(false);
    accept(&listener, &router, &stopping, stop).await;
    // From here on a new caller is refused by the system, and goes elsewhere.
    drop(listener);
    info!(running = counterfoil.running(), "stopping");
    let deadline = Instant::now() + limit;
    stopping.send_replace(true);
    if timeout_at(deadline, stopping.closed()).await.is_err() {
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
    stopping: &watch::Sender<bool>,
    stop: impl Future<Output = ()>,
) {
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => attend(stream, router.clone(), stopping.subscribe()),
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                sleep(PAUSE).await;
            }
        }
    }
}

fn attend(stream: TcpStream, router: Router, stopping: watch::Receiver<bool>) {
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "an answer may wait for the next packet");
    }
    tokio::spawn(connection::attend(stream, router, stopping));
}

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
