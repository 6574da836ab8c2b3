//! A handler on a socket, asked twice.

use std::sync::{Arc, atomic::AtomicUsize};

use bytes::Bytes;
use counterfoil_tower::{BoxError, ConfirmLayer, Replay};
use http::{HeaderMap, HeaderValue, Response, response};

use super::{
    Step, World, count, counter,
    server::{Came, Protocol, Server},
    wrapped,
};

/// A handler on a socket, whose retries are verbatim.
pub struct Stage {
    pub world: World,
    pub fingerprint: String,
    pub runs: Arc<AtomicUsize>,
    pub server: Server,
}

impl Stage {
    pub async fn set<B>(
        protocol: Protocol,
        layer: impl FnOnce(ConfirmLayer) -> ConfirmLayer,
        handler: impl Fn(response::Builder) -> http::Result<Response<B>> + Clone + Send + 'static,
    ) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let world = World::new();
        let fingerprint = world.fingerprint().await;
        let runs = counter();
        let layer = layer(world.layer().with_replay(Replay::Verbatim));
        let service = wrapped(&layer, &runs, move |_, _| {
            let response = handler(Response::builder());
            async move { Ok(response?) }
        });
        let server = Server::start(service, protocol).await;
        Self {
            world,
            fingerprint,
            runs,
            server,
        }
    }

    /// A confirm.
    pub async fn ask(&self) -> Came {
        self.server
            .ask(self.server.confirm(&self.fingerprint))
            .await
    }

    /// The first answer and a retry's. The handler ran for the first alone.
    pub async fn twice(&self) -> (Came, Came) {
        let answers = (self.ask().await, self.ask().await);
        assert_eq!(count(&self.runs), 1);
        answers
    }

    pub async fn status(&self) -> String {
        self.world.status(&self.fingerprint).await
    }
}

pub fn data(bytes: impl Into<Bytes>) -> Step {
    Step::Data(bytes.into())
}

pub fn sum() -> HeaderMap {
    HeaderMap::from_iter([(
        http::HeaderName::from_static("x-sum"),
        HeaderValue::from_static("7"),
    )])
}

/// The retry of a run that is done and whose body was not kept.
pub fn assert_done_without_a_body(retry: &Came) {
    assert!(retry.whole);
    assert_eq!(retry.word(), "already_completed");
    let json = retry.json();
    assert_eq!(json["executed"], "yes");
    assert!(json.get("result").is_none(), "{json}");
}
