//! One connection, in HTTP/1.1 or HTTP/2: its first bytes say which. Why it ends when it does: `docs/adr/0033`.

use std::{fmt, pin::pin, time::Duration};

use axum::Router;
use http::{Request, Response};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};
use tower_service::Service;
use tracing::debug;

use super::{
    activity::{Activity, Watched},
    answer::Answer,
    lingering::Lingering,
};
use crate::chaos::CutConnection;

/// How long a connection may stand without an answer being worked on or going out: from its first byte, whatever it sends.
pub(super) const QUIET: Duration = Duration::from_secs(30);
/// The same, once it was told to end.
pub(super) const GRACE: Duration = Duration::from_secs(3);

/// Requests at a time on one connection of HTTP/2: the least that RFC 9113, section 5.1.2, advises. Each may hold a whole
/// body.
const STREAMS: u32 = 100;
/// All fields of one request of HTTP/2, with 32 bytes for each: past it the answer is a bare 431. HTTP/1.1 takes more, in a
/// hundred fields, and a caller that pastes a page for a fingerprint is better told that it is none.
const FIELDS: u32 = 128 << 10;
/// Streams that their caller reset before they were looked at; the connection ends with the next one. As h2 has it.
const RESETS: usize = 20;
/// Streams that a caller made us reset, by breaking the protocol in them, on one connection. As hyper has it.
const ERRORS: usize = 1024;

/// Serves one connection to its end. `stopping` says that the server ends; this has a receiver until the connection ends.
pub(super) async fn attend<I>(io: I, router: Router, mut stopping: watch::Receiver<bool>)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Activity::new();
    let io = TokioIo::new(Watched::new(Lingering::new(io), activity.clone()));
    let of_requests = activity.clone();
    let service = service_fn(move |request| respond(router.clone(), request, of_requests.clone()));
    let builder = builder();
    let mut connection = pin!(builder.serve_connection(io, service));
    let early = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        // An error says that the server is gone.
        _ = stopping.wait_for(|stopping| *stopping) => None,
        () = activity.quiet(QUIET) => None,
    };
    let ended = match early {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                () = activity.quiet(GRACE) => Err("nothing moved any more".into()),
            }
        }
    };
    if let Err(error) = ended {
        debug!(%error, "a connection ended early");
    }
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(QUIET);
    builder
        .http2()
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(FIELDS)
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(ERRORS);
    builder
}

/// An error ends the connection without an answer; over HTTP/2 it resets the stream, and the others go on.
async fn respond(
    mut router: Router,
    request: Request<Incoming>,
    activity: Activity,
) -> Result<Response<Answer>, Cut> {
    let _work = activity.work();
    // A router is always ready, and never fails.
    let Ok(response) = router.call(request).await;
    match response.extensions().get::<CutConnection>() {
        Some(CutConnection) => Err(Cut),
        None => Ok(response.map(|body| Answer::new(body, activity))),
    }
}

/// The answer is cut off on request.
#[derive(Debug)]
struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cut on request of X-Chaos")
    }
}

impl std::error::Error for Cut {}
