//! Params of a transfer.

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
