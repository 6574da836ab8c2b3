//! Which path leads to a guarded method, and that no other does.

use super::*;

/// A service that is careless about paths, in a layer; it counts its runs.
fn careless(
    layer: &GrpcLayer,
    runs: &Arc<AtomicUsize>,
) -> impl Service<Request<Body>, Response = Response<Body>, Error = BoxError> + Clone + use<> {
    let runs = Arc::clone(runs);
    layer.layer(service_fn(move |_: Request<Body>| {
        runs.fetch_add(1, Ordering::SeqCst);
        async { Ok::<_, BoxError>(reply(&["paid"])) }
    }))
}

#[tokio::test]
async fn a_guarded_method_is_reached_by_no_other_spelling_of_its_path() {
    let world = World::new();
    let runs = counter();
    let service = careless(&layer(&world), &runs);
    for path in [
        "/payments.v1.Payments/transfer",
        "/PAYMENTS.V1.PAYMENTS/TRANSFER",
        "/payments.v1.Payments/Transfer/",
        "/payments.v1.Payments//Transfer",
        "//payments.v1.Payments/Transfer",
        "/./payments.v1.Payments/Transfer",
        "/x/../payments.v1.Payments/Transfer",
        "/payments.v1.Payments/%54ransfer",
        "/payments%2ev1.Payments/Transfer",
        "/payments.v1.Payments%2FTransfer",
        "/payments.v1.Payments/%2554ransfer",
        "/payments.v1.Payments/Transfer;a=b",
        "/payments.v1.Payments/Transfer%00",
        "/payments.v1.Payments/Transfer%20",
        // A router further in may take the front off.
        "/api/payments.v1.Payments/Transfer",
        "http://host/api/payments.v1.Payments/Transfer",
    ] {
        let mut request = confirm(&world.fingerprint().await);
        *request.uri_mut() = path.parse().unwrap();
        let got = send(service.clone(), request).await;
        let told = (got.http, got.code(), got.word());
        assert_eq!(
            told,
            (200, Code::Unimplemented, "not_implemented"),
            "{path}"
        );
        assert_eq!((count(&runs), world.asked()), (0, 0), "{path}");
    }
}

#[tokio::test]
async fn a_query_an_authority_and_another_http_method_lead_round_no_gate() {
    let world = World::new();
    let runs = counter();
    let service = careless(&layer(&world), &runs);
    for uri in [
        "/payments.v1.Payments/Transfer?a=b",
        "http://host/payments.v1.Payments/Transfer",
    ] {
        let mut request = confirm("none");
        *request.uri_mut() = uri.parse().unwrap();
        let got = send(service.clone(), request).await;
        assert_eq!(got.word(), "fingerprint_mistyped", "{uri}");
    }
    for method in ["GET", "HEAD", "OPTIONS", "QUERY", "CONNECT"] {
        let mut request = confirm(&world.fingerprint().await);
        *request.method_mut() = method.parse().unwrap();
        let got = send(service.clone(), request).await;
        assert_eq!(got.http, 415, "{method}");
    }
    assert_eq!((count(&runs), world.asked()), (0, 0));
}

#[tokio::test]
async fn behind_a_prefix_a_method_is_guarded_by_the_path_that_the_layer_sees() {
    let world = World::new();
    let runs = counter();
    let path = "/api/payments.v1.Payments/Transfer";
    let layer = GrpcLayer::new().with_method(path, gate(&world));
    let service = careless(&layer, &runs);
    let fingerprint = world.fingerprint().await;
    for word in ["completed", "already_completed"] {
        let mut request = confirm(&fingerprint);
        *request.uri_mut() = path.parse().unwrap();
        assert_eq!(send(service.clone(), request).await.word(), word);
    }
    let got = send(service, confirm(&fingerprint)).await;
    assert_eq!((got.word(), count(&runs)), ("not_implemented", 1));
}

#[test]
#[should_panic(expected = "\"payments.v1.Payments/Transfer\" is not the path of a method")]
fn a_path_that_would_guard_nothing_is_refused_when_the_layer_is_made() {
    let _ = GrpcLayer::new().with_method("payments.v1.Payments/Transfer", gate(&World::new()));
}

#[tokio::test]
async fn the_credentials_of_any_call_are_hidden_from_logs_however_often_they_were_sent() {
    let world = World::new();
    let inner = service_fn(|request: Request<Body>| async move {
        let secret = ["counterfoil-fingerprint", "idempotency-key"];
        let mut sent = request.headers().iter();
        assert!(sent.all(|(name, value)| value.is_sensitive() == secret.contains(&name.as_str())));
        assert_eq!(request.headers().get_all(secret[1]).iter().count(), 2);
        Ok::<_, BoxError>(reply(&["paid"]))
    });
    let service = layer(&world).layer(inner);
    let fingerprint = world.fingerprint().await;
    for path in [PATH, "/payments.v1.Payments/Status"] {
        let mut request = confirm(&fingerprint);
        *request.uri_mut() = path.parse().unwrap();
        for key in ["one-key-of-a-program", "another-of-a-program"] {
            let key = HeaderValue::from_static(key);
            request.headers_mut().append("idempotency-key", key);
        }
        assert_eq!(
            send(service.clone(), request).await.code(),
            Code::Ok,
            "{path}"
        );
    }
}
