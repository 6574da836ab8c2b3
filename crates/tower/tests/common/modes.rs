//! A raw gate on a socket, by fingerprint or by key: what names an operation is all that differs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use counterfoil_core::{
    Clock, KeyId, Scope,
    engine::{Counterfoil, Gate, GateBuilder, RawParams},
    fingerprint::{Key, Keyring},
};
use counterfoil_store_memory::MemoryStore;
use counterfoil_testkit::{Flaky, Method, TokioClock};
use counterfoil_tower::{Body, BoxError, ConfirmLayer, KeyLayer, Replay};
use http::{Request, Response, Uri};
use tower::{Layer, ServiceExt, service_fn};

use super::{
    agent, counter, response,
    server::{Came, Protocol, Server},
};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mode {
    Fingerprint,
    Key,
}

/// Each mode over each protocol.
pub const EVERYWHERE: [(Mode, Protocol); 4] = [
    (Mode::Fingerprint, Protocol::Http1),
    (Mode::Fingerprint, Protocol::Http2),
    (Mode::Key, Protocol::Http1),
    (Mode::Key, Protocol::Http2),
];

/// A handler on a socket. Retries get the first response as it was.
pub struct Site {
    pub store: Flaky,
    pub runs: Arc<AtomicUsize>,
    /// Whether the caller may call at all: what stands in front of the layer asks it.
    pub may_call: Arc<AtomicBool>,
    gate: Gate<RawParams>,
    mode: Mode,
    server: Server,
}

/// A store that counts.
pub fn store() -> Flaky {
    Flaky::new(MemoryStore::with_clock(TokioClock::default()))
}

impl Site {
    /// A site over a store, with a policy and a handler of its own. Every site signs with the same key.
    pub async fn open<F, Fut>(
        (mode, protocol): (Mode, Protocol),
        store: &Flaky,
        configure: impl FnOnce(GateBuilder<RawParams>) -> GateBuilder<RawParams>,
        handler: F,
    ) -> Self
    where
        F: Fn(Request<Body>) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = Result<Response<Body>, BoxError>> + Send + 'static,
    {
        let keys = Keyring::new(Key::new(KeyId::parse("k1").unwrap(), &[7; 32]).unwrap());
        // Of a time after the store's beginning: one that is made later and begins at the same time would issue ids from
        // before the store, which it could only say that it has forgotten.
        let clock = TokioClock::starting_at(TokioClock::default().now() + Duration::from_secs(60));
        let counterfoil = Counterfoil::builder(store.clone(), keys)
            .with_clock(clock)
            .build()
            .unwrap();
        let gate = configure(counterfoil.raw_gate(Scope::new("payments.transfer")));
        let gate = gate.build().unwrap();
        let (runs, may_call) = (counter(), Arc::new(AtomicBool::new(true)));
        let counted = Arc::clone(&runs);
        let inner = service_fn(move |request: Request<Body>| {
            counted.fetch_add(1, Ordering::SeqCst);
            handler(request)
        });
        let layered = match mode {
            Mode::Fingerprint => ConfirmLayer::new(gate.clone())
                .with_replay(Replay::Verbatim)
                .layer(inner),
            Mode::Key => KeyLayer::new(gate.clone()).layer(inner),
        };
        let asked = Arc::clone(&may_call);
        let service = service_fn(move |request: Request<Body>| {
            let (layered, allowed) = (layered.clone(), asked.load(Ordering::SeqCst));
            async move {
                match allowed {
                    true => layered.oneshot(request).await,
                    false => response(403, "not any more"),
                }
            }
        });
        Self {
            server: Server::start(service, protocol).await,
            store: store.clone(),
            runs,
            may_call,
            gate,
            mode,
        }
    }

    /// What names one operation: a fingerprint for this body, or a key that nobody had before.
    pub async fn credential(&self, body: impl AsRef<[u8]>) -> String {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        match self.mode {
            Mode::Fingerprint => {
                let params = self.gate.read(body.as_ref()).unwrap();
                let preview = self.gate.preview(&agent(), &params).await.unwrap();
                preview.fingerprint.as_str().to_owned()
            }
            Mode::Key => format!("a-key-of-its-own-{}", NEXT.fetch_add(1, Ordering::SeqCst)),
        }
    }

    /// A request that brings this credential, where there is one.
    pub fn request(&self, credential: Option<&str>, body: impl Into<Body>) -> Request<Body> {
        let name = match self.mode {
            Mode::Fingerprint => "counterfoil-fingerprint",
            Mode::Key => "idempotency-key",
        };
        let uri = Uri::builder()
            .scheme("http")
            .authority(self.server.address.to_string())
            .path_and_query("/confirm");
        let mut request = Request::post(uri.build().unwrap())
            .header("content-type", "application/json")
            .header("te", "trailers");
        if let Some(credential) = credential {
            request = request.header(name, credential);
        }
        request.body(body.into()).unwrap()
    }

    pub async fn ask(&self, credential: &str, body: impl Into<Body>) -> Came {
        self.server.ask(self.request(Some(credential), body)).await
    }

    pub async fn send(&self, request: Request<Body>) -> Came {
        self.server.ask(request).await
    }

    /// Holds an answer to "not what this credential came with".
    #[track_caller]
    pub fn assert_changed(&self, came: &Came) {
        let word = match self.mode {
            Mode::Fingerprint => "params_changed",
            Mode::Key => "key_reused",
        };
        assert_eq!((came.head.status.as_u16(), came.word()), (422, word));
    }

    /// Holds an answer to the first one's, again.
    #[track_caller]
    pub fn assert_replay(&self, came: &Came, first: &Came) {
        assert_eq!(first.word(), "completed");
        assert_eq!(came.word(), "already_completed");
        assert_eq!(came.header("idempotent-replayed"), "true");
        assert_eq!(came.head.status, first.head.status);
        assert_eq!(came.body, first.body);
        assert!(came.whole && first.whole);
    }

    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    /// How often the store was asked for a claim or a record.
    pub fn asked(&self) -> usize {
        self.store.calls(Method::Acquire) + self.store.calls(Method::Find)
    }
}

/// The request's body as the response's: all that the handler got.
pub async fn echo(request: Request<Body>) -> Result<Response<Body>, BoxError> {
    Ok(Response::builder().status(201).body(request.into_body())?)
}

/// Pieces of 1, 2, 4 … 16,384 bytes, over and over.
pub fn odd_pieces(all: &Bytes) -> Vec<Bytes> {
    let (mut pieces, mut at, mut len) = (Vec::new(), 0, 1);
    while at < all.len() {
        let end = (at + len).min(all.len());
        pieces.push(all.slice(at..end));
        at = end;
        len = if len == 16_384 { 1 } else { len * 2 };
    }
    pieces
}
