//! What a retry gets, over real sockets, by fingerprint and by key: small results, headers that belong to one call or to
//! the response, and nothing for whoever may not call any more.

mod common;

use std::sync::atomic::Ordering;

use common::{
    Script,
    modes::{EVERYWHERE, Site, echo, store},
    server::Came,
};
use counterfoil_core::engine::{Attempt, Disposition};
use counterfoil_tower::{Body, BoxError};
use http::{Request, Response};

const BODY: &str = r#"{"a":1}"#;

#[tokio::test]
async fn a_small_or_an_empty_result_is_a_result() {
    for (status, body) in [
        (200, ""),
        (204, ""),
        (201, "null"),
        (200, "0"),
        (200, "false"),
        (200, "\"\""),
        (200, "[]"),
        (200, "\0"),
    ] {
        for everywhere in EVERYWHERE {
            let site = Site::open(
                everywhere,
                &store(),
                |gate| gate,
                move |_| async move {
                    let response = Response::builder().status(status);
                    Ok(response.body(Body::from(body))?)
                },
            )
            .await;
            let credential = site.credential(BODY).await;
            let first = site.ask(&credential, BODY).await;
            assert_eq!(first.head.status, status, "{body:?}");
            assert_eq!(first.body, body.as_bytes());
            for _ in 0..2 {
                site.assert_replay(&site.ask(&credential, BODY).await, &first);
            }
            assert_eq!(site.runs(), 1, "{status} {body:?} {everywhere:?}");
        }
    }
}

/// What a handler of many headers says. Its length is untrue.
async fn with_headers(_: Request<Body>) -> Result<Response<Body>, BoxError> {
    let response = Response::builder()
        .status(201)
        .header("location", "/things/1")
        .header("link", "</things/1>; rel=self")
        .header("link", "</things/2>; rel=next")
        .header("set-cookie", "session=first")
        .header("set-cookie", "theme=dark")
        .header("date", "Thu, 01 Jan 1970 00:00:00 GMT")
        .header("content-length", "3");
    Ok(response.body(Body::new(Script::data(["five ", "bytes"])))?)
}

fn all<'a>(came: &'a Came, name: &str) -> Vec<&'a str> {
    let values = came.head.headers.get_all(name).iter();
    values.map(|value| value.to_str().unwrap()).collect()
}

#[tokio::test]
async fn headers_of_the_response_come_again_and_those_of_the_first_call_do_not() {
    let links = ["</things/1>; rel=self", "</things/2>; rel=next"];
    for everywhere in EVERYWHERE {
        let site = Site::open(everywhere, &store(), |gate| gate, with_headers).await;
        let credential = site.credential(BODY).await;
        let first = site.ask(&credential, BODY).await;
        assert_eq!(
            all(&first, "set-cookie"),
            ["session=first", "theme=dark"],
            "the first caller's session gets them"
        );
        let again = site.ask(&credential, BODY).await;
        site.assert_replay(&again, &first);
        for came in [&first, &again] {
            assert_eq!(came.head.status, 201);
            assert_eq!(all(came, "link"), links, "two values stay two");
            assert_eq!(came.header("location"), "/things/1");
            assert_eq!(came.body, b"five bytes");
            assert_ne!(came.header("content-length"), "3", "{everywhere:?}");
        }
        assert_eq!(again.header("content-length"), "10");
        assert!(all(&again, "set-cookie").is_empty(), "another session's");
        assert_ne!(again.header("date"), first.header("date"));
        assert_eq!(site.runs(), 1);
    }
}

#[tokio::test]
async fn whoever_lost_access_gets_no_replay_and_the_store_is_not_asked() {
    for everywhere in EVERYWHERE {
        let site = Site::open(everywhere, &store(), |gate| gate, echo).await;
        let credential = site.credential(BODY).await;
        let first = site.ask(&credential, BODY).await;
        let asked = site.asked();
        site.may_call.store(false, Ordering::SeqCst);
        let refused = site.ask(&credential, BODY).await;
        assert_eq!((refused.head.status.as_u16(), refused.word()), (403, ""));
        assert_eq!(refused.body, b"not any more");
        for name in [
            "counterfoil-operation-id",
            "idempotent-replayed",
            "location",
        ] {
            assert_eq!(refused.header(name), "");
        }
        assert_eq!(site.asked(), asked, "the layer was never reached");
        // The refusal was nobody's result.
        site.may_call.store(true, Ordering::SeqCst);
        site.assert_replay(&site.ask(&credential, BODY).await, &first);
        assert_eq!(site.runs(), 1);
    }
}

#[tokio::test]
async fn a_status_is_no_proof_that_nothing_happened_and_no_result_for_ever() {
    for status in [401, 403, 425, 429, 500, 502, 503, 504] {
        for everywhere in EVERYWHERE {
            for word in [
                None,
                Some(Disposition::NotExecuted),
                Some(Disposition::Failed),
            ] {
                let site = Site::open(
                    everywhere,
                    &store(),
                    |gate| gate,
                    move |request| async move {
                        let attempt = request.extensions().get::<Attempt>();
                        if let Some(word) = word {
                            attempt.expect("the layer adds it").declare(word);
                        }
                        let response = Response::builder().status(status);
                        Ok(response.body(Body::from("said"))?)
                    },
                )
                .await;
                let credential = site.credential(BODY).await;
                let first = site.ask(&credential, BODY).await;
                assert_eq!(
                    (first.head.status.as_u16(), &first.body[..]),
                    (status, &b"said"[..])
                );
                let again = site.ask(&credential, BODY).await;
                let (stands, runs) = match word {
                    None => ("outcome_unknown", 1),
                    Some(Disposition::NotExecuted) => ("not_executed", 2),
                    _ => ("already_failed", 1),
                };
                assert_eq!((first.word(), again.word()), (stands, stands), "{status}");
                assert_eq!(site.runs(), runs, "{status} {word:?} {everywhere:?}");
            }
        }
    }
}
