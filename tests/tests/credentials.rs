//! Who may confirm what: good, foreign, forged and mistyped fingerprints, changed params, and callers without a name.

use bytes::Bytes;
use serde_json::{Value, json};
use tests::{Call, Gateway, Previewed, Reply, transfer, with};

const KEY: &str = "1111111111111111111111111111111111111111111111111111111111111111";
const OTHER_KEY: &str = "2222222222222222222222222222222222222222222222222222222222222222";

/// Confirms with a changed amount, and holds the answer to what became of the operation.
async fn assert_changed(gateway: &Gateway, previewed: &Previewed, executed: &str) {
    let events = gateway.security_events().len();
    let reply = previewed
        .confirm_with(&with(&previewed.params, "amount", "999.99"))
        .await;
    reply.assert_answer(422, "params_changed", executed);
    assert_eq!(reply.text("operation_id"), previewed.id);
    assert_eq!(reply.text("this_call"), "not_run");
    assert_eq!(
        reply.json().get("result"),
        None,
        "a change is told no result"
    );
    for text in ["120.5", "999.99", "payee-1", "account-1"] {
        let body = String::from_utf8_lossy(&reply.body);
        assert!(!body.contains(text), "{body}");
    }
    gateway
        .security_event(&["params_changed", &previewed.id])
        .await;
    assert!(
        gateway.security_events().len() > events,
        "each change is an event"
    );
}

#[tokio::test]
async fn changed_params_are_told_in_every_state_and_run_nothing() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let fresh = || async { agent.preview(&transfer("120.50")).await };

    let not_started = fresh().await;
    assert_changed(&gateway, &not_started, "not_yet").await;
    assert_eq!(not_started.effects().await, 0);

    let in_flight = fresh().await;
    let running = in_flight.start_running("delay=700").await;
    assert_changed(&gateway, &in_flight, "pending").await;
    running
        .await
        .expect("a call")
        .expect("an answer")
        .assert_told(201, "completed");
    assert_changed(&gateway, &in_flight, "yes").await;
    assert_eq!(in_flight.effects().await, 1);

    for (chaos, executed, effects) in [
        ("fail=402", "no", 0),
        ("refuse=503", "not_yet", 0),
        ("status=500", "unknown", 1),
        ("panic-before", "unknown", 0),
        ("accept", "pending", 0),
    ] {
        let previewed = fresh().await;
        previewed.confirm_chaos(chaos).await;
        assert_changed(&gateway, &previewed, executed).await;
        assert_eq!(previewed.effects().await, effects, "{chaos}");
    }

    let cancelled = fresh().await;
    cancelled.cancel().await.assert_told(200, "cancelled");
    assert_changed(&gateway, &cancelled, "no").await;
}

#[tokio::test]
async fn a_change_is_told_before_a_wrong_value() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    // What can't be read is no param at all; what can is compared.
    let unreadable = with(&previewed.params, "amount", "a lot");
    previewed
        .confirm_with(&unreadable)
        .await
        .assert_invalid("/amount");
    previewed.confirm().await.assert_told(201, "completed");
    assert_eq!(previewed.effects().await, 1);
}

#[tokio::test]
async fn a_fingerprint_of_another_principal_tenant_or_key_is_refused_alike() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let forged = forge(&previewed.fingerprint);
    let reference = agent
        .confirm_bytes(&forged, previewed.params.to_string())
        .await;
    reference.assert_answer(403, "fingerprint_invalid", "unknown");

    // Before anything is stored, while it runs, and once it is done: nobody else learns which.
    for step in ["not started", "running", "done"] {
        let running = match step {
            "running" => Some(previewed.start_running("delay=500").await),
            _ => None,
        };
        for subject in [
            "acme/agent-8",
            "other/agent-7",
            "acme/agent-77",
            "acme/agent",
            "Acme/agent-7",
        ] {
            let foreign = gateway.caller(subject);
            let reply = foreign
                .confirm_bytes(&previewed.fingerprint, previewed.params.to_string())
                .await;
            assert_alike(&reply, &reference);
            let changed = foreign
                .confirm_bytes(&previewed.fingerprint, transfer(1).to_string())
                .await;
            assert_alike(&changed, &reference);
            // Nor from the params: a stranger isn't told what is wrong with them.
            let invalid = foreign.confirm_bytes(&previewed.fingerprint, "{}").await;
            assert_alike(&invalid, &reference);
            let status = foreign.status_by(&previewed.fingerprint).await;
            assert_alike(&status, &reference);
        }
        if let Some(running) = running {
            running
                .await
                .expect("a call")
                .expect("an answer")
                .assert_told(201, "completed");
        }
    }
    gateway
        .security_event(&["foreign_fingerprint", &previewed.id])
        .await;
    gateway.security_event(&["forged_fingerprint"]).await;
    assert_eq!(previewed.effects().await, 1);
}

/// The same answer to the last byte, and no id.
#[track_caller]
fn assert_alike(reply: &Reply, reference: &Reply) {
    assert_eq!(reply.status, reference.status, "{reply:#?}");
    assert_eq!(reply.body, reference.body);
    assert_eq!(reply.header("counterfoil-operation-id"), "");
    let names = |reply: &Reply| {
        let mut names: Vec<_> = reply.headers.keys().map(ToString::to_string).collect();
        names.sort();
        names
    };
    assert_eq!(names(reply), names(reference));
}

/// One character of the tag changed, in its middle, where each has all of its bits.
fn forge(fingerprint: &str) -> String {
    replace(fingerprint, fingerprint.len() - 20)
}

fn replace(text: &str, at: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).expect("ASCII")
}

#[tokio::test]
async fn another_ones_operation_is_not_found_by_id() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let unknown = agent.preview(&transfer(1)).await.id;
    previewed.confirm().await.assert_told(201, "completed");
    for subject in ["acme/agent-8", "other/agent-7"] {
        let foreign = gateway.caller(subject);
        let theirs = foreign.status(&previewed.id).await;
        theirs.assert_answer(404, "not_found", "unknown");
        assert_alike(&theirs, &foreign.status(&unknown).await);
        let cancel = |id: &str| Call::post(format!("/v1/operations/{id}/cancel"), "");
        let theirs = foreign.send(cancel(&previewed.id)).await;
        theirs.assert_answer(404, "not_found", "unknown");
        assert_alike(&theirs, &foreign.send(cancel(&unknown)).await);
    }
    // The ledger is a tenant's.
    assert_eq!(
        gateway
            .caller("other/agent-7")
            .effects(Some(&previewed.id))
            .await,
        Vec::<Value>::new()
    );
    assert_eq!(
        gateway.caller("other/agent-7").effects(None).await,
        Vec::<Value>::new()
    );
}

#[tokio::test]
async fn another_ones_fingerprint_calls_nothing_off() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let path = format!("/v1/operations/{}/cancel", previewed.id);
    for subject in ["acme/agent-8", "other/agent-7"] {
        let call = Call::post(&path, "").header("counterfoil-fingerprint", &previewed.fingerprint);
        let refused = gateway.caller(subject).send(call).await;
        refused.assert_answer(403, "fingerprint_invalid", "unknown");
    }
    // Nor does one's own, under another id.
    let other = agent.preview(&transfer(1)).await;
    let call = Call::post(&path, "").header("counterfoil-fingerprint", &other.fingerprint);
    agent
        .send(call)
        .await
        .assert_answer(400, "credentials_differ", "unknown");
    for previewed in [previewed, other] {
        previewed.confirm().await.assert_told(201, "completed");
    }
}

#[tokio::test]
async fn a_changed_character_anywhere_is_never_run() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let good = &previewed.fingerprint;
    for at in 0..good.len() {
        let reply = agent
            .confirm_bytes(&replace(good, at), previewed.params.to_string())
            .await;
        match (reply.status, reply.word()) {
            (400, "fingerprint_mistyped") | (403, "fingerprint_invalid") => {}
            _ => panic!("character {at}: {reply:#?}"),
        }
    }
    assert_eq!(previewed.effects().await, 0);
    previewed.confirm().await.assert_told(201, "completed");
}

#[tokio::test]
async fn a_copying_error_is_told_apart_from_a_forgery_and_never_mended() {
    let gateway = Gateway::start(&["--keys", &format!("k1={KEY},k2={OTHER_KEY}")]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let good = previewed.fingerprint.as_str();
    let parts: Vec<&str> = good.split('.').collect();
    let [prefix, kid, payload, tag] = parts[..] else {
        panic!("{good}")
    };
    assert_eq!((prefix, kid), ("fp1", "k1"));

    let mistyped = [
        format!("\"{good}\""),
        format!(" {good}"),
        format!("{good} "),
        format!("{good}\n"),
        format!("fingerprint: {good}"),
        format!("`{good}`"),
        format!("{good}="),
        format!("{good}."),
        format!("{good}{good}"),
        good.to_uppercase(),
        good[..good.len() - 1].to_owned(),
        good[1..].to_owned(),
        good[..20].to_owned(),
        format!("{prefix}.{kid}.{payload}"),
        format!("fp2.{kid}.{payload}.{tag}"),
        format!(
            "{prefix}.{kid}.{payload}.{}",
            tag.replace('a', "/").replace('b', "/").replace('-', "/") + "/"
        ),
        format!("{prefix}..{payload}.{tag}"),
        "…".to_owned(),
        String::new(),
    ];
    for text in &mistyped {
        let body = with(&previewed.params, "fingerprint", text.as_str());
        let reply = agent
            .send(Call::post("/v1/transfers/confirm", body.to_string()))
            .await;
        reply.assert_answer(400, "fingerprint_mistyped", "unknown");
    }
    for value in [
        json!(7),
        json!(null),
        json!([good]),
        json!({"fingerprint": good}),
        json!(true),
    ] {
        let body = with(&previewed.params, "fingerprint", value.clone());
        let reply = agent
            .send(Call::post("/v1/transfers/confirm", body.to_string()))
            .await;
        assert_eq!(reply.word(), "fingerprint_mistyped", "{value}: {reply:#?}");
    }

    let forged = [
        forge(good),
        replace(good, prefix.len() + kid.len() + 12),
        format!("{prefix}.k2.{payload}.{tag}"),
        format!("{prefix}.unknown.{payload}.{tag}"),
        format!("{prefix}.{kid}.{payload}.{}", "A".repeat(tag.len())),
    ];
    for text in &forged {
        let reply = agent
            .confirm_bytes(text, previewed.params.to_string())
            .await;
        reply.assert_answer(403, "fingerprint_invalid", "unknown");
    }
    assert_eq!(previewed.effects().await, 0);
    previewed.confirm().await.assert_told(201, "completed");
}

#[tokio::test]
async fn a_fingerprint_as_long_as_a_book_is_refused() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let params = transfer(1).to_string();
    for len in [1_025, 8_000, 64_000] {
        let garbage = format!("fp1.k1.{}", "A".repeat(len));
        let reply = agent.confirm_bytes(&garbage, params.clone()).await;
        reply.assert_answer(400, "fingerprint_mistyped", "unknown");
    }
    // The server stops reading headers long before that; which way it says so is its own affair.
    let call = Call::post("/v1/transfers/confirm", params);
    let garbage = "x".repeat(1 << 20);
    if let Ok(reply) = agent
        .try_send(call.header("counterfoil-fingerprint", garbage))
        .await
    {
        assert!(matches!(reply.status, 400 | 431), "{}", reply.status);
    }
    gateway.assert_well().await;
    assert_eq!(agent.effects(None).await.len(), 0);
}

#[tokio::test]
async fn a_request_brings_one_fingerprint() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let (one, other) = (
        agent.preview(&transfer(1)).await,
        agent.preview(&transfer(1)).await,
    );
    let body = one.params.to_string();
    let none = Call::post("/v1/transfers/confirm", body.clone());
    agent
        .send(none.clone())
        .await
        .assert_answer(428, "fingerprint_required", "unknown");
    agent
        .send(none.body(Bytes::new()))
        .await
        .assert_answer(428, "fingerprint_required", "unknown");

    for second in [&one.fingerprint, &other.fingerprint] {
        let two_headers = one.call().header("counterfoil-fingerprint", second);
        agent
            .send(two_headers)
            .await
            .assert_answer(400, "credentials_differ", "unknown");
    }
    let in_body = with(&one.params, "fingerprint", other.fingerprint.as_str());
    one.confirm_with(&in_body)
        .await
        .assert_answer(400, "credentials_differ", "unknown");
    for previewed in [&one, &other] {
        assert_eq!(previewed.status().await.status, 404);
        previewed.confirm().await.assert_told(201, "completed");
    }
}

#[tokio::test]
async fn a_caller_without_one_name_is_refused_everywhere() {
    let gateway = Gateway::start(&[]);
    let agent = gateway.caller("acme/agent-7");
    let previewed = agent.preview(&transfer("120.50")).await;
    let calls = [
        Call::post("/v1/transfers/preview", previewed.params.to_string()),
        previewed.call(),
        Call::get(format!("/v1/operations/{}", previewed.id)),
        Call::get("/v1/operation").header("counterfoil-fingerprint", &previewed.fingerprint),
        Call::post(format!("/v1/operations/{}/cancel", previewed.id), "")
            .header("counterfoil-fingerprint", &previewed.fingerprint),
        Call::get("/ledger"),
    ];
    for call in &calls {
        let refused = gateway.send(call.clone()).await;
        refused.assert_answer(401, "unauthenticated", "unknown");
        assert!(
            !refused.header("www-authenticate").is_empty(),
            "RFC 9110, section 11.6.1"
        );
    }
    for authorization in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer acme",
        "Bearer /agent-7",
        "Bearer acme/",
        "Bearer /",
        "Basic acme/agent-7",
        "acme/agent-7",
        "Bearer acme agent-7",
    ] {
        let call = previewed.call().header("authorization", authorization);
        let refused = gateway.send(call).await;
        refused.assert_answer(401, "unauthenticated", "unknown");
    }
    let two = previewed
        .call()
        .header("authorization", "Bearer acme/agent-7")
        .header("authorization", "Bearer acme/agent-8");
    gateway
        .send(two)
        .await
        .assert_answer(401, "unauthenticated", "unknown");
    assert_eq!(previewed.effects().await, 0);
    agent
        .status_by(&previewed.fingerprint)
        .await
        .assert_told(200, "not_started");
}

#[tokio::test]
async fn names_with_odd_characters_stay_apart() {
    let gateway = Gateway::start(&[]);
    let subjects = ["a.b/c", "a/b.c", "a%2Fb/c", "a/b%2Fc", "A.b/c"];
    for subject in subjects {
        let agent = gateway.caller(subject);
        let previewed = agent.preview(&transfer(1)).await;
        previewed.confirm().await.assert_told(201, "completed");
        for other in subjects.iter().filter(|other| **other != subject) {
            let foreign = gateway.caller(other);
            let reply = foreign
                .confirm_bytes(&previewed.fingerprint, previewed.params.to_string())
                .await;
            reply.assert_answer(403, "fingerprint_invalid", "unknown");
            foreign
                .status(&previewed.id)
                .await
                .assert_told(404, "not_found");
        }
    }
}

#[tokio::test]
async fn the_first_key_signs_and_the_others_verify() {
    // What was signed before the change of keys is good after it: the memory store then says that it forgot.
    let old = format!("old={OTHER_KEY}");
    let before = {
        let gateway = Gateway::start(&["--keys", &old]);
        gateway.caller("acme/agent-7").preview(&transfer(1)).await
    };
    assert!(before.fingerprint.starts_with("fp1.old."));
    let gateway = Gateway::start(&["--keys", &format!("new={KEY},{old}")]);
    let agent = gateway.caller("acme/agent-7");
    let after = agent.preview(&transfer(1)).await;
    assert!(after.fingerprint.starts_with("fp1.new."));
    after.confirm().await.assert_told(201, "completed");
    let reply = agent
        .confirm_bytes(&before.fingerprint, before.params.to_string())
        .await;
    reply.assert_answer(202, "outcome_unknown", "unknown");

    let without = Gateway::start_with_keys_in_env(&format!("new={KEY}"));
    let agent = without.caller("acme/agent-7");
    let signed = agent.preview(&transfer(1)).await;
    assert!(signed.fingerprint.starts_with("fp1.new."));
    let reply = agent
        .confirm_bytes(&before.fingerprint, before.params.to_string())
        .await;
    reply.assert_answer(403, "fingerprint_invalid", "unknown");
}

#[tokio::test]
async fn nothing_confidential_is_logged_whatever_happens() {
    // Fingerprints, keys and bearers are looked for in every test; this one adds what is in the params.
    let gateway = Gateway::start(&["--keys", &format!("k1={KEY}")]);
    let agent = gateway.caller("acme/agent-7");
    for canary in [
        "canary-payee",
        "canary-account",
        "canary-order",
        "canary-note",
        "canary-wrong",
        "7391.55",
    ] {
        gateway.must_not_log(canary);
    }
    let params = json!({
        "amount": "7391.55", "currency": "EUR", "payee_id": "canary-payee", "source_account": "canary-account",
        "purchase_order": "canary-order", "note": "canary-note",
    });
    for chaos in [
        "delay=1",
        "status=500",
        "fail=402",
        "refuse=503",
        "panic-before",
        "panic-after",
        "break=1",
    ] {
        let previewed = agent.preview(&params).await;
        drop(previewed.try_confirm_chaos(chaos).await);
        previewed.confirm().await;
        previewed
            .confirm_with(&with(&params, "payee_id", "canary-wrong"))
            .await;
        previewed
            .confirm_with(&with(&params, "currency", "canary-wrong"))
            .await;
        previewed
            .confirm_with(&with(&params, "canary-wrong", "canary-wrong"))
            .await;
        gateway
            .caller("acme/agent-8")
            .confirm_bytes(&previewed.fingerprint, params.to_string())
            .await;
        agent
            .confirm_bytes(&forge(&previewed.fingerprint), params.to_string())
            .await;
        agent
            .confirm_bytes("canary-wrong", params.to_string())
            .await;
        agent.status_by(&previewed.fingerprint).await;
        previewed.cancel().await;
    }
    let log = gateway.log();
    assert!(log.contains("counterfoil::security"), "{log}");
    assert!(!log.contains('\u{1b}'), "no escape codes in a log");
}
