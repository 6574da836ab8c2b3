//! The run: what a response means, and what may go wrong around it.

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{Router, routing::post};
use common::{
    BODY, Script, Step, World, agent, confirm, confirm_at, count, counter, read, response, send,
    wrapped,
};
use counterfoil_core::{
    Owner,
    engine::Disposition,
    lifecycle::Verdict,
    store::{Resolution, Resolved, Store},
};
use counterfoil_testkit::Method;
use counterfoil_tower::{
    Accepted, Body, BoxError, ConfirmLayer, Confirmed, Doubt, Failures, ThisAttempt,
};
use http::{Request, Response, StatusCode};
use tokio::sync::Notify;
use tower::{Layer, Service, ServiceExt};

/// Runs a handler once, and gives the first caller's status and word, and what stands afterwards.
async fn run(
    layer: impl FnOnce(ConfirmLayer) -> ConfirmLayer,
    status: u16,
    word: Option<Disposition>,
    dirty: bool,
) -> (u16, String, String) {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let service = wrapped(
        &layer(world.layer()),
        &counter(),
        move |attempt, _| async move {
            if dirty {
                attempt.downstream_key()?;
            }
            if let Some(word) = word {
                assert!(attempt.declare(word));
            }
            response(status, "said")
        },
    );
    let first = send(service, confirm(&fingerprint)).await;
    let (code, told) = (first.status, first.word().to_owned());
    (code, told, world.status(&fingerprint).await)
}

const UNKNOWN: (&str, &str) = ("outcome_unknown", "outcome_unknown");
const DONE: (&str, &str) = ("completed", "already_completed");
const FAILED: (&str, &str) = ("already_failed", "already_failed");
const RELEASED: (&str, &str) = ("not_executed", "not_executed");
const ACCEPTED: (&str, &str) = ("in_progress", "in_progress");

fn by_word(status: u16) -> (&'static str, &'static str) {
    match status {
        200 | 201 | 203..=206 | 303 => DONE,
        202 => ACCEPTED,
        _ => UNKNOWN,
    }
}

fn by_status(status: u16) -> (&'static str, &'static str) {
    match status {
        401 | 403 | 425 | 429 => RELEASED,
        408 | 409 => UNKNOWN,
        400..=499 => FAILED,
        _ => by_word(status),
    }
}

#[tokio::test]
async fn every_status_means_what_the_table_says() {
    for status in 200..600 {
        for dirty in [false, true] {
            let (code, told, stands) = run(|layer| layer, status, None, dirty).await;
            assert_eq!(
                (told.as_str(), stands.as_str()),
                by_word(status),
                "{status} {dirty}"
            );
            assert_eq!(
                code, status,
                "the first caller gets the handler's own response"
            );

            let opted_in = |layer: ConfirmLayer| layer.with_failures(Failures::ByStatusWhileClean);
            let (code, told, stands) = run(opted_in, status, None, dirty).await;
            let expected = if dirty {
                by_word(status)
            } else {
                by_status(status)
            };
            assert_eq!(
                (told.as_str(), stands.as_str()),
                expected,
                "{status} {dirty}"
            );
            assert_eq!(code, status);
        }
    }
}

#[tokio::test]
async fn for_a_model_doubt_is_told_by_the_answer_that_every_retry_gets() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let layer = world.layer().with_doubt(Doubt::Answer);
    let service = wrapped(&layer, &counter(), |_, _| async {
        response(500, "nothing happened, please try again")
    });
    let first = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!((first.status, first.word()), (202, "outcome_unknown"));
    assert_eq!(first.json()["this_call"], "ran");
    assert!(!first.json().to_string().contains("try again"));
    let again = send(service, confirm(&fingerprint)).await;
    assert_eq!(again.json()["instruction"], first.json()["instruction"]);

    // What is known goes out as the handler said it.
    let fingerprint = world.fingerprint().await;
    let service = wrapped(&layer, &counter(), |_, _| async { response(201, "done") });
    let first = send(service, confirm(&fingerprint)).await;
    assert_eq!((first.status, &first.body[..]), (201, &b"done"[..]));
}

#[tokio::test]
async fn the_handlers_word_wins_over_the_status() {
    for (word, expected) in [
        (Disposition::Done, DONE),
        (Disposition::Failed, FAILED),
        (Disposition::NotExecuted, RELEASED),
        (Disposition::Unknown, UNKNOWN),
    ] {
        for status in [200, 202, 303, 400, 409, 429, 500, 503] {
            let (code, told, stands) = run(|layer| layer, status, Some(word), true).await;
            assert_eq!(
                (told.as_str(), stands.as_str()),
                expected,
                "{word:?} {status}"
            );
            assert_eq!(code, status);
        }
    }
}

#[tokio::test]
async fn being_accepted_is_the_effect_where_the_layer_says_so() {
    let declared = |layer: ConfirmLayer| layer.with_accepted(Accepted::IsTheEffect);
    let (_, told, stands) = run(declared, 202, None, false).await;
    assert_eq!((told.as_str(), stands.as_str()), DONE);
}

#[tokio::test]
async fn a_released_operation_runs_again_with_the_same_fingerprint() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let runs = counter();
    let service = wrapped(&world.layer(), &runs, |attempt, _| async move {
        if attempt.number() == 1 {
            attempt.declare(Disposition::NotExecuted);
            return response(503, "later");
        }
        response(201, "done")
    });
    assert_eq!(
        send(service.clone(), confirm(&fingerprint)).await.status,
        503
    );
    assert_eq!(
        send(service.clone(), confirm(&fingerprint)).await.status,
        201
    );
    assert_eq!(
        send(service, confirm(&fingerprint)).await.word(),
        "already_completed"
    );
    assert_eq!(count(&runs), 2);
}

#[tokio::test]
async fn one_of_two_hundred_runs_and_the_others_are_told() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let runs = counter();
    let service = wrapped(&world.layer(), &runs, |_, _| async {
        tokio::task::yield_now().await;
        response(201, r#"{"id":1}"#)
    });
    let calls: Vec<_> = (0..200)
        .map(|_| tokio::spawn(send(service.clone(), confirm(&fingerprint))))
        .collect();
    let mut completed = 0;
    for call in calls {
        match call.await.unwrap().word() {
            "completed" => completed += 1,
            "in_progress" | "already_completed" => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!((count(&runs), completed), (1, 1));
}

#[tokio::test]
async fn a_caller_that_hangs_up_loses_nothing() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let runs = counter();
    let service = {
        let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
        wrapped(&world.layer(), &runs, move |_, _| {
            let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
            async move {
                begun.notify_one();
                go_on.notified().await;
                response(201, "settled")
            }
        })
    };
    let call = tokio::spawn(send(service.clone(), confirm(&fingerprint)));
    begun.notified().await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    let meanwhile = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!((meanwhile.status, meanwhile.word()), (202, "in_progress"));
    assert_eq!(meanwhile.header("retry-after"), "2");
    go_on.notify_one();
    world
        .counterfoil
        .drain(Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(world.status(&fingerprint).await, "already_completed");
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_caller_that_hangs_up_while_the_claim_is_on_its_way_loses_nothing() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let gate = counterfoil_testkit::Gate::new();
    world
        .store
        .next_acquire(counterfoil_testkit::Fault::HoldAfter(gate.clone()));
    let runs = counter();
    let service = wrapped(&world.layer(), &runs, |_, _| async { response(201, "") });
    let call = tokio::spawn(send(service, confirm(&fingerprint)));
    while world.store.calls(Method::Acquire) == 0 {
        tokio::task::yield_now().await;
    }
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    gate.open();
    world
        .counterfoil
        .drain(Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(world.status(&fingerprint).await, "already_completed");
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_panic_is_an_unknown_outcome_and_an_answer() {
    let world = World::new();
    for in_body in [false, true] {
        let fingerprint = world.fingerprint().await;
        let service = wrapped(&world.layer(), &counter(), move |_, _| async move {
            assert!(in_body, "the handler panics");
            Ok::<_, BoxError>(Response::new(Script::new([Step::Panic])))
        });
        let told = send(service, confirm(&fingerprint)).await;
        assert_eq!((told.status, told.word()), (202, "outcome_unknown"));
        assert_eq!(told.json()["this_call"], "ran");
        assert_eq!(world.status(&fingerprint).await, "outcome_unknown");
    }
}

#[tokio::test]
async fn an_error_of_the_service_goes_to_the_caller_and_leaves_the_outcome_unknown() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let service = wrapped(&world.layer(), &counter(), |attempt, _| async move {
        // The word doesn't help: an error may stand for anything.
        attempt.declare(Disposition::NotExecuted);
        Err::<Response<Body>, BoxError>("broken pipe".into())
    });
    let error = service.oneshot(confirm(&fingerprint)).await.unwrap_err();
    assert_eq!(error.to_string(), "broken pipe");
    assert_eq!(world.status(&fingerprint).await, "outcome_unknown");
}

#[tokio::test(start_paused = true)]
async fn an_error_after_somebody_else_settled_it_is_answered_from_the_record() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let store = world.store.clone();
    let service = wrapped(&world.layer(), &counter(), move |attempt, _| {
        let store = store.clone();
        async move {
            attempt.lease_lost().await;
            let seen = Resolution {
                id: attempt.operation_id(),
                owner: Owner::mint(),
                seen: attempt.epoch(),
                verdict: Verdict::Done,
                vouched: false,
                result: None,
                result_ref: None,
                by: Some(agent()),
                reason: "seen at the bank".to_owned(),
            };
            let resolved = store.resolve(&seen).await;
            assert!(
                matches!(resolved, Ok(Resolved::Resolved(_))),
                "{resolved:?}"
            );
            Err::<Response<Body>, BoxError>("broken pipe".into())
        }
    });
    let told = send(service, confirm(&fingerprint)).await;
    assert_eq!(told.word(), "already_completed");
}

#[tokio::test]
async fn a_switch_of_protocols_is_refused() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let service = wrapped(&world.layer(), &counter(), |_, _| async {
        response(101, "")
    });
    let told = send(service, confirm(&fingerprint)).await;
    assert_eq!((told.status, told.word()), (202, "outcome_unknown"));
    assert_eq!(world.status(&fingerprint).await, "outcome_unknown");
}

#[tokio::test]
async fn extensions_and_the_span_travel_to_the_handler() {
    #[derive(Clone)]
    struct Tenant(&'static str);
    let world = World::new();
    let mut request = confirm(&world.fingerprint().await);
    request.extensions_mut().insert(Tenant("acme"));
    let service = wrapped(&world.layer(), &counter(), |attempt, request| async move {
        assert_eq!(request.extensions().get::<Tenant>().unwrap().0, "acme");
        assert_eq!(attempt.params::<common::Transfer>().unwrap().amount, 10);
        let span = tracing::Span::current();
        assert_eq!(span.metadata().map(|m| m.name()), Some("request"));
        response(200, "")
    });
    let _default = tracing::subscriber::set_default(tracing_subscriber::registry());
    let span = tracing::info_span!("request");
    let told = tracing::Instrument::instrument(send(service, request), span).await;
    assert_eq!(told.word(), "completed", "{told:?}");
}

/// Answers only if it was the one polled ready.
struct Ready(bool, Arc<AtomicBool>);

impl Clone for Ready {
    fn clone(&self) -> Self {
        Self(false, Arc::clone(&self.1))
    }
}

impl Service<Request<Body>> for Ready {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = std::future::Ready<Result<Response<Body>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0 = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Body>) -> Self::Future {
        self.1.store(self.0, Ordering::SeqCst);
        std::future::ready(response(200, ""))
    }
}

#[tokio::test]
async fn the_service_that_was_polled_ready_is_the_one_that_is_called() {
    let world = World::new();
    let was_ready = Arc::default();
    let mut service = world.layer().layer(Ready(false, Arc::clone(&was_ready)));
    for _ in 0..2 {
        was_ready.store(false, Ordering::SeqCst);
        let request = confirm(&world.fingerprint().await);
        let response = ServiceExt::<Request<Body>>::ready(&mut service)
            .await
            .unwrap()
            .call(request);
        assert_eq!(read(response.await.unwrap()).await.word(), "completed");
        assert!(was_ready.load(Ordering::SeqCst));
    }
}

#[tokio::test]
async fn under_axum_the_handler_gets_the_confirmed_params_and_a_wrong_method_claims_nothing() {
    async fn transfer(
        ThisAttempt(attempt): ThisAttempt,
        Confirmed(it): Confirmed<common::Transfer>,
        body: String,
    ) -> (StatusCode, String) {
        assert_eq!(body, BODY);
        (
            StatusCode::CREATED,
            format!(
                "{} for {} as {}",
                it.amount,
                it.payee,
                attempt.operation_id()
            ),
        )
    }
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    let routes: Router = Router::new().route("/confirm", post(transfer).route_layer(world.layer()));
    let mut wrong = confirm(&fingerprint);
    *wrong.method_mut() = http::Method::PUT;
    assert_eq!(send(routes.clone(), wrong).await.status, 405);
    assert_eq!(world.asked(), 0);
    let told = send(routes, confirm(&fingerprint)).await;
    let id = told.header("counterfoil-operation-id").to_owned();
    assert_eq!(told.status, 201);
    assert_eq!(told.body, format!("10 for bob as {id}"));
}

#[tokio::test]
async fn extractors_outside_of_a_layer_or_of_another_type_are_a_clear_500() {
    struct Other;
    let world = World::new();
    let outside: Router = Router::new().route("/", post(|_: ThisAttempt| async {}));
    let told = send(outside, confirm_at("/", "", "")).await;
    assert_eq!(
        (told.status, &told.body[..]),
        (500, &b"this handler is not inside a ConfirmLayer"[..])
    );
    let handler = post(|_: Confirmed<Other>| async {}).route_layer(world.layer());
    let routes: Router = Router::new().route("/confirm", handler);
    let told = send(routes, confirm(&world.fingerprint().await)).await;
    assert_eq!((told.status, told.word()), (500, "outcome_unknown"));
}

#[tokio::test]
async fn a_store_out_of_reach_is_unavailable_and_runs_nothing() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    world.store.fail_all(true);
    let runs = counter();
    let service = wrapped(&world.layer(), &runs, |_, _| async { response(200, "") });
    let told = send(service.clone(), confirm(&fingerprint)).await;
    assert_eq!((told.status, told.word()), (503, "unavailable"));
    assert!(told.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(told.header("cache-control"), "no-store");
    assert_eq!(count(&runs), 0);
    world.store.fail_all(false);
    assert_eq!(
        send(service, confirm(&fingerprint)).await.word(),
        "completed"
    );
}

#[tokio::test]
async fn a_store_that_panics_is_an_unknown_outcome_that_names_the_operation() {
    let world = World::new();
    let fingerprint = world.fingerprint().await;
    world.store.next_acquire(counterfoil_testkit::Fault::Panics);
    let runs = counter();
    let service = wrapped(&world.layer(), &runs, |_, _| async { response(200, "") });
    let told = send(service, confirm(&fingerprint)).await;
    assert_eq!((told.status, told.word()), (202, "outcome_unknown"));
    assert!(!told.header("counterfoil-operation-id").is_empty());
    assert_eq!((count(&runs), world.counterfoil.running()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_stored_reaches_the_caller_of_a_done_and_no_other() {
    for (status, own) in [(201, true), (500, false)] {
        let world = World::new();
        let fingerprint = world.fingerprint().await;
        world.store.fail_all_completes(true);
        let service = wrapped(&world.layer(), &counter(), move |_, _| async move {
            response(status, "said")
        });
        let told = send(service, confirm(&fingerprint)).await;
        if own {
            assert_eq!(
                (told.status, told.word(), &told.body[..]),
                (201, "completed", &b"said"[..])
            );
        } else {
            assert_eq!((told.status, told.word()), (202, "outcome_unknown"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn over_capacity_is_told_before_the_claim() {
    let world = World::new();
    let counterfoil = counterfoil_core::engine::Counterfoil::builder(
        world.store.clone(),
        counterfoil_core::fingerprint::Keyring::new(counterfoil_core::fingerprint::Key::random(
            counterfoil_core::KeyId::parse("k1").unwrap(),
        )),
    )
    .with_clock(counterfoil_testkit::TokioClock::default())
    .with_max_running(1)
    .build()
    .unwrap();
    let gate = counterfoil
        .gate(counterfoil_core::Scope::new("payments.transfer"))
        .build()
        .unwrap();
    let world = World {
        counterfoil,
        gate,
        ..world
    };
    let (one, two) = (world.fingerprint().await, world.fingerprint().await);
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let service = {
        let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
        wrapped(&world.layer(), &counter(), move |_, _| {
            let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
            async move {
                begun.notify_one();
                go_on.notified().await;
                response(200, "")
            }
        })
    };
    let first = tokio::spawn(send(service.clone(), confirm(&one)));
    begun.notified().await;
    let asked = world.asked();
    let told = send(service, confirm(&two)).await;
    assert_eq!((told.status, told.word()), (429, "over_capacity"));
    assert!(!told.header("counterfoil-operation-id").is_empty());
    assert_eq!(told.json()["retryable"], true);
    assert_eq!(world.asked(), asked);
    go_on.notify_one();
    assert_eq!(first.await.unwrap().word(), "completed");
}
