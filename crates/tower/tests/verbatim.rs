//! A verbatim replay is the first answer, byte for byte, whatever that was: but for what belongs to the first call.

mod common;

use bytes::Bytes;
use common::{Read, Script, Step, World, confirm, count, counter, send, wrapped};
use counterfoil_core::engine::Disposition;
use counterfoil_tower::{BoxError, Replay};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{Index, select},
};

/// A first response, as it is generated.
#[derive(Clone, Debug)]
struct First {
    status: StatusCode,
    headers: HeaderMap,
    frames: Vec<Bytes>,
    trailers: Option<HeaderMap>,
}

impl First {
    fn response(&self) -> Response<Script> {
        let frames = self.frames.iter().cloned().map(Step::Data);
        let steps = frames.chain(self.trailers.clone().map(Step::Trailers));
        let mut response = Response::new(Script::new(steps));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers.clone();
        response
    }
}

/// Fields that are of the first call alone, in the head and in the trailers.
const NOT_REPLAYED: [&str; 9] = [
    "date",
    "set-cookie",
    "server-timing",
    "traceparent",
    "keep-alive",
    "www-authenticate",
    "access-control-allow-origin",
    "counterfoil-status",
    "idempotent-replayed",
];

/// Fields that mean something, and are replayed.
const KNOWN: [&str; 7] = [
    "location",
    "etag",
    "content-type",
    "cache-control",
    "vary",
    "trailer",
    HOP,
];

/// Hop-by-hop, by the word of a `Connection` that may stand beside it.
const HOP: &str = "x-hop";

fn fields(most: usize) -> impl Strategy<Value = HeaderMap> {
    let name = prop_oneof![
        6 => "x-[a-d]{1,2}",
        3 => select(&KNOWN[..]).prop_map(str::to_owned),
        2 => select(&NOT_REPLAYED[..]).prop_map(str::to_owned),
    ];
    let byte = any::<u8>().prop_filter("a field's byte", |b| *b == 9 || (*b >= 32 && *b != 127));
    vec((name, vec(byte, 0..24)), 0..=most).prop_map(|pairs| {
        let mut fields = HeaderMap::new();
        for (name, value) in pairs {
            let name = HeaderName::try_from(name).unwrap();
            fields.append(name, HeaderValue::from_bytes(&value).unwrap());
        }
        fields
    })
}

/// Any bytes of a length, cut anywhere, also twice at one place.
fn frames(length: impl Strategy<Value = usize>) -> impl Strategy<Value = Vec<Bytes>> {
    (length, any::<u64>(), vec(any::<Index>(), 0..12)).prop_map(|(length, seed, cuts)| {
        let mut state = seed | 1;
        let next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        let all: Bytes = std::iter::repeat_with(next).take(length).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(length + 1)).collect();
        cuts.push(length);
        cuts.sort_unstable();
        let mut from = 0;
        let cut = |to| all.slice(std::mem::replace(&mut from, to)..to);
        cuts.into_iter().map(cut).collect()
    })
}

fn first(length: impl Strategy<Value = usize>) -> impl Strategy<Value = First> {
    let parts = (
        200_u16..600,
        fields(30),
        any::<bool>(),
        frames(length),
        option::of(fields(6)),
    );
    parts.prop_map(|(status, mut headers, hop, frames, trailers)| {
        if hop {
            headers.insert("connection", HeaderValue::from_static("close, X-Hop"));
        }
        let status = StatusCode::from_u16(status).unwrap();
        First {
            status,
            headers,
            frames,
            trailers,
        }
    })
}

/// The first answer and a retry's.
async fn twice(first: First) -> (Read, Read) {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let runs = counter();
    let layer = world.layer().with_replay(Replay::Verbatim);
    let service = wrapped(&layer.with_max_result(4 << 20), &runs, move |attempt, _| {
        let first = first.clone();
        async move {
            attempt.declare(if first.status.as_u16() < 400 {
                Disposition::Done
            } else {
                Disposition::Failed
            });
            Ok::<_, BoxError>(first.response())
        }
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
