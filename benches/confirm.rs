//! What does the layer cost a handler?
//!
//! Floor: the same axum handler without the layer, called in the process. Ours: a first run (preview, confirm, claim,
//! a task of its own, capture, completion) and a replay, over the in-memory store.

use axum::{Json, Router, body::Body, http::Request, routing::post};
use counterfoil::{
    KeyId, MemoryStore, Scope, Subject,
    engine::{Counterfoil, Gate},
    fingerprint::{Key, Keyring},
    tower::{ConfirmLayer, Confirmed},
};
use criterion::{Criterion, criterion_group, criterion_main};
use serde::{Deserialize, Serialize};
use tower::ServiceExt;

#[derive(Serialize, Deserialize)]
struct Transfer {
    amount: u64,
    payee_id: String,
}

const BODY: &str = r#"{"amount":10,"payee_id":"payee-7"}"#;

async fn bare(Json(transfer): Json<Transfer>) -> Json<u64> {
    Json(transfer.amount)
}

async fn confirmed(Confirmed(transfer): Confirmed<Transfer>) -> Json<u64> {
    Json(transfer.amount)
}

fn request(agent: &Subject, fingerprint: &str) -> Request<Body> {
    Request::post("/")
        .extension(agent.clone())
        .header("content-type", "application/json")
        .header("counterfoil-fingerprint", fingerprint)
        .body(Body::from(BODY))
        .expect("a request")
}

async fn call(app: &Router, request: Request<Body>) {
    let response = app.clone().oneshot(request).await.expect("infallible");
    assert!(response.status().is_success(), "{:?}", response.status());
}

async fn preview(gate: &Gate<Transfer>, agent: &Subject) -> String {
    let params = gate.read(BODY.as_bytes()).expect("valid params");
    let preview = gate.preview(agent, &params).await.expect("a preview");
    preview.fingerprint.as_str().to_owned()
}

fn confirm(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let keys = Keyring::new(Key::random(KeyId::parse("k1").expect("a key id")));
    let counterfoil = Counterfoil::new(MemoryStore::new(), keys);
    let gate = counterfoil
        .gate::<Transfer>(Scope::new("bench.transfer"))
        .build()
        .expect("a valid gate");
    let agent = Subject::new("acme", "agent-7").expect("a subject");
    let floor = Router::new().route("/", post(bare));
    let ours = Router::new().route(
        "/",
        post(confirmed).route_layer(ConfirmLayer::new(gate.clone())),
    );

    let mut group = c.benchmark_group("confirm");
    group.bench_function("floor: the handler alone", |b| {
        b.iter(|| runtime.block_on(call(&floor, request(&agent, ""))));
    });
    group.bench_function("ours: preview and first run", |b| {
        b.iter(|| {
            runtime.block_on(async {
                let fingerprint = preview(&gate, &agent).await;
                call(&ours, request(&agent, &fingerprint)).await;
            });
        });
    });
    group.bench_function("ours: replay", |b| {
        let fingerprint = runtime.block_on(preview(&gate, &agent));
        runtime.block_on(call(&ours, request(&agent, &fingerprint)));
        b.iter(|| runtime.block_on(call(&ours, request(&agent, &fingerprint))));
    });
    group.finish();
}

criterion_group!(benches, confirm);
criterion_main!(benches);
