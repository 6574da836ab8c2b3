//! A real server, and callers that speak HTTP/1.1 and HTTP/2 to it, one connection a call.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use counterfoil_tower::{Body, BoxError};
use http::{HeaderMap, Request, Response, Uri, response::Parts};
use http_body_util::BodyExt;
use hyper::{body::Incoming, client, server, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};
use tower::{Service, ServiceExt};

use super::{BODY, agent};

/// Longer than anything here takes: what waits for it has hung.
const HUNG: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Protocol {
    Http1,
    Http2,
}

pub const BOTH: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

/// A service on a port of its own. Every caller is [`agent`].
pub struct Server {
    pub address: SocketAddr,
    pub protocol: Protocol,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub async fn start<S, B>(service: S, protocol: Protocol) -> Self
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let service = service.clone();
                let service = service_fn(move |request: Request<Incoming>| {
                    let mut request = request.map(Body::new);
                    request.extensions_mut().insert(agent());
                    service.clone().oneshot(request)
                });
                tokio::spawn(async move {
                    let io = TokioIo::new(stream);
                    // A connection that breaks is what these tests are about, and shows at its other end.
                    let _ = match protocol {
                        Protocol::Http1 => {
                            let server = server::conn::http1::Builder::new();
                            server.serve_connection(io, service).await
                        }
                        Protocol::Http2 => {
                            let server = server::conn::http2::Builder::new(TokioExecutor::new());
                            server.serve_connection(io, service).await
                        }
                    };
                });
            }
        });
        Self {
            address,
            protocol,
            task,
        }
    }

    /// A confirm of [`BODY`] that asks for trailers.
    pub fn confirm(&self, fingerprint: &str) -> Request<Body> {
        let uri = Uri::builder()
            .scheme("http")
            .authority(self.address.to_string())
            .path_and_query("/confirm");
        Request::post(uri.build().unwrap())
            .header("counterfoil-fingerprint", fingerprint)
            .header("content-type", "application/json")
            .header("te", "trailers")
            .body(Body::from(BODY))
            .unwrap()
    }

    /// The head of the response, and a body that is still to be read.
    pub async fn open(&self, request: Request<Body>) -> Result<Response<Incoming>, hyper::Error> {
        timeout(HUNG, self.send(request)).await.expect("a head")
    }

    async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, hyper::Error> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let io = TokioIo::new(stream);
        match self.protocol {
            Protocol::Http1 => {
                let (mut sender, connection) = client::conn::http1::handshake(io).await?;
                tokio::spawn(connection);
                sender.send_request(request).await
            }
            Protocol::Http2 => {
                let executor = TokioExecutor::new();
                let (mut sender, connection) = client::conn::http2::handshake(executor, io).await?;
                tokio::spawn(connection);
                sender.send_request(request).await
            }
        }
    }

    /// The response, as far as it came.
    pub async fn ask(&self, request: Request<Body>) -> Came {
        let response = self.open(request).await.expect("a head");
        timeout(HUNG, came(response)).await.expect("an end")
    }
}

/// A response as it came over the wire.
#[derive(Debug)]
pub struct Came {
    pub head: Parts,
    pub body: Vec<u8>,
    pub trailers: Option<HeaderMap>,
    /// Whether it ended as a response should.
    pub whole: bool,
}

impl Came {
    pub fn header(&self, name: &str) -> &str {
        let value = self.head.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// The word in the header `Counterfoil-Status`.
    pub fn word(&self) -> &str {
        self.header("counterfoil-status")
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

async fn came(response: Response<Incoming>) -> Came {
    let (head, mut rest) = response.into_parts();
    let mut came = Came {
        head,
        body: Vec::new(),
        trailers: None,
        whole: true,
    };
    while let Some(frame) = rest.frame().await {
        match frame.map(http_body::Frame::into_data) {
            Ok(Ok(data)) => came.body.extend_from_slice(&data),
            Ok(Err(frame)) => came.trailers = frame.into_trailers().ok(),
            Err(_) => {
                came.whole = false;
                break;
            }
        }
    }
    came
}
