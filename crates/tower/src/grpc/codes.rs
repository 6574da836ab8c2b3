//! Answers as gRPC statuses.

use counterfoil_core::answer::{Answer, Status, Wording};
use http::HeaderMap;
use prost::Message;
use tonic::{Code, metadata::MetadataMap};

use super::details::{Any, ErrorInfo, ProtoDuration, RetryInfo, RpcStatus};
use crate::headers;

/// The `domain` of the `google.rpc.ErrorInfo` in every answer.
pub const ERROR_DOMAIN: &str = "counterfoil";

/// The gRPC code of an answer that no first reply stands in for.
///
/// What is under way or not known is no `UNAVAILABLE`: the retry policies in use send that again by themselves.
///
/// ```
/// use counterfoil_core::answer::{Answer, Status};
/// use counterfoil_tower::grpc::grpc_code;
///
/// assert_eq!(grpc_code(Status::InProgress), tonic::Code::FailedPrecondition);
/// assert_eq!(grpc_code(Status::ParamsInvalid), tonic::Code::InvalidArgument);
/// ```
#[must_use]
pub const fn grpc_code(status: Status) -> Code {
    match status {
        Status::NotStarted => Code::Ok,
        Status::InProgress
        | Status::OutcomeUnknown
        | Status::ParamsChanged
        | Status::FingerprintExpired
        | Status::FingerprintRequired
        | Status::ApprovalRequired
        | Status::ApprovalDenied
        | Status::ApprovalExpired
        | Status::Cancelled
        | Status::VersionConflict
        | Status::NotExecuted
        | Status::TooLate
        // A failure without its first reply.
        | Status::AlreadyFailed => Code::FailedPrecondition,
        Status::ParamsInvalid
        | Status::FingerprintMistyped
        | Status::CredentialsDiffer
        | Status::KeyRequired
        | Status::KeyInvalid
        | Status::KeyReused => Code::InvalidArgument,
        Status::FingerprintInvalid => Code::PermissionDenied,
        // Done, and the reply is not there to be repeated: an `OK` must bring a message.
        Status::Completed
        | Status::AlreadyCompleted
        | Status::PossibleDuplicate
        | Status::AlreadyExists => Code::AlreadyExists,
        Status::ResourceBusy => Code::Aborted,
        Status::Unavailable => Code::Unavailable,
        Status::Unauthenticated => Code::Unauthenticated,
        Status::BodyTooLarge | Status::OverCapacity => Code::ResourceExhausted,
        Status::BodyTimeout => Code::DeadlineExceeded,
        Status::NotFound => Code::NotFound,
        Status::NotImplemented => Code::Unimplemented,
        // A status of a later version that nobody mapped is our fault, and no success.
        _ => Code::Internal,
    }
}

/// An answer as a status of an RPC: its code, its texts as the message, `google.rpc.ErrorInfo` with the members of the agent
/// JSON as texts, `google.rpc.RetryInfo` where waiting is the next step, and the metadata `counterfoil-status` and
/// `counterfoil-operation-id`.
///
/// A result is not in it: a message of the method's own type is what carries one. So a status is an error also where the
/// operation is done, and says so in `executed`.
///
/// ```
/// use counterfoil_core::answer::{Answer, Status, Wording};
/// use counterfoil_tower::grpc::answer_status;
///
/// let status = answer_status(&Answer::new(Status::InProgress), &Wording::english());
/// assert_eq!(status.code(), tonic::Code::FailedPrecondition);
/// assert_eq!(status.metadata().get("counterfoil-status").unwrap(), "in_progress");
/// ```
#[must_use]
pub fn answer_status(answer: &Answer, wording: &Wording) -> tonic::Status {
    let code = match grpc_code(answer.status) {
        // `OK` is not for an error, and nobody gets the message that it would promise.
        Code::Ok => Code::FailedPrecondition,
        code => code,
    };
    status_under(code, answer, wording)
}

/// The same, under another code than the table's.
pub(super) fn status_under(code: Code, answer: &Answer, wording: &Wording) -> tonic::Status {
    let said = wording.say(answer);
    let message = format!("{} {}", said.meaning, said.instruction);
    let info = ErrorInfo {
        reason: answer.status.as_str().to_ascii_uppercase(),
        domain: ERROR_DOMAIN.to_owned(),
        metadata: members(answer, wording),
    };
    let mut details = vec![Any::of("google.rpc.ErrorInfo", &info)];
    if let Some(wait) = answer.poll_after {
        let retry = RetryInfo {
            retry_delay: Some(ProtoDuration::from(wait)),
        };
        details.push(Any::of("google.rpc.RetryInfo", &retry));
    }
    let rpc = RpcStatus {
        code: code.into(),
        message: message.clone(),
        details,
    };
    let mut told = HeaderMap::new();
    headers::tell(&mut told, answer);
    tonic::Status::with_details_and_metadata(
        code,
        message,
        rpc.encode_to_vec().into(),
        MetadataMap::from_headers(told),
    )
}

/// The members of the agent JSON but for the result, so that both transports say the same.
fn members(answer: &Answer, wording: &Wording) -> std::collections::BTreeMap<String, String> {
    let mut answer = answer.clone();
    answer.result = None;
    let json = answer.to_agent_json(wording);
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&json).unwrap_or_default();
    object
        .into_iter()
        // They are the status's message.
        .filter(|(name, _)| name != "meaning" && name != "instruction")
        .map(|(name, value)| match value {
            serde_json::Value::String(text) => (name, text),
            other => (name, other.to_string()),
        })
        .collect()
}
