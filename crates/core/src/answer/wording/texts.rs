//! The built-in texts of a language, one field each, so that a language that lacks one doesn't compile.

use crate::answer::{Executed, Status};

/// A meaning and an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Say {
    pub(super) meaning: &'static str,
    pub(super) instruction: &'static str,
}

/// Short for the tables.
pub(super) const fn say(meaning: &'static str, instruction: &'static str) -> Say {
    Say {
        meaning,
        instruction,
    }
}

/// What stands in texts for `{poll_with}`, where the service names nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum PollWith {
    /// A tool, for a model that has one of this name.
    Tool(&'static str),
    /// Words, for a program, which has no tools. It knows the id and the key, and perhaps the path.
    Words(&'static str),
}

/// All texts of a language.
#[derive(Debug)]
pub(super) struct Texts {
    /// In problem details.
    pub(super) title: fn(Status) -> &'static str,
    pub(super) poll_with: PollWith,
    pub(super) completed: Say,
    pub(super) completed_without_result: Say,
    pub(super) already_completed: Say,
    pub(super) already_completed_without_result: Say,
    pub(super) already_failed: Say,
    pub(super) already_failed_without_result: Say,
    pub(super) in_progress: Say,
    pub(super) outcome_unknown: Say,
    pub(super) not_started: Say,
    pub(super) not_started_unknown: Say,
    pub(super) not_executed_no: Say,
    pub(super) not_executed_not_yet: Say,
    pub(super) params_changed_yes: Say,
    pub(super) params_changed_no: Say,
    pub(super) params_changed_not_yet: Say,
    pub(super) params_changed_pending: Say,
    pub(super) params_changed_unknown: Say,
    pub(super) params_invalid: Say,
    pub(super) fingerprint_expired_no: Say,
    pub(super) fingerprint_expired_unknown: Say,
    pub(super) fingerprint_mistyped: Say,
    pub(super) fingerprint_invalid: Say,
    pub(super) fingerprint_required: Say,
    pub(super) approval_required: Say,
    pub(super) approval_denied_no: Say,
    pub(super) approval_denied_unknown: Say,
    pub(super) approval_expired_no: Say,
    pub(super) approval_expired_unknown: Say,
    pub(super) cancelled_no: Say,
    pub(super) cancelled_unknown: Say,
    pub(super) possible_duplicate_yes: Say,
    pub(super) possible_duplicate_pending: Say,
    pub(super) possible_duplicate_unknown: Say,
    pub(super) already_exists_yes_with_result: Say,
    pub(super) already_exists_yes: Say,
    pub(super) already_exists_not_yet: Say,
    pub(super) already_exists_pending: Say,
    pub(super) already_exists_unknown: Say,
    pub(super) resource_busy: Say,
    pub(super) version_conflict: Say,
    pub(super) unavailable_not_yet: Say,
    pub(super) unavailable_unknown: Say,
    pub(super) unauthenticated: Say,
    pub(super) body_too_large: Say,
    pub(super) body_timeout: Say,
    pub(super) credentials_differ: Say,
    pub(super) over_capacity: Say,
    pub(super) not_found: Say,
    pub(super) too_late_yes: Say,
    pub(super) too_late_no: Say,
    pub(super) too_late_pending: Say,
    pub(super) too_late_unknown: Say,
    pub(super) not_implemented: Say,
    pub(super) key_required: Say,
    pub(super) key_invalid: Say,
    pub(super) key_reused: Say,
}

impl Texts {
    /// The text for a status, by what is known of the operation and by whether the result is there.
    ///
    /// Where a status has several and none fits, the one that claims least is taken.
    pub(super) const fn pick(&self, status: Status, executed: Executed, result: bool) -> Say {
        use Executed::{No, NotYet, Pending, Yes};

        match (status, executed) {
            (Status::Completed, _) if result => self.completed,
            (Status::Completed, _) => self.completed_without_result,
            (Status::AlreadyCompleted, _) if result => self.already_completed,
            (Status::AlreadyCompleted, _) => self.already_completed_without_result,
            (Status::AlreadyFailed, _) if result => self.already_failed,
            (Status::AlreadyFailed, _) => self.already_failed_without_result,
            (Status::InProgress, _) => self.in_progress,
            (Status::OutcomeUnknown, _) => self.outcome_unknown,
            (Status::NotStarted, NotYet) => self.not_started,
            (Status::NotStarted, _) => self.not_started_unknown,
            (Status::NotExecuted, No) => self.not_executed_no,
            (Status::NotExecuted, _) => self.not_executed_not_yet,
            (Status::ParamsChanged, Yes) => self.params_changed_yes,
            (Status::ParamsChanged, No) => self.params_changed_no,
            (Status::ParamsChanged, NotYet) => self.params_changed_not_yet,
            (Status::ParamsChanged, Pending) => self.params_changed_pending,
            (Status::ParamsChanged, _) => self.params_changed_unknown,
            (Status::ParamsInvalid, _) => self.params_invalid,
            (Status::FingerprintExpired, No) => self.fingerprint_expired_no,
            (Status::FingerprintExpired, _) => self.fingerprint_expired_unknown,
            (Status::FingerprintMistyped, _) => self.fingerprint_mistyped,
            (Status::FingerprintInvalid, _) => self.fingerprint_invalid,
            (Status::FingerprintRequired, _) => self.fingerprint_required,
            (Status::ApprovalRequired, _) => self.approval_required,
            (Status::ApprovalDenied, No) => self.approval_denied_no,
            (Status::ApprovalDenied, _) => self.approval_denied_unknown,
            (Status::ApprovalExpired, No) => self.approval_expired_no,
            (Status::ApprovalExpired, _) => self.approval_expired_unknown,
            (Status::Cancelled, No) => self.cancelled_no,
            (Status::Cancelled, _) => self.cancelled_unknown,
            (Status::PossibleDuplicate, Yes) => self.possible_duplicate_yes,
            (Status::PossibleDuplicate, Pending) => self.possible_duplicate_pending,
            (Status::PossibleDuplicate, _) => self.possible_duplicate_unknown,
            (Status::AlreadyExists, Yes) if result => self.already_exists_yes_with_result,
            (Status::AlreadyExists, Yes) => self.already_exists_yes,
            (Status::AlreadyExists, NotYet) => self.already_exists_not_yet,
            (Status::AlreadyExists, Pending) => self.already_exists_pending,
            (Status::AlreadyExists, _) => self.already_exists_unknown,
            (Status::ResourceBusy, _) => self.resource_busy,
            (Status::VersionConflict, _) => self.version_conflict,
            (Status::Unavailable, NotYet) => self.unavailable_not_yet,
            (Status::Unavailable, _) => self.unavailable_unknown,
            (Status::Unauthenticated, _) => self.unauthenticated,
            (Status::BodyTooLarge, _) => self.body_too_large,
            (Status::BodyTimeout, _) => self.body_timeout,
            (Status::CredentialsDiffer, _) => self.credentials_differ,
            (Status::OverCapacity, _) => self.over_capacity,
            (Status::NotFound, _) => self.not_found,
            (Status::TooLate, Yes) => self.too_late_yes,
            (Status::TooLate, No) => self.too_late_no,
            (Status::TooLate, Pending) => self.too_late_pending,
            (Status::TooLate, _) => self.too_late_unknown,
            (Status::NotImplemented, _) => self.not_implemented,
            (Status::KeyRequired, _) => self.key_required,
            (Status::KeyInvalid, _) => self.key_invalid,
            (Status::KeyReused, _) => self.key_reused,
        }
    }
}
