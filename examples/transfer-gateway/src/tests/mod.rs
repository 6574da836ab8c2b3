//! The whole service over HTTP, in this process. What needs a process of its own is tested on the built program.

mod chaos;
mod endpoints;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use counterfoil::MemoryStore;

use http::StatusCode;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot};

use crate::{
    app::App,
    demo::client::{Call, Caller, Heard},
    keys,
    ledger::Ledger,
    options::Options,
    server,
};

/// A running service, and a caller of it.
struct Service {
    caller: Caller,
    /// Dropped, the server stops.
    _stop: oneshot::Sender<()>,
}

/// What an answer comes to, in the parts that tests compare.
type Told = (u16, String, Value);

impl Service {
    async fn start(options: Options) -> Self {
        let app = App::new(
            &options,
            Arc::new(MemoryStore::new()),
            keys::random(),
            Ledger::in_memory(),
        )
        .expect("a service");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let service: SocketAddr = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel::<()>();
        let (router, counterfoil) = (app.router(&options), app.counterfoil().clone());
        tokio::spawn(async move {
            let stopped = async move {
                let _ = stopped.await;
            };
            server::serve(listener, router, &counterfoil, stopped, Duration::ZERO).await;
        });
        Self {
            caller: Caller {
                service,
                name: "acme/agent-7",
            },
            _stop: stop,
        }
    }

    async fn with_chaos() -> Self {
        Self::start(Options {
            chaos: true,
            ..Options::default()
        })
        .await
    }

    fn as_caller(&self, name: &'static str) -> Caller {
        Caller {
            name,
            ..self.caller.clone()
        }
    }

    async fn preview(&self) -> Fingerprint {
        let heard = self.caller.call(Call::post(PREVIEW, params())).await;
        Fingerprint {
            text: heard.text("fingerprint").expect("a fingerprint").to_owned(),
            operation: heard.text("operation_id").expect("an id").to_owned(),
        }
    }

    async fn told(&self, call: Call) -> Told {
        told(self.caller.call(call).await)
    }

    /// `state` of the operation.
    async fn state(&self, of: &Fingerprint) -> String {
        let (http, _, body) = self.told(Call::get(of.path())).await;
        assert_eq!(http, 200, "{body}");
        body["state"].as_str().unwrap_or_default().to_owned()
    }

    /// The count that must never pass 1.
    async fn count(&self, of: &Fingerprint) -> u64 {
        let path = format!("/ledger?operation_id={}", of.operation);
        let (http, _, body) = self.told(Call::get(path)).await;
        assert_eq!(http, 200, "{body}");
        body["count"].as_u64().expect("a count")
    }
}

/// A fingerprint and its operation.
struct Fingerprint {
    text: String,
    operation: String,
}

impl Fingerprint {
    fn confirm(&self) -> Call {
        self.confirm_with(params())
    }

    fn confirm_with(&self, params: Value) -> Call {
        Call::post(CONFIRM, params).with_header(FINGERPRINT, &self.text)
    }

    fn confirm_in_chaos(&self, chaos: &str) -> Call {
        self.confirm().with_header("X-Chaos", chaos)
    }

    fn path(&self) -> String {
        format!("/v1/operations/{}", self.operation)
    }
}

const PREVIEW: &str = "/v1/transfers/preview";
const CONFIRM: &str = "/v1/transfers/confirm";
const FINGERPRINT: &str = "Counterfoil-Fingerprint";

fn params() -> Value {
    json!({"amount": "120.50", "currency": "EUR", "payee_id": "payee-7", "source_account": "acc-1"})
}

fn params_of(amount: &str) -> Value {
    let mut params = params();
    params["amount"] = amount.into();
    params
}

fn told(heard: Heard) -> Told {
    match heard {
        Heard::Answer { http, status, body } => (http.as_u16(), status.unwrap_or_default(), body),
        other => panic!("no answer: {other:?}"),
    }
}

/// An answer's HTTP status and status word.
fn said((http, status, _): &Told) -> (u16, &str) {
    (*http, status)
}

#[tokio::test]
async fn a_fingerprint_ends_with_its_quote_at_the_latest() {
    for (fingerprint, quote, longest) in [(60, 600, 60), (600, 60, 60)] {
        let mut options = Options::default();
        options.times.fingerprint_ttl = Duration::from_secs(fingerprint);
        options.times.quote_ttl = Duration::from_secs(quote);
        let service = Service::start(options).await;
        let (_, _, preview) = service.told(Call::post(PREVIEW, params())).await;
        let left = preview["expires_in_s"].as_u64().expect("seconds");
        assert!((longest - 2..=longest).contains(&left), "{left}");
    }
}

#[test]
fn stopping_is_bounded_however_long_a_run_may_take() {
    let seconds = Duration::from_secs;
    for (max_run, stop) in [(seconds(1), 4), (seconds(60), 30), (Duration::MAX, 30)] {
        assert_eq!(crate::time_to_stop(max_run), seconds(stop));
    }
}

#[tokio::test]
async fn a_transfer_is_previewed_confirmed_and_replayed() {
    let service = Service::start(Options::default()).await;
    let (http, _, preview) = service.told(Call::post(PREVIEW, params())).await;
    assert_eq!(http, StatusCode::OK);
    assert_eq!(
        preview["summary"],
        "Transfer 120.50 EUR from acc-1 to payee-7"
    );
    let fingerprint = service.preview().await;
    let first = service.told(fingerprint.confirm()).await;
    assert_eq!(said(&first), (201, "completed"));
    assert_eq!(first.2["status"], "settled");
    let mut reworded = params_of("120.5");
    reworded["note"] = "in other words".into();
    for again in [fingerprint.confirm(), fingerprint.confirm_with(reworded)] {
        let again = service.told(again).await;
        assert_eq!(said(&again), (201, "already_completed"));
        assert_eq!(again.2["result"], first.2);
    }
    assert_eq!(service.count(&fingerprint).await, 1);
    assert_eq!(service.state(&fingerprint).await, "succeeded");
}
