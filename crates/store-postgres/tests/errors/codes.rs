//! What each class of SQLSTATE says about a write.

use counterfoil_core::store::{Store, StoreErrorKind};
use counterfoil_servers::{Shared, shared};

use crate::{
    common::{Op, claimed},
    place::{Place, refused},
};

/// A store whose clock does something before it tells the time.
async fn place_where_the_clock(does: &str) -> Place {
    let place = Place::at(&shared(Shared::Postgres), |builder| builder).await;
    let clock = format!(
        "CREATE SEQUENCE {0}.calls;
         CREATE OR REPLACE FUNCTION {0}.now_ms() RETURNS bigint LANGUAGE plpgsql AS $$
         BEGIN
             {1}
             RETURN (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
         END $$",
        place.schema,
        does.replace("{calls}", &format!("nextval('{}.calls')", place.schema)),
    );
    place.run(&clock).await;
    place
}

fn raise(code: &str) -> String {
    format!("RAISE EXCEPTION 'it went wrong' USING ERRCODE = '{code}';")
}

#[tokio::test]
async fn a_code_says_whether_the_call_may_have_been_applied() {
    for (code, kind) in [
        ("08006", StoreErrorKind::Indeterminate),
        ("08P01", StoreErrorKind::Indeterminate),
        ("40003", StoreErrorKind::Indeterminate),
        ("57P01", StoreErrorKind::Indeterminate),
        ("57P02", StoreErrorKind::Indeterminate),
        ("57P03", StoreErrorKind::Indeterminate),
        ("57014", StoreErrorKind::NotApplied),
        ("53100", StoreErrorKind::NotApplied),
        ("42P01", StoreErrorKind::NotApplied),
        ("23505", StoreErrorKind::NotApplied),
        ("P0001", StoreErrorKind::NotApplied),
        ("XX000", StoreErrorKind::NotApplied),
        ("XX001", StoreErrorKind::Corrupt),
        ("XX002", StoreErrorKind::Corrupt),
    ] {
        let place = place_where_the_clock(&raise(code)).await;
        let told = refused(place.store.acquire(&Op::now().wish()).await);
        assert_eq!(told, kind, "{code}");
    }
}

/// A server's detail can quote the row that it is about, and a message the value.
#[tokio::test]
async fn no_error_hands_on_what_stands_in_a_row() {
    for (code, message) in [
        ("22P02", "a canary"),
        ("23505", "a canary"),
        ("23514", "a canary"),
        ("P0001", "it went wrong"),
    ] {
        let does = format!(
            "RAISE EXCEPTION '{message}' USING ERRCODE = '{code}', DETAIL = 'a canary', HINT = 'a canary';"
        );
        let place = place_where_the_clock(&does).await;
        let error = place.store.acquire(&Op::now().wish()).await;
        let error = error.expect_err("the clock fails");
        let mut told = format!("{error:?} {error}");
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            told.push_str(&format!(" {cause:?} {cause}"));
            source = cause.source();
        }
        assert!(told.contains(code), "{told}");
        assert!(!told.contains("canary"), "{told}");
    }
}

/// What was rolled back for a reason that passes is sent again, a few times.
#[tokio::test]
async fn a_call_that_lost_a_race_is_sent_again() {
    for code in ["40001", "40P01", "23514"] {
        let does = format!("IF {{calls}} < 3 THEN {} END IF;", raise(code));
        let place = place_where_the_clock(&does).await;
        let answer = place.store.acquire(&Op::now().wish()).await;
        claimed(answer.expect("the third time it goes well"));

        let place = place_where_the_clock(&raise(code)).await;
        let kind = refused(place.store.acquire(&Op::now().wish()).await);
        assert_eq!(kind, StoreErrorKind::NotApplied, "{code}");
    }
}

/// A warning is what the server says of a commit that a standby may not have. A notice is not.
#[tokio::test]
async fn a_warning_leaves_the_call_in_doubt_and_a_notice_does_not() {
    let place = place_where_the_clock("RAISE WARNING 'is it there?';").await;
    let wish = Op::now().wish();
    let kind = refused(place.store.acquire(&wish).await);
    assert_eq!(kind, StoreErrorKind::Indeterminate);
    let place = place_where_the_clock("RAISE NOTICE 'it is there';").await;
    claimed(place.store.acquire(&wish).await.expect("it is free"));
}
