//! Whatever goes wrong on the way, the SDK's one call is one ticket, and its user gets the first answer.

use std::time::Duration;

use counterfoil_servers::{Proxy, Redis, Weather};
use tests::{Gateway, until};

use crate::{
    Scene,
    front::Fault,
    sdk::{BOTH, Sdk},
    told,
};

/// Longer than the SDK waits for the first answer, so that its next try meets the first one under way.
const SLOW: Fault = Fault::Chaos("delay-after=4000");
const IMPATIENT: [&str; 2] = ["--timeout", "1.5"];

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn a_lost_answer_is_given_on_the_second_try() {
    for sdk in BOTH {
        let scene = Scene::start(&[Fault::AnswerLost]).await;
        let given = sdk.file(scene.front.address(), &[]).await;
        let attempts = scene.assert_one_ticket(&given).await;
        let wanted = [(201, "completed"), (201, "already_completed")];
        assert_eq!(told(&attempts), wanted.map(Some), "{sdk:?}");
        assert_eq!(given["replayed"], true, "{sdk:?}: {given}");
        let first = attempts[0].answer.as_ref().expect("it was answered");
        assert_eq!(given["body"], first.json(), "{sdk:?}");
        let key = attempts[0].keys[0].as_str();
        let made = match sdk {
            Sdk::Stripe => key,
            Sdk::OpenAi => key
                .strip_prefix("stainless-python-retry-")
                .expect("its own form"),
        };
        let parts = made.split('-').map(str::len).collect::<Vec<_>>();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{sdk:?}: {key}");
    }
}

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn an_equal_request_under_way_is_a_409_until_it_has_ended() {
    for sdk in BOTH {
        let scene = Scene::start(&[SLOW]).await;
        let given = sdk.file(scene.front.address(), &IMPATIENT).await;
        let attempts = scene.assert_one_ticket(&given).await;
        // The SDK hung up on the first, was told to wait at least once, and then got what the first had made.
        let told = told(&attempts);
        let (last, before) = told.split_last().expect("tries");
        assert_eq!(before[0], None, "{sdk:?}: {told:?}");
        assert!(before.len() > 1, "{sdk:?}: {told:?}");
        for waiting in &before[1..] {
            assert_eq!(*waiting, Some((409, "in_progress")), "{sdk:?}: {told:?}");
        }
        assert_eq!(*last, Some((201, "already_completed")), "{sdk:?}: {told:?}");
        for attempt in &attempts[1..attempts.len() - 1] {
            let reply = attempt.answer.as_ref().expect("it was answered");
            let seconds: u64 = reply.header("retry-after").parse().expect("seconds");
            assert!(seconds > 0, "{reply:#?}");
        }
        assert_eq!(given["replayed"], true, "{sdk:?}: {given}");
    }
}

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn an_sdk_that_gives_up_too_early_raises_and_its_next_call_under_the_key_gets_the_answer() {
    let key = ["--key", "8e03978e-40d5-43dd-bc93-6894a57f9324"];
    for sdk in BOTH {
        let scene = Scene::start(&[SLOW]).await;
        let hasty = [&key[..], &IMPATIENT, &["--retries", "1"]].concat();
        let given = sdk.file(scene.front.address(), &hasty).await;
        assert_eq!(given["status"], 409, "{sdk:?}: {given}");
        assert_eq!(given["body"]["code"], "in_progress", "{sdk:?}: {given}");
        assert_eq!(given["body"]["retryable"], true, "{sdk:?}: {given}");
        let given = sdk.file(scene.front.address(), &key).await;
        scene.assert_one_ticket(&given).await;
        assert_eq!(given["replayed"], true, "{sdk:?}: {given}");
    }
}

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn a_503_before_the_gateway_is_one_ticket_whether_or_not_the_request_arrived() {
    for sdk in BOTH {
        let scene = Scene::start(&[Fault::KeptOut, Fault::KeptOut]).await;
        let given = sdk.file(scene.front.address(), &[]).await;
        let attempts = scene.assert_one_ticket(&given).await;
        assert_eq!(told(&attempts), [None, None, Some((201, "completed"))]);
        assert_eq!(given["replayed"], false, "{sdk:?}: {given}");

        let scene = Scene::start(&[Fault::AnsweredFor]).await;
        let given = sdk.file(scene.front.address(), &[]).await;
        let attempts = scene.assert_one_ticket(&given).await;
        let wanted = [(201, "completed"), (201, "already_completed")];
        assert_eq!(told(&attempts), wanted.map(Some), "{sdk:?}");
        assert_eq!(given["replayed"], true, "{sdk:?}: {given}");
    }
}

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn one_sdk_waits_as_long_as_it_is_told_and_the_other_as_long_as_it_likes() {
    for (sdk, waits) in [(Sdk::Stripe, false), (Sdk::OpenAi, true)] {
        let scene = Scene::start(&[Fault::KeptOutFor(6)]).await;
        let given = sdk.file(scene.front.address(), &[]).await;
        let attempts = scene.assert_one_ticket(&given).await;
        assert_eq!(attempts.len(), 2, "{sdk:?}");
        let waited = attempts[1].at - attempts[0].at;
        assert_eq!(
            waited >= Duration::from_secs(6),
            waits,
            "{sdk:?}: {waited:?}"
        );
    }
}

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn the_gateways_own_503_is_sent_again_until_its_store_is_back() {
    for sdk in BOTH {
        let redis = Redis::start().expect("it starts");
        let wire = Proxy::start(redis.port()).expect("a port is free");
        let store = format!("redis://127.0.0.1:{}", wire.port());
        let gateway = Gateway::start(&["--store", &store, "--accept-lost-writes"]);
        let scene = Scene::of(gateway, &[]).await;
        wire.set(Weather::RequestsLost);
        wire.cut();
        let back = async {
            until("a 503 of the gateway", || async {
                let attempts = scene.front.attempts();
                let told = told(&attempts);
                told.contains(&Some((503, "unavailable"))).then_some(())
            })
            .await;
            wire.set(Weather::Clear);
        };
        let (given, ()) = tokio::join!(sdk.file(scene.front.address(), &[]), back);
        let attempts = scene.assert_one_ticket(&given).await;
        let told = told(&attempts);
        let (last, before) = told.split_last().expect("tries");
        for unavailable in before {
            assert_eq!(
                *unavailable,
                Some((503, "unavailable")),
                "{sdk:?}: {told:?}"
            );
        }
        assert!(!before.is_empty(), "{sdk:?}: {told:?}");
        assert_eq!(*last, Some((201, "completed")), "{sdk:?}: {told:?}");
    }
}

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn an_answer_that_breaks_off_is_asked_for_again_by_one_sdk_and_by_the_others_user() {
    let scene = Scene::start(&[Fault::AnswerBroken]).await;
    let given = Sdk::OpenAi.file(scene.front.address(), &[]).await;
    let attempts = scene.assert_one_ticket(&given).await;
    assert_eq!(attempts.len(), 2);
    assert_eq!(given["replayed"], true, "{given}");

    // Stripe's gives up at once. Its user calls again, and only a key of the user's own is still known then.
    let key = ["--key", "8e03978e-40d5-43dd-bc93-6894a57f9324"];
    let scene = Scene::start(&[Fault::AnswerBroken]).await;
    let given = Sdk::Stripe.file(scene.front.address(), &key).await;
    assert_eq!(given["raised"], "APIConnectionError", "{given}");
    assert_eq!(scene.front.attempts().len(), 1);
    let given = Sdk::Stripe.file(scene.front.address(), &key).await;
    let attempts = scene.assert_one_ticket(&given).await;
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0].keys, [key[1]]);
    assert_eq!(given["replayed"], true, "{given}");
}

#[tokio::test]
#[ignore = "needs the SDKs, which `cargo xtask test --only clients` installs into an environment of their own"]
async fn an_outcome_that_nobody_knows_is_raised_after_all_tries_and_never_runs_again() {
    for (sdk, raised) in [(Sdk::Stripe, "APIError"), (Sdk::OpenAi, "ConflictError")] {
        let scene = Scene::start(&[Fault::Chaos("status=500")]).await;
        let given = sdk.file(scene.front.address(), &["--retries", "2"]).await;
        let attempts = scene.front.attempts();
        let wanted = [500, 409, 409].map(|status| Some((status, "outcome_unknown")));
        assert_eq!(told(&attempts), wanted, "{sdk:?}");
        assert_eq!(given["raised"], raised, "{given}");
        assert_eq!(given["status"], 409, "{given}");
        // The problem's members reach the user: the id to ask for, and that nothing more is to be tried.
        assert_eq!(given["body"]["code"], "outcome_unknown", "{given}");
        assert_eq!(given["body"]["retryable"], false, "{given}");
        assert!(given["body"]["operation_id"].is_string(), "{given}");
        assert_eq!(scene.caller.effects(None).await.len(), 1);
    }
}
