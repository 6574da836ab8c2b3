//! Trailers of responses, over a real server and both protocols.

mod common;

use bytes::Bytes;
use common::{
    BODY, Script, Step, World, agent, confirm, count, counter, response, send,
    server::{BOTH, Protocol},
    stage::{Stage, assert_done_without_a_body, data, sum},
    wrapped,
};
use counterfoil_core::{engine::Outcome, store::StoredResult};
use counterfoil_tower::{ConfirmLayer, Replay};
use http::HeaderValue;

#[tokio::test]
async fn trailers_are_kept_and_replayed() {
    for protocol in BOTH {
        let stage = Stage::set(
            protocol,
            |layer| layer,
            |response| {
                let mut trailers = sum();
                trailers.append("x-sum", HeaderValue::from_bytes(b"\xff").unwrap());
                trailers.append("set-cookie", HeaderValue::from_static("session=secret"));
                trailers.append("server-timing", HeaderValue::from_static("db;dur=1"));
                response
                    .header("trailer", "x-sum, server-timing")
                    .body(Script::new([data("body"), Step::Trailers(trailers)]))
            },
        );
        let (one, two) = stage.await.twice().await;
        let first = one.trailers.expect("trailers");
        assert_eq!(first["server-timing"], "db;dur=1");
        let kept = two.trailers.as_ref().expect("trailers");
        let sums: Vec<_> = kept.get_all("x-sum").iter().collect();
        assert_eq!(sums, first.get_all("x-sum").iter().collect::<Vec<_>>());
        assert_eq!(
            (sums.len(), kept.len()),
            (2, 2),
            "those of the first call are not replayed"
        );
        assert_eq!((&one.body[..], &two.body[..]), (&b"body"[..], &b"body"[..]));
        assert_eq!(two.header("trailer"), "x-sum, server-timing");
    }
}

#[tokio::test]
async fn a_caller_that_takes_no_trailers_gets_the_body_and_the_next_one_gets_both() {
    let stage = Stage::set(
        Protocol::Http1,
        |layer| layer,
        |response| {
            let body = Script::new([data("body"), Step::Trailers(sum())]);
            response.header("trailer", "x-sum").body(body)
        },
    );
    let stage = stage.await;
    for takes in [false, true, false] {
        let mut request = stage.server.confirm(&stage.fingerprint);
        if !takes {
            request.headers_mut().remove("te");
        }
        let came = stage.server.ask(request).await;
        assert!(came.whole);
        assert_eq!(came.body, b"body");
        assert_eq!(came.trailers, takes.then(sum));
    }
    assert_eq!(count(&stage.runs), 1);
}

#[tokio::test]
async fn trailers_count_against_the_limit() {
    for (limit, kept) in [(10, true), (9, false)] {
        let layer = move |layer: ConfirmLayer| layer.with_max_result(limit);
        let stage = Stage::set(Protocol::Http2, layer, |response| {
            response.body(Script::new([data("body"), Step::Trailers(sum())]))
        });
        let (one, two) = stage.await.twice().await;
        assert_eq!(one.trailers, Some(sum()));
        if kept {
            assert_eq!((&two.body[..], two.trailers), (&b"body"[..], Some(sum())));
        } else {
            assert_done_without_a_body(&two);
        }
    }
}

/// What a retry gets of a result with these bytes: status, word, body.
async fn replayed(bytes: &'static [u8]) -> (u16, String, Bytes) {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let params = world.gate.read(BODY.as_bytes()).unwrap();
    let stored = StoredResult {
        format: "http/1".into(),
        bytes: Bytes::from_static(bytes),
    };
    let agent = agent();
    let answer = world
        .gate
        .run(&agent, &fingerprint, params, |_, _| async move {
            Outcome::Done(Some(stored))
        });
    assert_eq!(answer.await.status.as_str(), "completed");
    let layer = world.layer().with_replay(Replay::Verbatim);
    let service = wrapped(&layer, &counter(), |_, _| async { response(500, "") });
    let told = send(service, confirm(&fingerprint)).await;
    (told.status, told.word().to_owned(), told.body)
}

#[tokio::test]
async fn a_response_that_was_stored_before_there_were_trailers_is_replayed() {
    let (status, word, body) = replayed(b"\x01\x01\x00\xc9\x01\x08location\x02/1\x02{}").await;
    assert_eq!(
        (status, word.as_str(), &body[..]),
        (201, "already_completed", &b"{}"[..])
    );
}

#[tokio::test]
async fn a_response_with_a_flag_of_a_later_version_was_done_all_the_same() {
    let (status, word, body) = replayed(b"\x01\x05\x00\xc9\x00\x02{}").await;
    assert_eq!((status, word.as_str()), (200, "already_completed"));
    let json: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert!(json.get("result").is_none(), "{json}");
}
