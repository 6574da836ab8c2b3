//! What is refused, how it is told, and who hears of it.

use std::time::Duration;

use counterfoil_core::grant::{Audience, GrantRequest, GrantTerms, RecentEpochs};
use counterfoil_tower::{Body, headers};
use http::{Method, Request};

use crate::{
    ear::Ear,
    ledger::{
        BODY, LEDGER, Ledger, NOW, Stands, Told, grant, grant_for, keys, mint, operation, request,
    },
};

/// Holds a refusal to its form.
#[track_caller]
fn assert_refused(told: &Told, status: u16, code: &str) {
    assert_eq!(
        (told.status.as_u16(), told.word.as_str()),
        (status, code),
        "{told:?}"
    );
    let json = told.json();
    assert_eq!(json["code"], code);
    assert_eq!(json["status"], status);
    assert_eq!(json["type"], format!("/docs/problems.md#{code}"));
    assert_eq!(json["this_call"], "not_run");
    assert_eq!(json["executed"], "unknown");
    assert_eq!(json["retryable"], false);
    for text in ["title", "detail"] {
        assert!(
            json[text].as_str().is_some_and(|text| !text.is_empty()),
            "{json}"
        );
    }
}

#[tokio::test]
async fn a_write_with_a_good_grant_passes_and_the_handler_knows_what_was_granted() {
    let ledger = Ledger::new();
    let told = ledger.enter(&grant()).await;
    let id = operation(1);
    assert_eq!(told.status, 200, "{told:?}");
    assert_eq!(told.body, format!("{id} - 1 {id} {BODY}"));

    let step = counterfoil_core::Step::new("fee");
    let asked = GrantRequest::new(&LEDGER, "POST", "/entries").with_body(BODY.as_bytes());
    let told = ledger.enter(&mint(3, Some(step.clone()), &asked)).await;
    assert_eq!(told.body, format!("{id} fee 3 {} {BODY}", id.step(&step)));
}

#[tokio::test]
async fn reading_needs_no_grant_and_has_none() {
    let ledger = Ledger::new();
    for grant in [
        None,
        Some(grant().as_str().to_owned()),
        Some("x".to_owned()),
    ] {
        let mut asked = request(grant.as_deref());
        *asked.method_mut() = Method::GET;
        let told = ledger.send(asked).await;
        assert_eq!(
            (told.status.as_u16(), &told.body[..]),
            (200, &b"anybody"[..])
        );
    }
}

#[tokio::test]
async fn a_write_without_a_grant_is_refused() {
    let ledger = Ledger::new();
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        let mut asked = request(None);
        *asked.method_mut() = method;
        assert_refused(&ledger.send(asked).await, 428, "grant_required");
    }
    assert_eq!(ledger.writes(), 0);
}

#[tokio::test]
async fn what_is_no_grant_and_two_of_them_are_refused() {
    let ledger = Ledger::new();
    let good = grant().as_str().to_owned();
    for text in [
        "",
        "x",
        "gr1.g1.e30.AAAA",
        &format!("{good}, {good}"),
        &format!("\"{good}\""),
    ] {
        let told = ledger.send(request(Some(text))).await;
        assert_refused(&told, 400, "grant_mistyped");
    }
    let mut twice = request(Some(&good));
    twice
        .headers_mut()
        .append(headers::GRANT, good.parse().unwrap());
    assert_refused(&ledger.send(twice).await, 400, "grant_mistyped");
    assert_eq!(ledger.writes(), 0);
}

#[tokio::test]
async fn a_forged_grant_is_refused_and_somebody_hears_of_it() {
    let ledger = Ledger::new();
    let ear = Ear::default();
    let _listening = ear.listen();
    let asked = GrantRequest::new(&LEDGER, "POST", "/entries").with_body(BODY.as_bytes());
    let terms = GrantTerms::new(
        operation(1),
        counterfoil_core::Epoch::FIRST,
        None,
        &asked,
        NOW,
    )
    .unwrap();
    let forged = keys(2).issue(&terms);
    let unknown = forged.as_str().replacen(".g1.", ".g9.", 1);
    for (text, event) in [
        (forged.as_str(), "forged_grant"),
        (&unknown, "unknown_grant_key"),
    ] {
        let told = ledger.send(request(Some(text))).await;
        assert_refused(&told, 403, "grant_invalid");
        // Nothing of what nobody signed is believed.
        assert_eq!(told.json().get("operation_id"), None);
        let heard = ear.heard();
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert!(heard[0].contains(event), "{heard:?}");
        for part in text.split('.').skip(2) {
            assert!(!heard[0].contains(part), "{heard:?}");
        }
    }
    assert_eq!(ledger.writes(), 0);
}

#[tokio::test]
async fn an_expired_grant_is_refused_by_the_services_own_clock() {
    let life = GrantTerms::DEFAULT_LIFE;
    for (now, refused) in [
        (NOW + life - Duration::from_millis(1), None),
        (NOW + life, Some((410, "grant_expired"))),
        (
            NOW + Duration::from_secs(3600),
            Some((410, "grant_expired")),
        ),
        (
            NOW - Duration::from_secs(3600),
            Some((403, "grant_ends_too_late")),
        ),
    ] {
        let epochs = RecentEpochs::new();
        let ledger = Ledger::with(epochs, |layer| layer.with_clock(Stands(now)));
        let told = ledger.enter(&grant()).await;
        match refused {
            Some((status, code)) => assert_refused(&told, status, code),
            None => assert_eq!(told.status, 200),
        }
        assert_eq!(ledger.writes(), usize::from(refused.is_none()));
    }
}

#[tokio::test]
async fn a_grant_for_another_service_method_path_query_or_body_is_refused_and_heard_of() {
    let ledger = Ledger::new();
    let ear = Ear::default();
    let _listening = ear.listen();
    let body = BODY.as_bytes();
    let bank = Audience::new("bank");
    let of_bank = mint(
        1,
        None,
        &GrantRequest::new(&bank, "POST", "/entries").with_body(body),
    );
    for (grant, reason) in [
        (of_bank, "other_audience"),
        (grant_for("PUT", "/entries", body), "other_request"),
        (grant_for("POST", "/entries/7", body), "other_request"),
        (grant_for("POST", "/entries?to=bob", body), "other_request"),
        (
            grant_for("POST", "http://ledger/entries", body),
            "other_request",
        ),
        (grant_for("POST", "/entries", b""), "other_body"),
        (
            grant_for("POST", "/entries", br#"{"amount":"11"}"#),
            "other_body",
        ),
    ] {
        let told = ledger.enter(&grant).await;
        assert_refused(&told, 403, "grant_mismatch");
        assert_eq!(told.json()["reason"], reason);
        // The tag was right, so its word on the operation is.
        assert_eq!(told.json()["operation_id"], operation(1).to_string());
        let heard = ear.heard();
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert!(heard[0].contains("misused_grant") && heard[0].contains(&operation(1).to_string()));
    }
    assert_eq!(ledger.writes(), 0);
}

#[tokio::test]
async fn a_query_and_a_nested_path_are_bound_as_they_were_sent() {
    let ledger = Ledger::new();
    for target in [
        "/entries?to=%62ob&x",
        "/entries?",
        "/accounts/a%2Fb/entries",
        "/accounts/a/entries?x=1",
    ] {
        let send = async |granted: &str| {
            let request = Request::post(target)
                .header(
                    headers::GRANT,
                    grant_for("POST", granted, BODY.as_bytes()).as_str(),
                )
                .body(Body::from(BODY))
                .unwrap();
            ledger.send(request).await.status.as_u16()
        };
        assert_eq!(send(target).await, 200, "{target}");
        assert_eq!(send("/entries").await, 403, "{target}");
    }
}

#[tokio::test]
async fn types_of_problems_lead_where_the_service_says() {
    let ledger = Ledger::with(RecentEpochs::new(), |layer| {
        layer.with_problem_types("/problems")
    });
    let told = ledger.send(request(None)).await;
    assert_eq!(told.json()["type"], "/problems#grant_required");
}
