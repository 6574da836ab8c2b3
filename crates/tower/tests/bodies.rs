//! Bodies of responses, over a real server and both protocols: what the first caller gets, what is on record, and what a
//! retry gets. Whatever the body does, the handler runs once.

mod common;

use bytes::Bytes;
use common::{
    Liar, Script, Step, count,
    server::BOTH,
    stage::{Stage, assert_done_without_a_body, data, sum},
};
use counterfoil_tower::{Body, BoxError, ConfirmLayer, Doubt, Replay};
use http_body::SizeHint;
use http_body_util::BodyExt;

#[tokio::test]
async fn whatever_the_frames_hold_a_retry_gets_the_same_bytes() {
    let every_byte: Vec<u8> = (0..=255).collect();
    let gzip = b"\x1f\x8b\x08\0not really, and nobody looks\0\xff".to_vec();
    for (frames, coding) in [
        (vec![b"one ".to_vec(), Vec::new(), b"two".to_vec()], None),
        (vec![], None),
        (vec![Vec::new()], None),
        (vec![every_byte], None),
        (vec![gzip], Some("gzip")),
    ] {
        for protocol in BOTH {
            let all = frames.concat();
            let frames = frames.clone();
            let stage = Stage::set(
                protocol,
                |layer| layer,
                move |response| {
                    let response = match coding {
                        Some(coding) => response.header("content-encoding", coding),
                        None => response,
                    };
                    response.status(201).body(Script::data(frames.clone()))
                },
            );
            let (one, two) = stage.await.twice().await;
            assert_eq!((one.word(), two.word()), ("completed", "already_completed"));
            for came in [one, two] {
                assert!(came.whole);
                assert_eq!(came.head.status, 201);
                assert_eq!(came.body, all, "{protocol:?}");
                assert_eq!(came.header("content-encoding"), coding.unwrap_or_default());
            }
        }
    }
}

#[tokio::test]
async fn a_body_past_the_limit_comes_whole_with_its_trailers_and_is_not_kept() {
    const FRAME: usize = 64 * 1024;
    for protocol in BOTH {
        let stage = Stage::set(
            protocol,
            |layer| layer,
            |response| {
                let frames = (0..48_u8).map(|n| data(vec![n; FRAME]));
                let body = Script::new(frames.chain([Step::Trailers(sum())]));
                response.header("trailer", "x-sum").body(body)
            },
        );
        let (one, two) = stage.await.twice().await;
        assert!(one.whole);
        assert_eq!(one.body.len(), 48 * FRAME);
        assert!(
            one.body
                .chunks(FRAME)
                .zip(0..)
                .all(|(frame, n)| frame == vec![n; FRAME])
        );
        assert_eq!(one.trailers, Some(sum()));
        assert_done_without_a_body(&two);
        assert_eq!(two.trailers, None);
    }
}

/// A body that never ends.
struct Endless;

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, BoxError>>> {
        let more = Bytes::from_static(&[b'e'; 16 * 1024]);
        std::task::Poll::Ready(Some(Ok(http_body::Frame::data(more))))
    }
}

#[tokio::test]
async fn an_endless_body_streams_on_past_the_limit_and_is_done() {
    for protocol in BOTH {
        let stage = Stage::set(protocol, |layer| layer, |response| response.body(Endless)).await;
        let request = stage.server.confirm(&stage.fingerprint);
        let mut body = stage.server.open(request).await.unwrap().into_body();
        let mut came = 0;
        while came < 4 << 20 {
            let frame = body.frame().await.unwrap().unwrap();
            came += frame.into_data().unwrap().len();
        }
        // While it goes on.
        assert_done_without_a_body(&stage.ask().await);
        drop(body);
        assert_done_without_a_body(&stage.ask().await);
        assert_eq!(count(&stage.runs), 1);
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_within_the_limit_comes_as_far_as_it_got_and_is_in_doubt() {
    // More than a server buffers, too.
    for half in [4, 600 * 1024] {
        for protocol in BOTH {
            let stage = Stage::set(
                protocol,
                |layer| layer,
                move |response| response.body(Script::new([data(vec![b'h'; half]), Step::Fail])),
            );
            let stage = stage.await;
            let one = stage.ask().await;
            assert_eq!(one.word(), "outcome_unknown");
            assert!(!one.whole);
            assert_eq!(one.body.len(), half, "{protocol:?}");
            assert_eq!(stage.status().await, "outcome_unknown");
            let two = stage.ask().await;
            assert!(two.whole);
            assert_eq!((two.word(), count(&stage.runs)), ("outcome_unknown", 1));
        }
    }
}

#[tokio::test]
async fn for_a_model_a_body_that_breaks_off_is_answered_for() {
    for protocol in BOTH {
        let layer = |layer: ConfirmLayer| layer.with_doubt(Doubt::Answer);
        let stage = Stage::set(protocol, layer, |response| {
            response.body(Script::new([data("half"), Step::Fail]))
        });
        let (one, two) = stage.await.twice().await;
        for came in [one, two] {
            assert!(came.whole);
            assert_eq!(came.word(), "outcome_unknown");
            assert_eq!(came.json()["executed"], "unknown");
        }
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_past_the_limit_was_done_before_it_broke() {
    for end in [|| Step::Fail, || Step::Panic] {
        for protocol in BOTH {
            let layer = |layer: ConfirmLayer| layer.with_max_result(4);
            let stage = Stage::set(protocol, layer, move |response| {
                let wait = Step::Wait(std::time::Duration::from_millis(50));
                response.body(Script::new([data("12345"), wait, end()]))
            });
            let (one, two) = stage.await.twice().await;
            assert_eq!(one.word(), "completed");
            assert!(!one.whole);
            assert_eq!(one.body, b"12345", "{protocol:?}");
            assert_done_without_a_body(&two);
        }
    }
}

#[tokio::test]
async fn a_handler_that_panics_half_way_through_its_body_is_answered_for_and_in_doubt() {
    for protocol in BOTH {
        let stage = Stage::set(
            protocol,
            |layer| layer,
            |response| response.body(Script::new([data("half"), Step::Panic])),
        );
        let stage = stage.await;
        let (one, two) = stage.twice().await;
        for came in [one, two] {
            assert!(came.whole);
            assert_eq!(
                (came.head.status.as_u16(), came.word()),
                (202, "outcome_unknown")
            );
            assert_eq!(came.json()["executed"], "unknown");
        }
        assert_eq!(stage.status().await, "outcome_unknown");
    }
}

#[tokio::test]
async fn a_body_within_the_limit_is_what_it_gives_whatever_it_says_of_its_size() {
    let ended = || Liar {
        says: SizeHint::with_exact(0),
        ended: true,
        body: Script::data(["four"]),
    };
    let lies: [fn() -> Liar; 2] = [
        || Liar::exact(100, Script::data(["four"])),
        || Liar::exact(2, Script::data(["fo", "ur"])),
    ];
    for lie in lies.into_iter().chain([ended as fn() -> Liar]) {
        for length in [None, Some("2"), Some("100"), Some("+4"), Some("4")] {
            for protocol in BOTH {
                let stage = Stage::set(
                    protocol,
                    |layer| layer,
                    move |response| {
                        let response = match length {
                            Some(length) => response.header("content-length", length),
                            None => response,
                        };
                        response.body(lie())
                    },
                );
                let (one, two) = stage.await.twice().await;
                for came in [one, two] {
                    assert!(came.whole);
                    assert_eq!(came.body, b"four", "{length:?} {protocol:?}");
                    assert_eq!(came.header("content-length"), "4");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_body_past_the_limit_that_gave_more_than_it_said_is_not_cut() {
    for ended in [false, true] {
        for protocol in BOTH {
            let layer = |layer: ConfirmLayer| layer.with_max_result(4);
            let stage = Stage::set(protocol, layer, move |response| {
                response.body(Liar {
                    says: if ended {
                        SizeHint::new()
                    } else {
                        SizeHint::with_exact(0)
                    },
                    ended,
                    body: Script::data(["12345", "67890"]),
                })
            });
            let (one, two) = stage.await.twice().await;
            assert!(one.whole);
            assert_eq!(one.body, b"1234567890", "{ended} {protocol:?}");
            assert_done_without_a_body(&two);
        }
    }
}

#[tokio::test]
async fn a_body_that_says_too_much_breaks_where_it_ends() {
    for protocol in BOTH {
        let stage = Stage::set(
            protocol,
            |layer| layer,
            |response| {
                let body = Script::new([
                    data("four"),
                    Step::Wait(std::time::Duration::from_millis(50)),
                ]);
                response.body(Liar::exact(1 << 30, body))
            },
        );
        let (one, two) = stage.await.twice().await;
        assert_eq!(
            (one.word(), one.whole),
            ("completed", false),
            "{protocol:?}"
        );
        assert_eq!(one.body, b"four");
        assert_done_without_a_body(&two);
    }
}

#[tokio::test]
async fn a_large_body_whose_size_is_known_comes_with_it() {
    const LARGE: usize = 3 << 20;
    for protocol in BOTH {
        let stage = Stage::set(
            protocol,
            |layer| layer,
            |response| response.body(Body::from(vec![b'l'; LARGE])),
        );
        let (one, two) = stage.await.twice().await;
        assert_eq!((one.whole, one.body.len()), (true, LARGE));
        assert_eq!(one.header("content-length"), LARGE.to_string());
        assert_done_without_a_body(&two);
    }
}

#[tokio::test]
async fn an_empty_response_is_a_result() {
    for status in [200, 204, 205] {
        for protocol in BOTH {
            let stage = Stage::set(
                protocol,
                |layer| layer,
                move |response| response.status(status).body(Body::default()),
            );
            let (one, two) = stage.await.twice().await;
            for came in [one, two] {
                assert_eq!((came.head.status.as_u16(), came.whole), (status, true));
                assert_eq!(came.body, b"");
            }
        }
    }
}

#[tokio::test]
async fn small_results_are_results() {
    for body in ["null", "0", "false", "\"\"", "[]"] {
        for protocol in BOTH {
            for replay in [Replay::Verbatim, Replay::Envelope] {
                let stage = Stage::set(
                    protocol,
                    |layer| layer.with_replay(replay),
                    move |response| {
                        let response = response.header("content-type", "application/json");
                        response.body(Body::from(body))
                    },
                );
                let (one, two) = stage.await.twice().await;
                assert_eq!(one.body, body.as_bytes());
                assert_eq!((one.word(), two.word()), ("completed", "already_completed"));
                if replay == Replay::Verbatim {
                    assert_eq!(two.body, body.as_bytes(), "{protocol:?}");
                } else {
                    assert_eq!(two.json()["result"].to_string(), body, "{protocol:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_body_that_takes_longer_than_the_limit_comes_whole_and_is_not_kept() {
    for protocol in BOTH {
        let limit = std::time::Duration::from_millis(50);
        let layer = |layer: ConfirmLayer| layer.with_capture_time(limit);
        let stage = Stage::set(protocol, layer, move |response| {
            response.body(Script::new([
                data("one "),
                Step::Wait(8 * limit),
                data("two"),
                Step::Trailers(sum()),
            ]))
        });
        let (one, two) = stage.await.twice().await;
        assert_eq!((one.whole, &one.body[..]), (true, &b"one two"[..]));
        assert_done_without_a_body(&two);
    }
}
