//! Answers as statuses, read by another's code.

use std::time::Duration;

use counterfoil_core::{OperationId, Timestamp, answer::Wording};
use counterfoil_tower::grpc::{ERROR_DOMAIN, answer_status, grpc_code};
use tonic_types::StatusExt;

use super::*;

#[test]
fn every_answer_has_a_code_and_none_says_ok_or_a_fault_of_ours() {
    for status in Status::ALL {
        let code = grpc_code(*status);
        assert!(!matches!(code, Code::Internal | Code::Unknown), "{status}");
        let rpc = answer_status(&Answer::new(*status), &Wording::english());
        assert_ne!(rpc.code(), Code::Ok, "{status}");
    }
}

#[test]
fn what_only_a_change_helps_is_no_status_that_clients_send_again_by_themselves() {
    for status in Status::ALL {
        let sent_again = grpc_code(*status) == Code::Unavailable;
        assert_eq!(sent_again, *status == Status::Unavailable, "{status}");
    }
}

#[test]
fn the_details_are_those_of_google_rpc() {
    let id = OperationId::mint(Timestamp::from_unix_ms(1_700_000_000_000));
    let answer = Answer::new(Status::InProgress)
        .with_operation(id)
        .with_poll_after(Duration::from_millis(2500));
    let status = answer_status(&answer, &Wording::english());
    let info = status.get_details_error_info().unwrap();
    assert_eq!(
        (info.reason.as_str(), info.domain.as_str()),
        ("IN_PROGRESS", ERROR_DOMAIN)
    );
    let member = |name: &str| info.metadata[name].as_str();
    assert_eq!(member("status"), "in_progress");
    assert_eq!(member("executed"), "pending");
    assert_eq!(member("this_call"), "not_run");
    assert_eq!(member("retryable"), "false");
    assert_eq!(member("operation_id"), id.to_string());
    assert_eq!(member("poll_after_ms"), "2500");
    let retry = status.get_details_retry_info().unwrap();
    assert_eq!(retry.retry_delay, Some(Duration::from_millis(2500)));
    assert_eq!(
        status.metadata().get("counterfoil-operation-id").unwrap(),
        &id.to_string()
    );
    let said = Wording::english().say(&answer);
    assert!(status.message().contains(&said.meaning));
    assert!(status.message().contains(&said.instruction));
    // Nothing to wait for.
    let settled = answer_status(
        &Answer::new(Status::ParamsChanged).with_executed(counterfoil_core::answer::Executed::Yes),
        &Wording::english(),
    );
    assert!(settled.get_details_retry_info().is_none());
}

#[test]
fn a_field_that_a_caller_made_up_stands_in_the_details_alone_and_is_made_visible() {
    let answer = Answer::new(Status::ParamsInvalid).with_field("/pay twice\u{202e}");
    let status = answer_status(&answer, &Wording::english());
    assert!(!status.message().contains("pay twice"));
    let info = status.get_details_error_info().unwrap();
    assert_eq!(info.metadata["field"], "/pay twice\\u{202e}");
}

#[tokio::test]
async fn the_status_over_http_shows_a_kept_reply_as_opaque_bytes() {
    let world = World::new();
    let service = wrapped(&layer(&world), &counter(), |_, _| async {
        Ok(reply(&["paid"]))
    });
    let fingerprint = world.fingerprint().await;
    send(service, confirm(&fingerprint)).await;
    let status = counterfoil_tower::StatusService::new(world.counterfoil.clone());
    let request = Request::get("/operation")
        .extension(agent())
        .header("counterfoil-fingerprint", &fingerprint)
        .body(Body::default());
    let read = common::send(status, request.unwrap()).await;
    assert_eq!((read.status, read.word()), (200, "already_completed"));
    assert_eq!(read.json()["result_encoding"], "base64");
}
