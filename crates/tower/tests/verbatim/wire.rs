//! The same over a socket, in both versions of HTTP: what the second caller reads is what the first one read.

use std::collections::BTreeSet;

use bytes::Bytes;
use counterfoil_core::engine::Attempt;
use counterfoil_tower::BoxError;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use proptest::{prelude::*, strategy::ValueTree as _};

use crate::{
    common::{
        World, count, counter,
        server::{BOTH, Came, Protocol, Server},
        wrapped,
    },
    first::{First, HOP, NOT_REPLAYED, first},
    layer, without,
};

/// Fields that HTTP/1.1 carries in no trailers, as the server has it.
const NO_TRAILERS: [&str; 4] = ["cache-control", "content-type", "set-cookie", "trailer"];
/// Ours, and those by which a body is framed.
const OF_THE_ANSWER: [&str; 5] = [
    "counterfoil-status",
    "counterfoil-operation-id",
    "idempotent-replayed",
    "content-length",
    "transfer-encoding",
];

/// A response that both versions can carry: no body where HTTP has none, trailers that are announced, and among them no field
/// of the connection.
fn carried(mut sent: First) -> First {
    if matches!(sent.status.as_u16(), 204 | 304) {
        sent.frames.clear();
        sent.trailers = None;
    }
    sent.headers.remove(header::TRAILER);
    if let Some(trailers) = &mut sent.trailers {
        trailers.remove("keep-alive");
        let names: Vec<_> = trailers.keys().map(HeaderName::as_str).collect();
        if !names.is_empty() {
            let names = HeaderValue::try_from(names.join(", "));
            sent.headers.insert(header::TRAILER, names.unwrap());
        }
    }
    sent
}

/// The fields of a head as a caller reads them.
fn read(protocol: Protocol, headers: &HeaderMap) -> HeaderMap {
    let headers = without(headers.clone(), &OF_THE_ANSWER);
    match protocol {
        Protocol::Http1 => trimmed(&headers),
        // It has no fields of the connection (RFC 9113, section 8.2.2): the server takes them out.
        Protocol::Http2 if headers.contains_key(header::CONNECTION) => {
            without(headers, &["connection", "keep-alive", HOP])
        }
        Protocol::Http2 => without(headers, &["keep-alive"]),
    }
}

/// The trailers as a caller reads them.
fn read_trailers(protocol: Protocol, trailers: Option<&HeaderMap>) -> HeaderMap {
    let trailers = trailers.cloned().unwrap_or_default();
    match protocol {
        Protocol::Http1 => trimmed(&without(trailers, &NO_TRAILERS)),
        Protocol::Http2 => trailers,
    }
}

/// In HTTP/1.1 blanks around a value are no part of it (RFC 9110, section 5.5).
fn trimmed(fields: &HeaderMap) -> HeaderMap {
    let trim = |(name, value): (&HeaderName, &HeaderValue)| {
        let value = HeaderValue::from_bytes(value.as_bytes().trim_ascii());
        (name.clone(), value.unwrap())
    };
    let mut trimmed = HeaderMap::new();
    for (name, value) in fields.iter().map(trim) {
        trimmed.append(name, value);
    }
    trimmed
}

/// The first answer and a retry's.
async fn twice(protocol: Protocol, first: First) -> (Came, Came) {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, move |attempt: Attempt, _| {
        let first = first.clone();
        async move { Ok::<_, BoxError>(first.given(&attempt)) }
    });
    let server = Server::start(service, protocol).await;
    let one = server.ask(server.confirm(&fingerprint)).await;
    let two = server.ask(server.confirm(&fingerprint)).await;
    assert_eq!(count(&runs), 1);
    (one, two)
}

fn holds(protocol: Protocol, sent: First) -> Result<(), TestCaseError> {
    let sent = carried(sent);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (one, two) = runtime.block_on(twice(protocol, sent.clone()));
    let body: Bytes = sent.frames.concat().into();

    // The first caller reads the handler's response.
    prop_assert_eq!(one.head.status, sent.status);
    prop_assert!(
        one.whole && one.body == body,
        "the first body is another one"
    );
    let (mut first, mut given) = (
        without(one.head.headers.clone(), &OF_THE_ANSWER),
        read(protocol, &sent.headers),
    );
    if !given.contains_key(header::DATE) {
        prop_assert!(first.remove(header::DATE).is_some(), "the server's own");
    }
    prop_assert_eq!(&first, &given);
    let given_trailers = read_trailers(protocol, sent.trailers.as_ref());
    let first_trailers = one.trailers.unwrap_or_default();
    prop_assert_eq!(&first_trailers, &given_trailers);

    // The second one reads what the first one read, but for what was of the first call.
    prop_assert_eq!(two.head.status, one.head.status);
    prop_assert!(
        two.whole && two.body == one.body,
        "the body of the replay is another one"
    );
    prop_assert_eq!(two.header("idempotent-replayed"), "true");
    let replayed_length = two.head.headers.get(header::CONTENT_LENGTH);
    if let Some(length) = replayed_length.filter(|_| sent.status.as_u16() != 304) {
        prop_assert_eq!(length.to_str().unwrap(), body.len().to_string());
    }
    let mut again = without(two.head.headers.clone(), &OF_THE_ANSWER);
    let date = again
        .remove(header::DATE)
        .map(|date| date.to_str().is_ok_and(|date| date.ends_with(" GMT")));
    prop_assert_eq!(date, Some(true), "the server's own");
    if given.remove(header::CONNECTION).is_some() {
        given.remove(HOP);
    }
    let mut kept = without(given, &NOT_REPLAYED);
    kept.entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    prop_assert_eq!(again, kept);
    let kept = without(first_trailers, &NOT_REPLAYED);
    prop_assert_eq!(two.trailers.unwrap_or_default(), kept);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 256, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn over_both_versions_a_verbatim_replay_reads_as_the_first_answer_did(sent in first(0_usize..8 << 10)) {
        for protocol in BOTH {
            holds(protocol, sent.clone())?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 8, ..ProptestConfig::with_cases(8) })]

    #[test]
    fn over_both_versions_a_large_one_does_too(sent in first(0_usize..=3 << 20)) {
        for protocol in BOTH {
            holds(protocol, sent.clone())?;
        }
    }
}

/// What is compared is not the same in every case: the generator gives what the promise speaks of.
#[test]
fn what_is_generated_has_repeated_and_binary_fields_trailers_and_bodies_of_many_frames() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..64 {
        let tree = first(0_usize..8 << 10).new_tree(&mut runner).unwrap();
        let sent = carried(tree.current());
        let fields = &sent.headers;
        let binary = |value: &HeaderValue| value.as_bytes().iter().any(|byte| *byte >= 128);
        for (what, is) in [
            ("a repeated field", fields.len() > fields.keys_len()),
            ("a binary value", fields.values().any(binary)),
            ("twenty fields", fields.len() > 20),
            ("many frames", sent.frames.len() > 5),
            ("an empty frame", sent.frames.iter().any(Bytes::is_empty)),
            (
                "trailers",
                sent.trailers.is_some_and(|trailers| !trailers.is_empty()),
            ),
            ("a failure", sent.status.as_u16() >= 400),
            ("a success", sent.status.is_success()),
        ] {
            if is {
                seen.insert(what);
            }
        }
    }
    assert_eq!(seen.len(), 8, "{seen:?}");
}
