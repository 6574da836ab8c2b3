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
