//! Who may confirm what: good, foreign, forged and mistyped fingerprints, changed params, and callers without a name.

mod access;
mod callers;
mod changed;
mod foreign;
mod keys;
mod mistyped;

use tests::Reply;

const KEY: &str = "1111111111111111111111111111111111111111111111111111111111111111";

const OTHER_KEY: &str = "2222222222222222222222222222222222222222222222222222222222222222";

/// The same answer to the last byte, and no id.
#[track_caller]
fn assert_alike(reply: &Reply, reference: &Reply) {
    assert_eq!(reply.status, reference.status, "{reply:#?}");
    assert_eq!(reply.body, reference.body);
    assert_eq!(reply.header("counterfoil-operation-id"), "");
    let names = |reply: &Reply| {
        let mut names: Vec<_> = reply.headers.keys().map(ToString::to_string).collect();
        names.sort();
        names
    };
    assert_eq!(names(reply), names(reference));
}

/// One character of the tag changed, in its middle, where each has all of its bits.
fn forge(fingerprint: &str) -> String {
    replace(fingerprint, fingerprint.len() - 20)
}

fn replace(text: &str, at: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).expect("ASCII")
}
