//! The table of statuses.

use counterfoil_core::{
    answer::{Answer, Executed, Status, Wording},
    store::StoredResult,
};
use http::{HeaderMap, StatusCode};

use super::{Rendering, Replay, http_status};
use crate::stored_response::StoredResponse;

fn expected(status: Status) -> u16 {
    match status.as_str() {
        "completed" | "already_completed" | "not_started" => 200,
        "in_progress" | "outcome_unknown" | "approval_required" => 202,
        "fingerprint_mistyped" | "credentials_differ" | "key_required" | "key_invalid" => 400,
        "unauthenticated" => 401,
        "fingerprint_invalid" | "approval_denied" => 403,
        "not_found" => 404,
        "body_timeout" => 408,
        "possible_duplicate" | "already_exists" | "resource_busy" | "version_conflict"
        | "too_late" => 409,
        "fingerprint_expired" | "approval_expired" | "cancelled" | "not_executed" => 410,
        "body_too_large" => 413,
        "already_failed" | "params_changed" | "params_invalid" | "key_reused" => 422,
        "fingerprint_required" => 428,
        "over_capacity" => 429,
        "not_implemented" => 501,
        "unavailable" => 503,
        other => panic!("{other} has no HTTP status"),
    }
}

#[test]
fn every_status_has_its_http_status() {
    for &status in Status::ALL {
        assert_eq!(
            http_status(&Answer::new(status)),
            expected(status),
            "{status}"
        );
    }
}

fn stored(status: u16) -> StoredResult {
    let response = StoredResponse {
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        body: Some("{}".into()),
        trailers: None,
    };
    response.encode().unwrap()
}

#[test]
fn a_replay_has_the_first_status_where_a_body_can_stand_under_it() {
    for (status, first, http) in [
        (Status::AlreadyCompleted, 201, 201),
        (Status::AlreadyCompleted, 303, 303),
        (Status::AlreadyCompleted, 204, 200),
        (Status::AlreadyCompleted, 205, 200),
        (Status::AlreadyCompleted, 206, 200),
        (Status::AlreadyFailed, 404, 404),
        (Status::AlreadyFailed, 304, 422),
        (Status::AlreadyExists, 201, 201),
        (Status::InProgress, 201, 202),
    ] {
        let answer = Answer::new(status).with_result(stored(first));
        assert_eq!(http_status(&answer), http, "{status} {first}");
    }
}

#[test]
fn a_result_that_cannot_be_read_is_told_as_done_without_it() {
    let mut broken = stored(201);
    broken.bytes = broken.bytes.slice(..3);
    for replay in [Replay::Envelope, Replay::Verbatim] {
        let answer = Answer::new(Status::AlreadyCompleted).with_result(broken.clone());
        let wording = Wording::english();
        let response = Rendering::new(&wording, replay).answer(&answer);
        assert_eq!(response.status(), 200);
        assert_eq!(
            response.headers()["counterfoil-status"],
            "already_completed"
        );
    }
}

#[test]
fn waiting_is_told_in_whole_seconds_and_never_none() {
    let wording = Wording::english();
    for (ms, seconds) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (30_000, "30")] {
        let answer =
            Answer::new(Status::Unavailable).with_poll_after(std::time::Duration::from_millis(ms));
        let response = Rendering::new(&wording, Replay::Envelope).answer(&answer);
        assert_eq!(response.headers()["retry-after"], seconds);
    }
    let done = Answer::new(Status::AlreadyCompleted).with_executed(Executed::Yes);
    let response = Rendering::new(&wording, Replay::Envelope).answer(&done);
    assert!(!response.headers().contains_key("retry-after"));
    assert!(!response.headers().contains_key("counterfoil-operation-id"));
}
