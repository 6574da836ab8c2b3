//! The published vectors, `docs/spec/idempotency-key-v1.json`. With `COUNTERFOIL_WRITE_VECTORS=1` in the environment the
//! test writes the file instead of comparing it. `verify_idempotency_key.py` beside it checks them by code of its own.

use std::{fs, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{IdempotencyKey, Keyed};
use crate::{OperationId, ParamHash, Scope, Subject};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Vectors {
    about: String,
    fields: Vec<Field>,
    operations: Vec<Operation>,
    requests: Vec<Request>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Field {
    name: String,
    value_hex: String,
    key: Option<String>,
    reason: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Operation {
    name: String,
    tenant: String,
    principal: String,
    key: String,
    operation_id: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Request {
    name: String,
    scope: String,
    param_hash_hex: String,
    line: Vec<String>,
    hash_hex: String,
}

const UUID: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn field(name: &str, value: &[u8]) -> Field {
    let read = IdempotencyKey::from_header(value);
    Field {
        name: name.to_owned(),
        value_hex: hex(value),
        key: read.as_ref().ok().map(|key| key.as_str().to_owned()),
        reason: read.err().map(|invalid| invalid.as_str().to_owned()),
    }
}

fn fields() -> Vec<Field> {
    let quoted = format!("\"{UUID}\"");
    let longest = "k".repeat(255);
    let longer = "k".repeat(256);
    vec![
        field("a string in quotes", quoted.as_bytes()),
        field("the same key bare", UUID.as_bytes()),
        field(
            "a bare key that begins with a letter",
            b"clkyoesmbgybucifusbbtdsbohtyuuwz",
        ),
        field("a bare base64 key", b"qL8x/+aZ4Vh0nJ2kTQ=="),
        field("a bare integer", b"1700000000123456"),
        field("spaces around a string", b"  \"a key with spaces\" "),
        field(
            "a comma and a semicolon in a string",
            b"\"a, b; c=1 and so on\"",
        ),
        field("escapes", br#""say \"key\" and \\ twice""#),
        field("the longest key", longest.as_bytes()),
        field("one character more", longer.as_bytes()),
        field("no value", b""),
        field("an empty string", b"\"\""),
        field("beyond ASCII", "schlüssel-schlüssel".as_bytes()),
        field("beyond ASCII in a string", b"\"schl\xfcssel\""),
        field("a NUL", b"aaaaaaaa\0aaaaaaaa"),
        field("a unit separator", b"\"aaaaaaaa\x1faaaaaaaa\""),
        field("a tab", b"aaaaaaaa\taaaaaaaa"),
        field("a delete", b"aaaaaaaa\x7faaaaaaaa"),
        field("a list of strings", b"\"a\", \"b\""),
        field("a list of bare keys", b"a,b"),
        field("a list of both", b"\"a\",b"),
        field("parameters of a string", b"\"a\";v=1"),
        field("parameters of a bare key", b"a;v=1"),
        field("a string without an end", b"\"aaaaaaaaaaaaaaaa"),
        field("a string with more behind it", b"\"a\" b"),
        field("an escape of another character", br#""a\b""#),
        field("a space in a bare key", b"two words"),
        field("a byte sequence", b":YWJj:"),
        field("a boolean", b"?1"),
        field("a date", b"@1700000000"),
        field("an inner list", b"(a b)"),
    ]
}

fn operation(name: &str, tenant: &str, principal: &str, key: &str) -> Operation {
    let subject = Subject::new(tenant, principal).unwrap();
    let id = IdempotencyKey::from_text(key)
        .unwrap()
        .operation_id(&subject);
    Operation {
        name: name.to_owned(),
        tenant: tenant.to_owned(),
        principal: principal.to_owned(),
        key: key.to_owned(),
        operation_id: id.to_string(),
    }
}

fn request(name: &str, scope: &'static str, line: &[&str]) -> Request {
    let params: [u8; 32] = std::array::from_fn(|at| u8::try_from(at).unwrap());
    let subject = Subject::new("acme", "billing").unwrap();
    let mut keyed = Keyed::new(subject, OperationId::from_bytes([8; 16]), None);
    if let [method, path, query @ ..] = line {
        keyed = keyed.with_request(method, path, query.first().copied());
    }
    let hash = keyed.hash(&Scope::new(scope), &ParamHash::from_bytes(params));
    Request {
        name: name.to_owned(),
        scope: scope.to_owned(),
        param_hash_hex: hex(&params),
        line: line.iter().map(|part| (*part).to_owned()).collect(),
        hash_hex: hex(hash.as_bytes()),
    }
}

fn vectors() -> Vectors {
    let longest = "~".repeat(255);
    Vectors {
        about:
            "Test vectors of idempotency keys, version 1. idempotency-key.md says what they mean."
                .to_owned(),
        fields: fields(),
        operations: vec![
            operation("a UUID", "acme", "billing", UUID),
            operation("another principal", "acme", "shipping", UUID),
            operation("another tenant", "other", "billing", UUID),
            operation(
                "the same characters in other parts",
                "acmeb",
                "illing",
                UUID,
            ),
            operation("beyond ASCII", "ärzte", "财务", "a key with spaces"),
            operation("the longest key", "a", "b", &longest),
        ],
        requests: vec![
            request("a request", "tickets.create", &["POST", "/v1/tickets"]),
            request("another action", "tickets.update", &["POST", "/v1/tickets"]),
            request("another method", "tickets.create", &["PUT", "/v1/tickets"]),
            request(
                "an empty query",
                "tickets.create",
                &["POST", "/v1/tickets", ""],
            ),
            request(
                "a query as it was sent",
                "tickets.create",
                &["POST", "/v1/tickets", "a=%31&b"],
            ),
            request("without HTTP", "tickets.create", &[]),
        ],
    }
}

#[test]
fn the_published_vectors_are_what_this_code_makes() {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec/idempotency-key-v1.json");
    let made = vectors();
    if std::env::var_os("COUNTERFOIL_WRITE_VECTORS").is_some() {
        let mut text = serde_json::to_string_pretty(&made).unwrap();
        text.push('\n');
        fs::write(&path, text).unwrap();
        return;
    }
    let published: Vectors = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(published, made);
}
