//! Events that a security team wants to see, apart from all others.

use tracing::warn;

use crate::{
    OperationId, Scope, Subject,
    fingerprint::{InvalidCause, Opened},
};

/// The `tracing` target of security events. Of a credential they name the key id, the operation id and a short digest at
/// most, and of one that nobody signed nothing.
pub const SECURITY_TARGET: &str = "counterfoil::security";

/// A fingerprint that is not good for this caller.
pub(super) fn invalid_fingerprint(cause: InvalidCause, subject: &Subject, scope: Option<&Scope>) {
    warn!(
        target: SECURITY_TARGET,
        event = match cause {
            InvalidCause::UnknownKey => "unknown_key",
            InvalidCause::Forged => "forged_fingerprint",
            InvalidCause::Unreadable => "unreadable_fingerprint",
            InvalidCause::Foreign => "foreign_fingerprint",
        },
        scope = scope.map(Scope::as_str),
        tenant = subject.tenant(),
        principal = subject.principal(),
        "a fingerprint was refused"
    );
}

/// A good fingerprint of another subject or scope.
pub(super) fn foreign_fingerprint(opened: &Opened, subject: &Subject, scope: Option<&Scope>) {
    warn!(
        target: SECURITY_TARGET,
        event = "foreign_fingerprint",
        operation_id = %opened.terms().id(),
        key_id = opened.key_id().as_str(),
        digest = ?opened.digest(),
        scope = scope.map(Scope::as_str),
        tenant = subject.tenant(),
        principal = subject.principal(),
        "a fingerprint of another subject or scope was refused"
    );
}

/// A good fingerprint brought back with other params.
pub(super) fn params_changed(opened: &Opened, subject: &Subject, scope: &Scope) {
    warn!(
        target: SECURITY_TARGET,
        event = "params_changed",
        operation_id = %opened.terms().id(),
        key_id = opened.key_id().as_str(),
        digest = ?opened.digest(),
        scope = scope.as_str(),
        tenant = subject.tenant(),
        principal = subject.principal(),
        "other params than those that were previewed"
    );
}

/// An idempotency key that was used before, for another request or action: a fault of the client, or somebody who tries
/// keys.
pub(super) fn key_reused(id: OperationId, subject: &Subject, scope: &Scope) {
    warn!(
        target: SECURITY_TARGET,
        event = "key_reused",
        operation_id = %id,
        scope = scope.as_str(),
        tenant = subject.tenant(),
        principal = subject.principal(),
        "an idempotency key came with another request than its first one"
    );
}

/// A record with other params than the signed fingerprint names: the store, or the key, is not what it was.
pub(super) fn record_changed(id: OperationId, subject: &Subject, scope: &Scope) {
    warn!(
        target: SECURITY_TARGET,
        event = "record_changed",
        operation_id = %id,
        scope = scope.as_str(),
        tenant = subject.tenant(),
        principal = subject.principal(),
        "the record has other params than its fingerprint"
    );
}

/// The record belongs to another subject or scope than the signed fingerprint says, or, where there is none and no
/// scope, than the caller who asked by its id.
pub(super) fn foreign_record(id: OperationId, subject: &Subject, scope: Option<&Scope>) {
    warn!(
        target: SECURITY_TARGET,
        event = "foreign_record",
        operation_id = %id,
        scope = scope.map(Scope::as_str),
        tenant = subject.tenant(),
        principal = subject.principal(),
        "the record is another subject's or scope's"
    );
}

/// An attempt spoke after it had lost the epoch.
pub(super) fn stale_owner(id: OperationId, epoch: u64) {
    warn!(
        target: SECURITY_TARGET,
        event = "stale_owner",
        operation_id = %id,
        epoch,
        "an attempt that lost the epoch was refused"
    );
}
