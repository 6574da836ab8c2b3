//! Params of a transfer, and bodies in pieces.

use bytes::Bytes;
use serde_json::{Value, json};

/// A good transfer of this amount, which may be a number or a text.
pub fn transfer(amount: impl Into<Value>) -> Value {
    json!({
        "amount": amount.into(),
        "currency": "EUR",
        "payee_id": "payee-1",
        "source_account": "account-1",
    })
}

/// The same params with one member set anew.
///
/// # Panics
///
/// If `params` is no object.
pub fn with(params: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut params = params.clone();
    params
        .as_object_mut()
        .expect("params are an object")
        .insert(name.to_owned(), value.into());
    params
}

/// The bytes in pieces of 1, 2, 4 … 16,384 bytes, over and over.
#[must_use]
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
