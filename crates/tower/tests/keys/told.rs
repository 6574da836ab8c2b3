//! What is told of an operation under a key.

use counterfoil_core::{
    KeyId,
    engine::Counterfoil,
    fingerprint::{Key, Keyring},
};

use super::*;

#[tokio::test(start_paused = true)]
async fn what_is_under_way_or_not_known_is_a_conflict_with_a_time_to_wait() {
    let (world, runs) = (World::new(), counter());
    let layer = layer(&world).with_status_path("/v1/operations/");
    let slow = service(&layer, &runs, |request| async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        created(request).await
    });
    let running = tokio::spawn({
        let slow = slow.clone();
        async move { send(&slow, post(KEY)).await.status }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let told = send(&slow, post(KEY)).await;
    assert_problem(&told, 409, "in_progress");
    assert_eq!(told.header("retry-after"), "2");
    assert_eq!(told.json()["retryable"], true);
    assert_eq!(told.json()["executed"], "pending");
    let id = told.header("counterfoil-operation-id");
    assert_eq!(told.json()["poll_path"], format!("/v1/operations/{id}"));
    assert_eq!(running.await.unwrap(), 201);
    assert_eq!(send(&slow, post(KEY)).await.word(), "already_completed");

    let broken = service(&layer, &runs, |_| async { response(500, "") });
    assert_eq!(
        send(&broken, post(OTHER)).await.status,
        500,
        "the handler's own"
    );
    let told = send(&broken, post(OTHER)).await;
    assert_problem(&told, 409, "outcome_unknown");
    assert_eq!(told.header("retry-after"), "30");
    assert_eq!(told.json()["retryable"], false);
    assert_eq!(count(&runs), 2);
}

#[tokio::test]
async fn what_could_not_be_taken_on_is_to_be_sent_again_and_takes_no_key() {
    let mut world = World::new();
    let keys = Keyring::new(Key::random(KeyId::parse("k1").unwrap()));
    let one_at_a_time = Counterfoil::builder(world.store.clone(), keys).with_max_running(1);
    let gate = one_at_a_time
        .build()
        .unwrap()
        .gate(world.gate.scope().clone());
    world.gate = gate.build().unwrap();
    let runs = counter();
    let service = service(&layer(&world), &runs, created);
    let full = world.gate.admit().unwrap();
    let told = send(&service, post(KEY)).await;
    assert_problem(&told, 429, "over_capacity");
    let mut refused = vec![told];
    drop(full);
    world.store.fail_all(true);
    let told = send(&service, post(KEY)).await;
    assert_problem(&told, 503, "unavailable");
    refused.push(told);
    for told in refused {
        assert!(told.header("retry-after").parse::<u64>().unwrap() >= 1);
        assert_eq!(told.json()["retryable"], true);
        assert_eq!(told.json()["executed"], "unknown");
        assert!(!told.header("counterfoil-operation-id").is_empty());
    }
    assert_eq!(count(&runs), 0);
    world.store.fail_all(false);
    assert_eq!(send(&service, post(KEY)).await.word(), "completed");
}

#[tokio::test]
async fn the_status_is_told_by_key_to_its_own_subject_only() {
    let (world, runs) = (World::new(), counter());
    let service = service(&layer(&world), &runs, created);
    let status = StatusService::new(world.counterfoil.clone());
    let ask = async |uri: &str, keys: &[&str]| {
        let mut request = Request::get(uri).extension(agent());
        for key in keys {
            request = request.header("idempotency-key", *key);
        }
        common::send(status.clone(), request.body(Body::default()).unwrap()).await
    };
    let before = ask("/v1/operation", &[KEY]).await;
    assert_eq!((before.status, before.word()), (200, "not_started"));
    let meaning = before.json()["meaning"].clone();
    assert!(
        meaning.as_str().is_some_and(|text| text.contains("key")),
        "{meaning}"
    );
    let id = before.header("counterfoil-operation-id").to_owned();
    let first = send(&service, post(KEY)).await;
    assert_eq!(first.header("counterfoil-operation-id"), id);
    let uri = format!("/v1/operations/{id}");
    for (uri, keys) in [("/v1/operation", &[KEY][..]), (&uri, &[KEY]), (&uri, &[])] {
        let told = ask(uri, keys).await;
        assert_eq!(
            (told.status, told.word()),
            (200, "already_completed"),
            "{uri}"
        );
        assert_eq!(told.json()["result"]["id"], "t-1");
    }
    let differ = ask(&uri, &[OTHER]).await;
    assert_eq!((differ.status, differ.word()), (400, "credentials_differ"));
    let twice = ask("/v1/operation", &[KEY, KEY]).await;
    assert_eq!((twice.status, twice.word()), (400, "key_invalid"));
    let both = Request::get("/v1/operation")
        .extension(agent())
        .header("idempotency-key", KEY)
        .header("counterfoil-fingerprint", "fp1.k1.x.y");
    let both = common::send(status.clone(), both.body(Body::default()).unwrap()).await;
    assert_eq!((both.status, both.word()), (400, "credentials_differ"));
}

#[tokio::test]
async fn what_did_nothing_is_called_off_by_its_key_and_stays_so() {
    let (world, runs) = (World::new(), counter());
    let refusing = service(&layer(&world), &runs, |request| async move {
        let attempt = request.extensions().get::<Attempt>().cloned();
        attempt
            .expect("the layer adds it")
            .declare(Disposition::NotExecuted);
        response(503, "")
    });
    let cancel = CancelService::new(world.counterfoil.clone());
    let call_off = async || {
        let request = Request::post("/v1/operation/cancel")
            .extension(agent())
            .header("idempotency-key", KEY);
        common::send(cancel.clone(), request.body(Body::default()).unwrap()).await
    };
    let before = call_off().await;
    assert_eq!((before.status, before.word()), (404, "not_found"));
    send(&refusing, post(KEY)).await;
    let told = call_off().await;
    assert_eq!((told.status, told.word()), (200, "cancelled"));
    let told = send(&refusing, post(KEY)).await;
    assert_problem(&told, 410, "cancelled");
    assert_eq!(told.json()["executed"], "no");
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn what_is_told_can_be_in_the_other_form_the_other_language_and_lead_elsewhere() {
    let (world, runs) = (World::new(), counter());
    let layer = layer(&world)
        .with_wording(Wording::chinese())
        .with_problem_types("https://api.example.org/problems");
    let problems = service(&layer, &runs, |_| async { response(500, "") });
    send(&problems, post(KEY)).await;
    let told = send(&problems, post(KEY)).await.json();
    assert_eq!(
        told["type"],
        "https://api.example.org/problems#outcome_unknown"
    );
    assert!(
        !told["detail"].as_str().unwrap().is_ascii() && !told["title"].as_str().unwrap().is_ascii()
    );
    let for_models = layer
        .with_form(Form::AgentJson)
        .with_replay(Replay::Envelope);
    let envelopes = service(&for_models, &runs, created);
    let told = send(&envelopes, post(KEY)).await;
    assert_eq!((told.status, told.word()), (202, "outcome_unknown"));
    assert_eq!(told.json()["status"], "outcome_unknown");
    send(&envelopes, post(OTHER)).await;
    let told = send(&envelopes, post(OTHER)).await;
    assert_eq!((told.status, told.word()), (201, "already_completed"));
    assert_eq!(told.json()["result"]["id"], "t-1");

    // A gate of fingerprints can tell problems too.
    let confirm = world.layer().with_form(Form::ProblemDetails);
    let confirm = common::wrapped(&confirm, &runs, |_, _| async { response(201, "") });
    let told = common::send(confirm, common::confirm("fp1")).await;
    assert_problem(&told, 400, "fingerprint_mistyped");
}

/// A gate is for one action, whichever credential names its operations.
#[test]
fn a_layer_shows_its_action_and_no_key() {
    let world = World::new();
    let gate: Gate<common::Transfer> = world.gate.clone();
    let shown = format!("{:?}", KeyLayer::new(gate));
    assert!(shown.contains("payments.transfer"), "{shown}");
}
