//! Everything beside preview and confirm.

use super::*;
use crate::language::Language;

#[tokio::test]
async fn a_caller_without_a_name_is_turned_away() {
    let service = Service::start(Options::default()).await;
    let nobody = service.as_caller("nobody");
    for call in [
        Call::post(PREVIEW, params()),
        Call::post(CONFIRM, params()),
        Call::get("/ledger"),
        Call::get("/v1/operation"),
    ] {
        let told = told(nobody.call(call).await);
        assert_eq!(said(&told), (401, "unauthenticated"));
    }
    let alive = told(nobody.call(Call::get("/healthz")).await);
    assert_eq!(alive.0, 200);
}

#[tokio::test]
async fn paths_and_methods_that_do_not_exist_say_so() {
    let service = Service::start(Options::default()).await;
    assert_eq!(service.told(Call::get("/v1/nothing")).await.0, 404);
    let (http, _, body) = service.told(Call::get(CONFIRM)).await;
    assert_eq!(
        (http, &body["error"]),
        (405, &Value::from("no_such_method"))
    );
}

#[tokio::test]
async fn what_comes_later_is_501_in_the_form_of_every_answer() {
    let service = Service::start(Options::default()).await;
    let id = service.preview().await.path();
    for path in [
        "/v1/deployments/preview".to_owned(),
        "/v1/deployments/rollback/confirm".to_owned(),
        format!("{id}/approve"),
        format!("{id}/deny"),
        format!("{id}/resolve"),
    ] {
        let told = service.told(Call::post(path.clone(), params())).await;
        assert_eq!(said(&told), (501, "not_implemented"), "{path}");
    }
    for path in ["/metrics", "/v1/operations?state=unknown"] {
        let told = service.told(Call::get(path)).await;
        assert_eq!(said(&told), (501, "not_implemented"), "{path}");
    }
}

#[tokio::test]
async fn a_transfer_that_needs_an_approval_is_refused_at_preview() {
    let service = Service::start(Options::default()).await;
    for amount in ["10000", "10000.00", "123456.78"] {
        let told = service.told(Call::post(PREVIEW, params_of(amount))).await;
        assert_eq!(said(&told), (501, "not_implemented"), "{amount}");
        let meaning = told.2["meaning"].as_str().unwrap_or_default();
        assert!(meaning.contains("Approvals"), "{meaning}");
    }
    let told = service
        .told(Call::post(PREVIEW, params_of("9999.99")))
        .await;
    assert_eq!(told.0, 200);
}

#[tokio::test]
async fn a_changed_amount_is_told_even_where_it_would_need_an_approval() {
    let service = Service::start(Options::default()).await;
    let fingerprint = service.preview().await;
    for amount in ["120.51", "120500"] {
        let told = service
            .told(fingerprint.confirm_with(params_of(amount)))
            .await;
        assert_eq!(said(&told), (422, "params_changed"), "{amount}");
    }
}

#[tokio::test]
async fn location_leads_to_the_settled_transfer_for_its_own_tenant_only() {
    let service = Service::start(Options::default()).await;
    let fingerprint = service.preview().await;
    let transfer_id = format!("tr_{}", fingerprint.operation.replace('-', ""));
    let path = format!("/v1/transfers/{transfer_id}");
    assert_eq!(service.told(Call::get(path.clone())).await.0, 404);
    let first = service.told(fingerprint.confirm()).await;
    let found = service.told(Call::get(path.clone())).await;
    assert_eq!((found.0, &found.2), (200, &first.2));
    let stranger = service.as_caller("evil/agent-7");
    assert_eq!(told(stranger.call(Call::get(path)).await).0, 404);
    for odd in [
        "/v1/transfers/tr_",
        "/v1/transfers/x",
        "/v1/transfers/tr_%00",
    ] {
        assert_eq!(
            service.told(Call::get(odd.to_owned())).await.0,
            404,
            "{odd}"
        );
    }
}

#[tokio::test]
async fn the_status_is_told_by_credential_and_by_id() {
    let service = Service::start(Options::default()).await;
    let fingerprint = service.preview().await;
    let ask = || Call::get("/v1/operation").with_header(FINGERPRINT, &fingerprint.text);
    assert_eq!(said(&service.told(ask()).await), (200, "not_started"));
    let by_id = service.told(Call::get(fingerprint.path())).await;
    assert_eq!(said(&by_id), (404, "not_found"));
    service.told(fingerprint.confirm()).await;
    assert_eq!(said(&service.told(ask()).await), (200, "already_completed"));
    let without = service.told(Call::get("/v1/operation")).await;
    assert_eq!(said(&without), (428, "fingerprint_required"));
    let other = service.as_caller("acme/agent-8");
    let by_id = told(other.call(Call::get(fingerprint.path())).await);
    assert_eq!(said(&by_id), (404, "not_found"));
    assert_eq!(
        said(&told(other.call(ask()).await)),
        (403, "fingerprint_invalid")
    );
}

#[tokio::test]
async fn a_cancelled_operation_never_runs_and_one_that_ran_is_not_cancelled() {
    let service = Service::start(Options::default()).await;
    let fingerprint = service.preview().await;
    let cancel = |of: &Fingerprint, body: Value| Call::post(format!("{}/cancel", of.path()), body);
    // Nothing is stored yet: the id alone names nothing.
    let told = service.told(cancel(&fingerprint, json!({}))).await;
    assert_eq!(said(&told), (404, "not_found"));
    let in_body = json!({"fingerprint": fingerprint.text});
    let told = service.told(cancel(&fingerprint, in_body)).await;
    assert_eq!(said(&told), (200, "cancelled"));
    assert_eq!(service.state(&fingerprint).await, "cancelled");
    assert_eq!(
        said(&service.told(fingerprint.confirm()).await),
        (410, "cancelled")
    );
    assert_eq!(service.count(&fingerprint).await, 0);

    let ran = service.preview().await;
    service.told(ran.confirm()).await;
    let late = service.told(cancel(&ran, json!({}))).await;
    assert_eq!(said(&late), (409, "too_late"));
    assert_eq!(late.2["state"], "succeeded");
}

#[tokio::test]
async fn a_cancellation_that_names_two_operations_calls_off_neither() {
    let service = Service::start(Options::default()).await;
    let (one, other) = (service.preview().await, service.preview().await);
    let path = format!("{}/cancel", one.path());
    let in_header = Call::post(path.clone(), json!({})).with_header(FINGERPRINT, &other.text);
    let in_body = Call::post(path.clone(), json!({"fingerprint": other.text}));
    let both =
        Call::post(path, json!({"fingerprint": one.text})).with_header(FINGERPRINT, &other.text);
    for call in [in_header, in_body, both] {
        assert_eq!(said(&service.told(call).await), (400, "credentials_differ"));
    }
    for fingerprint in [one, other] {
        assert_eq!(service.told(fingerprint.confirm()).await.0, 201);
    }
}

#[tokio::test]
async fn a_cancellation_whose_path_names_no_operation_calls_off_nothing() {
    let service = Service::start(Options::default()).await;
    let (one, other) = (service.preview().await, service.preview().await);
    // The first digit of an id, escaped: the services read paths as they come.
    let escaped = one.operation.replacen('0', "%30", 1);
    for path in ["mangled", &escaped] {
        let call = Call::post(
            format!("/v1/operations/{path}/cancel"),
            json!({"fingerprint": other.text}),
        );
        assert_eq!(said(&service.told(call).await), (404, "not_found"));
    }
    assert_eq!(service.told(other.confirm()).await.0, 201);
}

#[tokio::test]
async fn a_tenant_sees_its_own_effects_only() {
    let service = Service::start(Options::default()).await;
    let fingerprint = service.preview().await;
    service.told(fingerprint.confirm()).await;
    let (_, _, all) = service.told(Call::get("/ledger")).await;
    assert_eq!(
        (&all["count"], &all["effects"][0]["amount"]),
        (&1.into(), &"120.5".into())
    );
    let path = format!("/ledger?operation_id={}", fingerprint.operation);
    let theirs = told(
        service
            .as_caller("other/agent-7")
            .call(Call::get(path))
            .await,
    );
    assert_eq!((theirs.0, &theirs.2["count"]), (200, &0.into()));
    let colleague = told(
        service
            .as_caller("acme/agent-8")
            .call(Call::get("/ledger"))
            .await,
    );
    assert_eq!(colleague.2["count"], 1);
    for bad in ["/ledger?operation_id=7", "/ledger?tenant=other"] {
        assert_eq!(service.told(Call::get(bad)).await.0, 400, "{bad}");
    }
}

#[tokio::test]
async fn a_body_past_the_limit_is_refused_before_anything() {
    let service = Service::start(Options {
        max_body: 300,
        ..Options::default()
    })
    .await;
    let fingerprint = service.preview().await;
    let mut large = params();
    large["note"] = "x".repeat(400).into();
    let preview = service.told(Call::post(PREVIEW, large.clone())).await;
    assert_eq!(said(&preview), (413, "body_too_large"));
    let confirm = service.told(fingerprint.confirm_with(large)).await;
    assert_eq!(said(&confirm), (413, "body_too_large"));
    assert_eq!(service.count(&fingerprint).await, 0);
}

#[tokio::test]
async fn answers_are_in_the_language_that_was_asked_for() {
    let service = Service::start(Options {
        language: Language::Chinese,
        ..Options::default()
    })
    .await;
    let (_, _, preview) = service.told(Call::post(PREVIEW, params())).await;
    assert_eq!(preview["summary"], "从 acc-1 向 payee-7 转账 120.50 EUR");
    for call in [
        Call::post(CONFIRM, params()),
        Call::post(PREVIEW, params_of("10000")),
    ] {
        let (_, _, body) = service.told(call).await;
        let meaning = body["meaning"].as_str().unwrap_or_default();
        assert!(
            meaning
                .chars()
                .any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)),
            "{meaning}"
        );
    }
}

#[tokio::test]
async fn an_invalid_param_is_named() {
    let service = Service::start(Options::default()).await;
    for (member, value) in [
        ("amount", json!(-1)),
        ("amount", json!("0.00")),
        ("currency", json!("eur")),
        ("payee_id", json!("")),
        ("fee", json!(1)),
    ] {
        let mut wrong = params();
        wrong[member] = value;
        let told = service.told(Call::post(PREVIEW, wrong)).await;
        assert_eq!(said(&told), (422, "params_invalid"), "{member}");
        assert_eq!(told.2["field"], format!("/{member}"));
    }
}
