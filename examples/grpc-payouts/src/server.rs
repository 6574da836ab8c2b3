//! The service, its layer, and authentication around both.

use std::{future::Future, time::Duration};

use counterfoil::Subject;
use tokio::{net::TcpListener, sync::oneshot, time::sleep};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{
    Request, Status,
    service::{InterceptorLayer, LayerExt},
    transport::{Error, Server},
};
use tower::Layer;

use crate::{Payouts, pb::payouts_server::PayoutsServer};

/// Puts the subject into the extensions. A stand-in for real authentication: the token is `Bearer TENANT/PRINCIPAL`, and
/// everybody is believed.
///
/// # Errors
///
/// None: a call without a token has no subject, and what needs one says so.
pub fn authenticate(mut request: Request<()>) -> Result<Request<()>, Status> {
    let token = request.metadata().get("authorization");
    let subject = token
        .and_then(|token| token.to_str().ok()?.strip_prefix("Bearer "))
        .and_then(|token| token.split_once('/'))
        .and_then(|(tenant, principal)| Subject::new(tenant, principal).ok());
    if let Some(subject) = subject {
        request.extensions_mut().insert(subject);
    }
    Ok(request)
}

/// How long calls may take to end, once the server is told to: a request that never ends would hold it for good.
const GRACE: Duration = Duration::from_secs(3);

/// Serves until `end` does, and three seconds more for the calls that are open. Runs may go on after it: drain the engine
/// then.
///
/// # Errors
///
/// The transport's.
pub async fn serve(
    payouts: Payouts,
    listener: TcpListener,
    end: impl Future<Output = ()>,
) -> Result<(), Error> {
    let guarded = payouts.layer().layer(PayoutsServer::new(payouts));
    let service = InterceptorLayer::new(authenticate).named_layer(guarded);
    let (told, ending) = oneshot::channel();
    let end = async {
        end.await;
        let _ = told.send(());
    };
    let serving = Server::builder()
        .add_service(service)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), end);
    let grace = async {
        let _ = ending.await;
        sleep(GRACE).await;
    };
    tokio::select! {
        served = serving => served,
        () = grace => Ok(()),
    }
}
