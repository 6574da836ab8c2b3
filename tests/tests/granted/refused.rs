//! What the ledger refuses.

use tests::{Call, GrantedLedger, Scratch};

use crate::{Both, GRANT_KEYS, grants::Grant};

const OPERATION: &str = "018bcfe5-6800-7abc-9def-0123456789ab";
const BODY: &str = r#"{"tenant":"acme","principal":"agent-7","transfer_id":"tr_1","amount":"1","currency":"EUR","payee_id":"p","source_account":"s"}"#;

#[tokio::test]
async fn a_write_without_a_forged_an_expired_or_anothers_grant_is_refused() {
    let both = Both::start();
    let good = Grant::for_write(OPERATION, BODY);
    let naked = both.ledger.send(Call::post("/entries", BODY)).await;
    naked.assert_told(428, "grant_required");
    for (grant, status, word) in [
        (
            Grant {
                secret: [0x33; 32],
                ..good.clone()
            },
            403,
            "grant_invalid",
        ),
        (
            Grant {
                life: 0,
                ..good.clone()
            },
            410,
            "grant_expired",
        ),
        (
            Grant {
                life: -60,
                ..good.clone()
            },
            410,
            "grant_expired",
        ),
        (
            Grant {
                life: 3600,
                ..good.clone()
            },
            403,
            "grant_ends_too_late",
        ),
        (
            Grant {
                audience: "bank",
                ..good.clone()
            },
            403,
            "grant_mismatch",
        ),
        (
            Grant {
                target: "/entries/1",
                ..good.clone()
            },
            403,
            "grant_mismatch",
        ),
        (
            Grant {
                method: "PUT",
                ..good.clone()
            },
            403,
            "grant_mismatch",
        ),
        (
            Grant {
                body: BODY.replace("\"1\"", "\"2\""),
                ..good.clone()
            },
            403,
            "grant_mismatch",
        ),
    ] {
        let reply = both.ledger.send(grant.call(BODY)).await;
        reply.assert_told(status, word);
        assert_eq!(reply.json()["this_call"], "not_run");
        for part in grant.text().split('.').skip(2) {
            both.ledger.must_not_log(part);
        }
    }
    assert_eq!(both.ledger.entries(None).await.len(), 0);
    assert!(
        both.ledger.log().contains("forged_grant"),
        "{}",
        both.ledger.log()
    );

    // The tests' own minting is right, or none of the above shows anything.
    let written = both.ledger.send(good.call(BODY)).await;
    assert_eq!(written.status, 201, "{written:#?}");
}

#[tokio::test]
async fn a_replayed_grant_makes_no_second_effect() {
    let both = Both::start();
    let grant = Grant::for_write(OPERATION, BODY);
    let first = both.ledger.send(grant.call(BODY)).await;
    assert_eq!(
        (first.status, first.header("idempotent-replayed")),
        (201, "")
    );
    for _ in 0..3 {
        let again = both.ledger.send(grant.call(BODY)).await;
        assert_eq!(
            (again.status, again.header("idempotent-replayed")),
            (200, "true")
        );
        assert_eq!(again.json(), first.json());
    }
    assert_eq!(both.ledger.entries(None).await.len(), 1);
}

#[tokio::test]
async fn a_ledger_that_was_killed_still_refuses_a_lower_epoch() {
    let file = Scratch::new("granted.jsonl");
    let ledger = GrantedLedger::start(&file, GRANT_KEYS);
    let later = Grant {
        epoch: 2,
        ..Grant::for_write(OPERATION, BODY)
    };
    assert_eq!(ledger.send(later.call(BODY)).await.status, 201);
    ledger.kill();

    let ledger = GrantedLedger::start(&file, GRANT_KEYS);
    let earlier = Grant::for_write(OPERATION, BODY);
    let late = ledger.send(earlier.call(BODY)).await;
    late.assert_told(409, "epoch_stale");
    assert_eq!(ledger.entries(None).await.len(), 1);
    assert_eq!(ledger.send(later.call(BODY)).await.status, 200);
}
