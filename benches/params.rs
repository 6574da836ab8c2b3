//! What does it cost to hash the params of a request?
//!
//! Floor: `serde_json` reads the bytes and throws them away, and SHA-256 runs over them. Peer: `serde_json` into a
//! `Value`, `serde_jcs` to canonical text, SHA-256: it loses digits, which ours does not.

use std::hint::black_box;

use counterfoil::params::{Canonicalizer, ParamsPolicy, decode};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

#[derive(Serialize, Deserialize)]
struct Transfer {
    amount: f64,
    currency: String,
    source_account: String,
    payee_id: String,
    purchase_order: Option<String>,
    lines: Vec<Line>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    sku: String,
    quantity: u32,
    price: f64,
}

fn request(lines: usize) -> String {
    let line = |i| format!(r#"{{"sku":"A-{i}","quantity":{i},"price":{i}.25}}"#);
    let lines: Vec<String> = (1..=lines).map(line).collect();
    format!(
        r#"{{"amount": 1234.50, "currency": "EUR", "source_account": "acc-1", "payee_id": "payee-7", "purchase_order": null, "lines": [{}]}}"#,
        lines.join(", ")
    )
}

fn params(c: &mut Criterion) {
    let policy = ParamsPolicy::default().compile().expect("a valid policy");
    for lines in [2, 200] {
        let json = request(lines);
        let bytes = json.as_bytes();
        let typed: Transfer = decode(&json).expect("valid params");
        let mut group = c.benchmark_group(format!("params of {} bytes", bytes.len()));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("floor: read and SHA-256", |b| {
            b.iter(|| {
                let _: serde::de::IgnoredAny =
                    serde_json::from_slice(black_box(bytes)).expect("JSON");
                Sha256::digest(bytes)
            });
        });
        group.bench_function("peer: serde_jcs and SHA-256", |b| {
            b.iter(|| {
                let value: serde_json::Value =
                    serde_json::from_slice(black_box(bytes)).expect("JSON");
                Sha256::digest(serde_jcs::to_vec(&value).expect("canonical"))
            });
        });
        group.bench_function("ours: from bytes", |b| {
            let mut canonicalizer = Canonicalizer::new(&policy);
            b.iter(|| {
                canonicalizer
                    .hash_json(black_box(bytes))
                    .expect("valid params")
            });
        });
        group.bench_function("ours: from a value", |b| {
            let mut canonicalizer = Canonicalizer::new(&policy);
            b.iter(|| {
                canonicalizer
                    .hash_value(black_box(&typed))
                    .expect("valid params")
            });
        });
        group.finish();
    }
}

criterion_group!(benches, params);
criterion_main!(benches);
