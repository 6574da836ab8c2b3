//! Keys over a socket, in both versions of HTTP.

use counterfoil_core::idempotency::KeyRules;
use http::HeaderMap;
use tokio::sync::Notify;

use super::*;
use crate::common::{
    Script, Step,
    server::{BOTH, Came, Server},
};

/// A request to a path of a server, with further fields.
fn to(server: &Server, method: Method, path: &str, fields: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(format!("http://{}{path}", server.address))
        .header("te", "trailers");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    request.body(Body::default()).unwrap()
}

/// One that asks for a transfer, under these keys.
fn transfer(server: &Server, keys: &[&str], body: &str) -> Request<Body> {
    let mut fields = vec![("content-type", "application/json")];
    fields.extend(keys.iter().map(|key| ("idempotency-key", *key)));
    let request = to(server, Method::POST, "/transfers", &fields);
    request.map(|_| Body::from(body.as_bytes().to_vec()))
}

#[track_caller]
fn assert_told(came: &Came, http: u16, code: &str) {
    assert_eq!(
        (came.head.status.as_u16(), came.word()),
        (http, code),
        "{came:?}"
    );
    assert_eq!(came.header("content-type"), "application/problem+json");
    assert_eq!(came.json()["code"], code);
}

#[tokio::test]
async fn a_retry_reads_what_the_first_caller_read_trailers_and_all() {
    for protocol in BOTH {
        let (world, runs) = (World::new(), counter());
        let service = service(&layer(&world), &runs, |_| async {
            let mut sums = HeaderMap::new();
            sums.append("x-sum", HeaderValue::from_static("7"));
            sums.append("x-sum", HeaderValue::from_bytes(b"\xff").unwrap());
            sums.append("set-cookie", HeaderValue::from_static("session=secret"));
            let steps = [
                Step::Data("a".into()),
                Step::Data("b".into()),
                Step::Trailers(sums),
            ];
            let response = Response::builder()
                .status(201)
                .header("trailer", "x-sum")
                .header("x-part", "a")
                .header("x-part", HeaderValue::from_bytes(b"\x80\xff").unwrap())
                .header("date", "then")
                .header("set-cookie", "session=secret")
                .header("www-authenticate", "Basic")
                .header("access-control-allow-origin", "*")
                .header("server-timing", "db;dur=1")
                .header("traceparent", "00-1");
            Ok(response.body(Body::new(Script::new(steps)))?)
        });
        let server = Server::start(service, protocol).await;
        let one = server.ask(transfer(&server, &[KEY], BODY)).await;
        let two = server.ask(transfer(&server, &[KEY], BODY)).await;
        assert_eq!((one.word(), two.word()), ("completed", "already_completed"));
        assert_eq!(one.header("idempotent-replayed"), "");
        assert_eq!(two.header("idempotent-replayed"), "true");
        for came in [&one, &two] {
            assert_eq!(
                (came.head.status.as_u16(), &came.body[..]),
                (201, &b"ab"[..])
            );
            let parts: Vec<_> = came.head.headers.get_all("x-part").iter().collect();
            assert_eq!(parts, [&b"a"[..], b"\x80\xff"]);
            let sums = came.trailers.as_ref().expect("trailers").get_all("x-sum");
            assert_eq!(
                sums.iter().collect::<Vec<_>>(),
                [&b"7"[..], b"\xff"],
                "{protocol:?}"
            );
        }
        for name in [
            "set-cookie",
            "www-authenticate",
            "access-control-allow-origin",
            "server-timing",
            "traceparent",
        ] {
            assert!(one.head.headers.contains_key(name), "{name}");
            assert!(!two.head.headers.contains_key(name), "{name}");
        }
        assert_eq!(one.header("date"), "then");
        assert!(two.header("date").ends_with(" GMT"), "the server's own");
        let kept = two.trailers.expect("trailers");
        assert!(!kept.contains_key("set-cookie"));
        assert_eq!(count(&runs), 1);
    }
}

#[tokio::test]
async fn get_head_and_options_pass_untouched() {
    for protocol in BOTH {
        let (world, runs) = (World::new(), counter());
        let service = service(&layer(&world), &runs, |request| async move {
            assert!(request.extensions().get::<Attempt>().is_none());
            let mut response = response(200, "as it is")?;
            let keys = request.headers().get_all("idempotency-key").iter().count();
            response.headers_mut().insert("x-keys", keys.into());
            Ok(response)
        });
        let server = Server::start(service, protocol).await;
        for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
            for keys in [&[][..], &[KEY], &[KEY, KEY], &["no key, surely"]] {
                let fields: Vec<_> = keys.iter().map(|key| ("idempotency-key", *key)).collect();
                let came = server
                    .ask(to(&server, method.clone(), "/transfers", &fields))
                    .await;
                assert_eq!((came.head.status.as_u16(), came.word()), (200, ""));
                assert_eq!(came.header("x-keys"), keys.len().to_string(), "{method}");
                let body = if method == Method::HEAD {
                    ""
                } else {
                    "as it is"
                };
                assert_eq!(came.body, body.as_bytes(), "{method} {protocol:?}");
            }
        }
        assert_eq!((count(&runs), world.asked()), (12, 0));
    }
}

#[tokio::test]
async fn what_is_no_key_or_another_request_is_refused_by_name() {
    for protocol in BOTH {
        let (world, runs) = (World::new(), counter());
        let server = Server::start(service(&layer(&world), &runs, created), protocol).await;
        let long = "k".repeat(256);
        for (keys, code, reason) in [
            (&[][..], "key_required", ""),
            (&[KEY, KEY], "key_invalid", "given_twice"),
            (&[KEY, OTHER], "key_invalid", "given_twice"),
            (&[""], "key_invalid", "empty"),
            (&["\"\""], "key_invalid", "empty"),
            (&[" \t "], "key_invalid", "empty"),
            (&["schlüssel-schlüssel"], "key_invalid", "not_ascii"),
            (&[&long], "key_invalid", "too_long"),
            (&["order-17"], "key_invalid", "too_short"),
        ] {
            let told = server.ask(transfer(&server, keys, BODY)).await;
            assert_told(&told, 400, code);
            assert_eq!(told.json()["reason"].as_str().unwrap_or_default(), reason);
            assert_eq!(told.json()["executed"], "unknown");
        }
        assert_eq!((count(&runs), world.asked()), (0, 0));
        for (spelling, word) in [
            (KEY.to_owned(), "completed"),
            (format!("\"{KEY}\""), "already_completed"),
            (format!(" {KEY}\t "), "already_completed"),
        ] {
            let came = server.ask(transfer(&server, &[&spelling], BODY)).await;
            assert_eq!((came.head.status.as_u16(), came.word()), (201, word));
        }
        let other = r#"{"amount":11,"payee":"bob"}"#;
        let told = server.ask(transfer(&server, &[KEY], other)).await;
        assert_told(&told, 422, "key_reused");
        assert!(told.json().get("state").is_none());
        // The key scopes it: equal requests under two keys are two.
        let came = server.ask(transfer(&server, &[OTHER], BODY)).await;
        assert_eq!((came.word(), count(&runs)), ("completed", 2));
    }
}

#[tokio::test]
async fn in_flight_it_is_a_conflict_with_a_time_to_wait() {
    for protocol in BOTH {
        let (world, runs) = (World::new(), counter());
        let (started, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let handler = {
            let (started, go_on) = (Arc::clone(&started), Arc::clone(&go_on));
            move |request| {
                let (started, go_on) = (Arc::clone(&started), Arc::clone(&go_on));
                async move {
                    started.notify_one();
                    go_on.notified().await;
                    created(request).await
                }
            }
        };
        let server = Server::start(service(&layer(&world), &runs, handler), protocol).await;
        let first = server.ask(transfer(&server, &[KEY], BODY));
        let second = async {
            started.notified().await;
            let told = server.ask(transfer(&server, &[KEY], BODY)).await;
            go_on.notify_one();
            told
        };
        let (first, told) = tokio::join!(first, second);
        assert_eq!(
            (first.head.status.as_u16(), first.word()),
            (201, "completed")
        );
        assert_told(&told, 409, "in_progress");
        assert_eq!(told.json()["retryable"], true);
        assert!(told.header("retry-after").parse::<u64>().unwrap() >= 1);
        let again = server.ask(transfer(&server, &[KEY], BODY)).await;
        assert_eq!((again.word(), count(&runs)), ("already_completed", 1));
    }
}

#[tokio::test]
async fn a_key_may_stand_in_the_body() {
    for protocol in BOTH {
        let (world, runs) = (World::new(), counter());
        let layer = layer(&world).with_body_member("request_id");
        let server = Server::start(service(&layer, &runs, created), protocol).await;
        let with = |member: &str| format!(r#"{{"amount":10,"payee":"bob"{member}}}"#);
        let in_body = with(&format!(r#","request_id":"{KEY}""#));
        for (keys, body, word) in [
            (&[][..], in_body.as_str(), "completed"),
            (&[KEY], BODY, "already_completed"),
            (&[KEY], &in_body, "already_completed"),
        ] {
            let came = server.ask(transfer(&server, keys, body)).await;
            assert_eq!((came.head.status.as_u16(), came.word()), (201, word));
        }
        let differ = server.ask(transfer(&server, &[OTHER], &in_body)).await;
        assert_told(&differ, 400, "credentials_differ");
        let control = with(r#","request_id":"aaaaaaaaaaaaaaaa\u0000""#);
        let told = server.ask(transfer(&server, &[], &control)).await;
        assert_told(&told, 400, "key_invalid");
        assert_eq!(told.json()["reason"], "control_character");
        let none = server.ask(transfer(&server, &[], BODY)).await;
        assert_told(&none, 400, "key_required");
        assert_eq!(count(&runs), 1);
    }
}

/// A UUIDv7 of so many seconds before the instant that a world begins at, or after it.
fn made(seconds_ago: i64) -> String {
    let milliseconds = (1_700_000_000 - seconds_ago) * 1000;
    let hex = format!("{milliseconds:012x}");
    format!("{}-{}-7abc-8def-0123456789ab", &hex[..8], &hex[8..])
}

#[tokio::test]
async fn where_a_key_has_its_time_in_it_no_other_is_taken_and_none_that_is_too_old() {
    const DAY: i64 = 86_400;
    for protocol in BOTH {
        let rules = KeyRules::default().with_max_age(Duration::from_secs(DAY as u64));
        let world = World::with(|gate| gate.with_key_rules(rules));
        let runs = counter();
        let server = Server::start(service(&layer(&world), &runs, created), protocol).await;
        let (old, ahead, fresh) = (made(DAY + 60), made(-600), made(DAY - 600));
        for (key, reason) in [
            (KEY, "not_uuid_v7"),
            (OTHER, "not_uuid_v7"),
            (&ahead, "ahead_of_time"),
            (&old, "too_old"),
        ] {
            let told = server.ask(transfer(&server, &[key], BODY)).await;
            assert_told(&told, 400, "key_invalid");
            assert_eq!(told.json()["reason"], reason, "{key}");
        }
        assert_eq!(count(&runs), 0);
        for word in ["completed", "already_completed"] {
            let came = server.ask(transfer(&server, &[&fresh], BODY)).await;
            assert_eq!((came.head.status.as_u16(), came.word()), (201, word));
        }
    }
}

#[tokio::test]
async fn the_status_is_told_by_key_and_by_id() {
    for protocol in BOTH {
        let (world, runs) = (World::new(), counter());
        let server = Server::start(service(&layer(&world), &runs, created), protocol).await;
        let status = StatusService::new(world.counterfoil.clone());
        let status = Server::start(status, protocol).await;
        let by_key = |key| {
            to(
                &status,
                Method::GET,
                "/v1/operation",
                &[("idempotency-key", key)],
            )
        };
        let before = status.ask(by_key(KEY)).await;
        assert_eq!(
            (before.head.status.as_u16(), before.word()),
            (200, "not_started")
        );
        let first = server.ask(transfer(&server, &[KEY], BODY)).await;
        let id = first.header("counterfoil-operation-id");
        assert_eq!(before.header("counterfoil-operation-id"), id);
        assert_eq!(id.as_bytes()[14], b'8', "a UUIDv8");
        let by_id = to(&status, Method::GET, &format!("/v1/operations/{id}"), &[]);
        for request in [by_key(KEY), by_id] {
            let told = status.ask(request).await;
            assert_eq!(
                (told.head.status.as_u16(), told.word()),
                (200, "already_completed")
            );
            assert_eq!(told.json()["result"]["id"], "t-1");
        }
        let twice = [("idempotency-key", KEY), ("idempotency-key", KEY)];
        let twice = status
            .ask(to(&status, Method::GET, "/v1/operation", &twice))
            .await;
        assert_eq!(
            (twice.head.status.as_u16(), twice.word()),
            (400, "key_invalid")
        );
    }
}
