//! Params: the published cases, properties against other implementations, and every rule of the policy.

mod cases;
mod decoding;
mod hashes;
mod limits;
mod members;
mod models;
mod policies;
mod properties;
mod values;
mod vectors;

use counterfoil_core::params::{
    Canonicalizer, Numbers, ParamsError, ParamsErrorKind, ParamsPolicy,
};

fn with(policy: ParamsPolicy) -> Canonicalizer {
    Canonicalizer::new(&policy.compile().expect("the policy compiles"))
}

fn with_numbers(numbers: Numbers) -> Canonicalizer {
    with(ParamsPolicy::default().with_numbers(numbers))
}

/// The canonical text of JSON under a policy.
fn text(policy: ParamsPolicy, json: &str) -> Result<String, ParamsError> {
    with(policy)
        .canonical_json(json.as_bytes())
        .map(str::to_owned)
}

fn accepted(policy: ParamsPolicy, json: &str) -> String {
    text(policy, json).expect("the params are accepted")
}

fn refused(policy: ParamsPolicy, json: &str) -> (ParamsErrorKind, Option<String>) {
    // The text may be a megabyte: it stays out of the panic.
    let error = text(policy, json)
        .map(|_| ())
        .expect_err("the params are refused");
    (error.kind(), error.field().map(str::to_owned))
}
