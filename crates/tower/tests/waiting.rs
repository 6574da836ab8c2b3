//! Duplicates that wait for the run in flight, over HTTP.

mod common;

use std::time::Duration;

use common::{World, confirm, count, counter, read, response, send, wrapped};
use http::{HeaderValue, header::CONTENT_TYPE};
use tokio::time::{Instant, sleep, timeout};
use tower::ServiceExt;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_duplicate_that_waits_gets_the_first_response_in_the_envelope() {
    let world = World::with(|gate| gate.with_wait(30 * SECOND));
    let runs = counter();
    let service = wrapped(&world.layer(), &runs, |_, _| async {
        sleep(5 * SECOND).await;
        let mut response = response(201, r#"{"transfer_id":"t-1"}"#)?;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        Ok(response)
    });
    let fingerprint = world.fingerprint().await;
    let first = tokio::spawn(send(service.clone(), confirm(&fingerprint)));
    sleep(SECOND).await;
    let began = Instant::now();
    let second = send(service, confirm(&fingerprint)).await;
    assert_eq!((second.status, second.word()), (201, "already_completed"));
    assert_eq!(second.json()["executed"], "yes");
    assert!(began.elapsed() < 5 * SECOND, "told as soon as it ended");
    let first = first.await.unwrap();
    assert_eq!((first.status, first.word()), (201, "completed"));
    assert_eq!(second.json()["result"], first.json());
    assert_eq!(count(&runs), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_hangs_up_ends_its_wait_and_nothing_else() {
    let world = World::with(|gate| gate.with_wait(3_600 * SECOND));
    let runs = counter();
    let service = wrapped(&world.layer(), &runs, |_, _| async {
        sleep(20 * SECOND).await;
        response(201, "{}")
    });
    let fingerprint = world.fingerprint().await;
    let first = tokio::spawn(send(service.clone(), confirm(&fingerprint)));
    sleep(SECOND).await;
    let second = service.clone().oneshot(confirm(&fingerprint));
    assert!(timeout(5 * SECOND, second).await.is_err(), "it waits");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(world.counterfoil.waiting(), 0);
    assert_eq!(world.counterfoil.running(), 1);
    assert_eq!(first.await.unwrap().word(), "completed");
    let third = read(service.oneshot(confirm(&fingerprint)).await.unwrap()).await;
    assert_eq!(third.word(), "already_completed");
    assert_eq!(count(&runs), 1);
}
