//! Requests that no honest client sends: every one gets an answer that names what is wrong, runs nothing, and leaves the
//! gateway well.

mod bodies;
mod bytes_on_the_wire;
mod fields;
mod frames;
mod requests;

const PREVIEW: &str = "/v1/transfers/preview";

const CONFIRM: &str = "/v1/transfers/confirm";

/// A body with these members in front of the other good ones.
fn body(members: &str) -> String {
    format!(r#"{{{members},"currency":"EUR","payee_id":"payee-1","source_account":"account-1"}}"#)
}
