//! Tickets: an API for programs, which name each operation by an idempotency key of their own.

mod bad_input;
mod faults;
mod once;
mod other_requests;
mod status;

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
};

use http::Method;
use serde_json::{Value, json};
use tests::{Call, Caller, Gateway, Reply};

const TICKETS: &str = "/v1/tickets";

/// A key that no other test has, so that a store that they share keeps them apart.
fn fresh_key() -> String {
    let part = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", part(), part())
}

fn ticket() -> Value {
    json!({"project": "printers", "title": "Printer on fire", "priority": "high"})
}

/// A gateway that doesn't log this key, and a program that calls it.
fn start(key: &str) -> (Gateway, Caller) {
    let gateway = Gateway::start(&[]);
    gateway.must_not_log(key);
    let program = gateway.caller("acme/billing");
    (gateway, program)
}

/// The call that files a ticket.
fn file(key: &str, ticket: &Value) -> Call {
    Call::post(TICKETS, ticket.to_string()).header("idempotency-key", key)
}

fn put(key: &str, path: &str, ticket: &Value) -> Call {
    Call::new(Method::PUT, path)
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(ticket.to_string())
}

fn delete(key: &str, path: &str) -> Call {
    Call::new(Method::DELETE, path).header("idempotency-key", key)
}

/// How many effects the caller's tenant has.
async fn count(caller: &Caller) -> usize {
    caller.effects(None).await.len()
}

/// Holds an answer to what problem details say, and gives them.
#[track_caller]
fn assert_problem(reply: &Reply, http: u16, code: &str) -> Value {
    reply.assert_told(http, code);
    assert_eq!(reply.header("content-type"), "application/problem+json");
    assert_eq!(reply.header("cache-control"), "no-store");
    assert_eq!(reply.header("idempotent-replayed"), "");
    let json = reply.json();
    assert_eq!(json["type"], format!("/docs/problems.md#{code}"), "{json}");
    assert_eq!(json["status"], http, "{json}");
    for member in ["title", "detail", "executed"] {
        assert!(json[member].is_string(), "{member} is missing: {json}");
    }
    assert!(json["retryable"].is_boolean(), "{json}");
    if json["operation_id"].is_string() {
        let id = reply.header("counterfoil-operation-id");
        assert_eq!(json["operation_id"], id, "{json}");
        assert_eq!(json["instance"], format!("urn:uuid:{id}"), "{json}");
    }
    json
}

/// Holds an answer to the first one, in all the parts that a replay has.
#[track_caller]
fn assert_replay(reply: &Reply, first: &Reply, word: &str) {
    reply.assert_told(first.status, word);
    assert_eq!(reply.header("idempotent-replayed"), "true", "{reply:#?}");
    assert_eq!(first.header("idempotent-replayed"), "", "{first:#?}");
    assert_eq!(reply.body, first.body);
    for name in ["content-type", "location", "counterfoil-operation-id"] {
        assert_eq!(reply.header(name), first.header(name), "{name}");
    }
}
