//! What runs under a key, and what a retry gets.

use super::*;

#[tokio::test]
async fn a_retry_gets_the_first_response_as_it_was() {
    let (world, runs) = (World::new(), counter());
    let service = service(&layer(&world), &runs, created);
    let first = send(&service, post(KEY)).await;
    assert_eq!((first.status, first.word()), (201, "completed"));
    assert_eq!(first.header("idempotent-replayed"), "");
    for spelling in [KEY.to_owned(), format!("\"{KEY}\"")] {
        let again = send(&service, post(&spelling)).await;
        assert_eq!((again.status, again.word()), (201, "already_completed"));
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.body, first.body);
        for name in ["content-type", "location", "counterfoil-operation-id"] {
            assert_eq!(again.header(name), first.header(name), "{name}");
        }
        let parts: Vec<_> = again.headers.get_all("x-part").iter().collect();
        assert_eq!(parts, ["a", "b"]);
    }
    assert_eq!(count(&runs), 1);
    assert_eq!(send(&service, post(OTHER)).await.word(), "completed");
    assert_eq!(count(&runs), 2, "the key scopes it, never the content");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_comes_again_after_its_record_was_dropped_is_a_request_of_its_own() {
    let day = Duration::from_secs(24 * 60 * 60);
    let world = World::with(|gate| gate.with_retention(day));
    let runs = counter();
    let service = service(&layer(&world), &runs, created);
    assert_eq!(send(&service, post(KEY)).await.word(), "completed");
    tokio::time::sleep(day - Duration::from_secs(60)).await;
    world.store.inner().purge(10).await.unwrap();
    let again = send(&service, post(KEY)).await;
    assert_eq!((again.word(), count(&runs)), ("already_completed", 1));
    tokio::time::sleep(2 * day).await;
    assert_eq!(world.store.inner().purge(10).await.unwrap(), 1);
    let anew = send(&service, post(KEY)).await;
    assert_eq!((anew.status, anew.word()), (201, "completed"));
    assert_eq!(anew.header("idempotent-replayed"), "");
    assert_eq!(count(&runs), 2);
}

#[tokio::test]
async fn a_key_with_another_request_is_told_so_and_nothing_runs() {
    let (world, runs) = (World::new(), counter());
    let layer = layer(&world).with_bound_headers([HeaderName::from_static("x-region")]);
    let service = service(&layer, &runs, created);
    let at = |method: Method, uri: &str, region: Option<&str>, body: &'static str| {
        let mut request = builder(method, uri).header("idempotency-key", KEY);
        if let Some(region) = region {
            request = request.header("x-region", region);
        }
        request.body(Body::from(body)).unwrap()
    };
    let put = Method::PUT;
    let first = at(put.clone(), "/t/a", Some("eu"), BODY);
    assert_eq!(send(&service, first).await.word(), "completed");
    for other in [
        at(
            put.clone(),
            "/t/a",
            Some("eu"),
            r#"{"amount":11,"payee":"bob"}"#,
        ),
        at(put.clone(), "/t/b", Some("eu"), BODY),
        at(put.clone(), "/t/%61", Some("eu"), BODY),
        at(put.clone(), "/t/a?x=1", Some("eu"), BODY),
        at(put.clone(), "/t/a", Some("us"), BODY),
        at(put.clone(), "/t/a", None, BODY),
        at(Method::PATCH, "/t/a", Some("eu"), BODY),
        at(Method::DELETE, "/t/a", Some("eu"), BODY),
    ] {
        let line = format!("{} {}", other.method(), other.uri());
        let told = send(&service, other).await;
        assert_problem(&told, 422, "key_reused");
        assert_eq!(told.json()["executed"], "unknown", "{line}");
        assert!(told.json().get("state").is_none(), "{line}");
    }
    // Another spelling of the same request is the same request.
    let same = at(
        put,
        "/t/a",
        Some("eu"),
        "{ \"payee\":\"\\u0062ob\", \"amount\":10 }",
    );
    assert_eq!(send(&service, same).await.word(), "already_completed");
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_final_failure_is_repeated_and_what_did_nothing_runs_again() {
    let (world, runs) = (World::new(), counter());
    let says = |word, status| {
        service(&layer(&world), &runs, move |request| async move {
            let attempt = request.extensions().get::<Attempt>().cloned();
            attempt.expect("the layer adds it").declare(word);
            response(status, "no funds")
        })
    };
    let failing = says(Disposition::Failed, 402);
    send(&failing, post(KEY)).await;
    let again = send(&failing, post(KEY)).await;
    assert_eq!((again.status, again.word()), (402, "already_failed"));
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(&again.body[..], b"no funds");
    assert_eq!(count(&runs), 1);
    let refusing = says(Disposition::NotExecuted, 503);
    for runs_so_far in [2, 3] {
        assert_eq!(send(&refusing, post(OTHER)).await.status, 503);
        assert_eq!(count(&runs), runs_so_far);
    }
}
