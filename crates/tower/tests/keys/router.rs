//! Keys behind a router that cuts the path.

use axum::{Router, routing::put};
use tower::ServiceExt;

use super::*;

async fn sent(routes: &Router, uri: &str) -> Read {
    let request = builder(Method::PUT, uri).header("idempotency-key", KEY);
    let request = request.body(Body::from(BODY)).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    read(Response::from_parts(parts, Body::new(body))).await
}

#[tokio::test]
async fn the_path_is_bound_as_it_was_sent_and_not_as_a_router_cut_it() {
    let (world, runs) = (World::new(), counter());
    let counted = Arc::clone(&runs);
    let handler = move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { "settled" }
    };
    let one = Router::new().route("/limit", put(handler).route_layer(layer(&world)));
    let routes = Router::new().nest("/accounts/{account}", one);
    let first = sent(&routes, "/accounts/a/limit").await;
    assert_eq!(first.word(), "completed");
    let other = sent(&routes, "/accounts/b/limit").await;
    assert_problem(&other, 422, "key_reused");
    let again = sent(&routes, "/accounts/a/limit").await;
    assert_eq!(again.word(), "already_completed");
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn where_something_else_cuts_the_path_the_service_says_what_was_sent() {
    #[derive(Clone)]
    struct Sent(http::Uri);

    let (world, runs) = (World::new(), counter());
    let layer =
        layer(&world).with_target(|parts| parts.extensions.get::<Sent>().unwrap().0.clone());
    let service = service(&layer, &runs, created);
    let at = |uri: &'static str| {
        let mut request = post(KEY);
        request
            .extensions_mut()
            .insert(Sent(http::Uri::from_static(uri)));
        request
    };
    assert_eq!(send(&service, at("/a/transfers")).await.word(), "completed");
    for other in ["/b/transfers", "/a/transfers?x"] {
        assert_problem(&send(&service, at(other)).await, 422, "key_reused");
    }
    let again = send(&service, at("/a/transfers")).await;
    assert_eq!(again.word(), "already_completed");
    assert_eq!(count(&runs), 1);
}
