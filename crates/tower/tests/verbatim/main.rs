//! A verbatim replay is the first answer, byte for byte, whatever that was: but for what belongs to the first call.

#[path = "../common/mod.rs"]
mod common;
mod first;
mod wire;

use bytes::Bytes;
use common::{Read, World, confirm, count, counter, send, wrapped};
use counterfoil_core::engine::Attempt;
use counterfoil_tower::{BoxError, ConfirmLayer, Replay};
use first::{First, HOP, NOT_REPLAYED, first};
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;

fn layer(world: &World) -> ConfirmLayer {
    let layer = world.layer().with_replay(Replay::Verbatim);
    layer.with_max_result(4 << 20)
}

/// The first answer and a retry's.
async fn twice(first: First) -> (Read, Read) {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let runs = counter();
    let service = wrapped(&layer(&world), &runs, move |attempt: Attempt, _| {
        let first = first.clone();
        async move { Ok::<_, BoxError>(first.given(&attempt)) }
    });
    let one = send(service.clone(), confirm(&fingerprint)).await;
    let two = send(service, confirm(&fingerprint)).await;
    assert_eq!(count(&runs), 1);
    (one, two)
}

fn without(mut fields: HeaderMap, names: &[&str]) -> HeaderMap {
    for name in names {
        fields.remove(*name);
    }
    fields
}

fn holds(sent: First) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (one, two) = runtime.block_on(twice(sent.clone()));
    let body: Bytes = sent.frames.concat().into();

    // The first answer is the handler's response, and says what stands.
    let ours = ["counterfoil-status", "counterfoil-operation-id"];
    prop_assert_eq!(one.status, sent.status.as_u16());
    prop_assert_eq!(
        without(one.headers.clone(), &ours),
        without(sent.headers.clone(), &ours)
    );
    prop_assert!(one.body == body, "the first body is another one");
    prop_assert_eq!(&one.trailers, &sent.trailers);

    // A replay is that answer.
    let failed = sent.status.as_u16() >= 400;
    prop_assert_eq!(two.status, one.status);
    prop_assert!(two.body == body, "the body of the replay is another one");
    prop_assert_eq!(
        two.word(),
        if failed {
            "already_failed"
        } else {
            "already_completed"
        }
    );
    prop_assert_eq!(&two.headers["idempotent-replayed"], "true");
    prop_assert_eq!(
        &two.headers["counterfoil-operation-id"],
        &one.headers["counterfoil-operation-id"]
    );
    let mut expected = without(sent.headers.clone(), &NOT_REPLAYED);
    if expected.remove("connection").is_some() {
        expected.remove(HOP);
    }
    if !expected.contains_key("cache-control") {
        expected.insert("cache-control", HeaderValue::from_static("no-store"));
    }
    let added = [&ours[..], &["idempotent-replayed"]].concat();
    prop_assert_eq!(without(two.headers, &added), expected);
    let trailers = sent.trailers.map(|sent| without(sent, &NOT_REPLAYED));
    prop_assert_eq!(two.trailers, trailers.filter(|kept| !kept.is_empty()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_verbatim_replay_equals_the_first_answer_byte_for_byte(first in first(0_usize..8 << 10)) {
        holds(first)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 16, ..ProptestConfig::with_cases(12) })]

    #[test]
    fn a_verbatim_replay_of_a_large_body_equals_the_first_answer_too(first in first(0_usize..=3 << 20)) {
        holds(first)?;
    }
}
