//! What is known after Redis, or the way to it, failed.

use counterfoil_core::store::{StoreError, StoreErrorKind};
use fred::error::{Error, ErrorKind};

/// What a failed command means for what it wanted to write.
///
/// The server's own refusals say that nothing was done: a script writes in its last step, and a refusal there is told.
/// The exception is `CLUSTERDOWN`, which the client hands to every command that is on its way to that node, so that some
/// of them may have been done. Whatever is not known to be a refusal may have been applied.
pub(crate) fn store_error(error: Error) -> StoreError {
    let (kind, message) = match error.kind() {
        ErrorKind::Timeout => (
            StoreErrorKind::Indeterminate,
            "redis did not answer in time",
        ),
        ErrorKind::Backpressure => (
            StoreErrorKind::NotApplied,
            "too many commands wait for redis",
        ),
        ErrorKind::Routing => (
            StoreErrorKind::NotApplied,
            "no node of the cluster took the command",
        ),
        _ => match refusal(&error) {
            Some("WRONGTYPE") => (
                StoreErrorKind::Corrupt,
                "something that is no record has the operation's key",
            ),
            Some("OOM") => (StoreErrorKind::NotApplied, "redis is out of memory"),
            Some("NOREPLICAS") => (
                StoreErrorKind::NotApplied,
                "redis has too few replicas to write",
            ),
            Some("READONLY" | "MASTERDOWN") => (StoreErrorKind::NotApplied, "redis is a replica"),
            Some("CLUSTERDOWN") => (StoreErrorKind::Indeterminate, "the cluster is down"),
            Some(_) => (StoreErrorKind::NotApplied, "redis refused the command"),
            None => (
                StoreErrorKind::Indeterminate,
                "the connection to redis broke",
            ),
        },
    };
    StoreError::new(kind, message).with_source(error)
}

/// Whether the server that answered is no longer the one to ask.
pub(crate) fn is_of_a_lesser_server(error: &Error) -> bool {
    matches!(
        refusal(error),
        Some("NOREPLICAS" | "READONLY" | "MASTERDOWN" | "LOADING")
    )
}

pub(crate) fn is_unknown_script(error: &Error) -> bool {
    refusal(error) == Some("NOSCRIPT")
}

/// The code that begins a refusal of the server's, in capitals, as its protocol has it. The client's own errors begin with
/// none.
fn refusal(error: &Error) -> Option<&str> {
    let came_as_a_reply = matches!(
        error.kind(),
        ErrorKind::Unknown
            | ErrorKind::Cluster
            | ErrorKind::Auth
            | ErrorKind::InvalidArgument
            | ErrorKind::InvalidCommand
            | ErrorKind::Config
    );
    let code = error.details().split(' ').next()?;
    let in_capitals = code.len() >= 3 && code.bytes().all(|letter| letter.is_ascii_uppercase());
    (came_as_a_reply && in_capitals).then_some(code)
}

/// There is no connection, so that nothing was sent.
pub(crate) fn not_connected() -> StoreError {
    StoreError::new(
        StoreErrorKind::NotApplied,
        "there is no connection to redis",
    )
}

pub(crate) fn corrupt() -> StoreError {
    StoreError::new(
        StoreErrorKind::Corrupt,
        "the record in redis can't be read, or nobody with the keys has vouched for it",
    )
}

/// A reply that is another call's, or none that a script gives.
pub(crate) fn out_of_step() -> StoreError {
    StoreError::new(
        StoreErrorKind::Indeterminate,
        "redis gave a reply that is not this call's",
    )
}

pub(crate) fn misuse(message: &'static str) -> StoreError {
    StoreError::new(StoreErrorKind::Misuse, message)
}
