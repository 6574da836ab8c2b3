//! The answer itself: facts, no words yet.

use std::time::Duration;

use super::{Executed, OperationState, Status, ThisCall, defaults};
use crate::{OperationId, store::StoredResult};

/// What a caller is told. It has no HTTP and no words in it: a transport maps the status to its codes, and a
/// [`Wording`](super::Wording) says it in a language.
///
/// `Debug` shows the size of the result, never its content.
///
/// ```
/// use counterfoil_core::answer::{Answer, Executed, Status};
///
/// let answer = Answer::new(Status::InProgress);
/// assert_eq!(answer.executed, Executed::Pending);
/// assert!(!answer.retryable);
/// assert!(answer.poll_after.is_some());
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// What became of the call.
    pub status: Status,
    /// Whether the operation happened: this one, or for the two guards' answers the twin or the holder.
    pub executed: Executed,
    /// Whether this call ran the handler.
    pub this_call: ThisCall,
    /// Whether the next step is to send this very call again.
    pub retryable: bool,
    /// The operation that the answer speaks of: for the two guards' answers the twin or the holder.
    pub operation_id: Option<OperationId>,
    /// Where that operation stands.
    pub state: Option<OperationState>,
    /// How long to wait before the next step, be it to ask for the status or to send this call again.
    pub poll_after: Option<Duration>,
    /// How many attempts claimed the operation.
    pub attempt: Option<u32>,
    /// The first result. Untrusted: it came from the handler.
    pub result: Option<StoredResult>,
    /// The business document's number.
    pub result_ref: Option<String>,
    /// The field to mend, as a JSON pointer or a name. Untrusted: it came from the request.
    pub field: Option<String>,
    /// `params_invalid` and `key_invalid`: what is wrong with the field, in one word of a closed list.
    pub reason: Option<&'static str>,
    /// `already_exists`: whether the holder's params are those of this call.
    pub same_params: Option<bool>,
    /// The trace that this call belongs to.
    pub trace_id: Option<String>,
}

impl Answer {
    /// An answer with what the table says of the status, and nothing about any operation.
    #[must_use]
    pub const fn new(status: Status) -> Self {
        let row = defaults::row(status);
        let executed = row.executed[0];
        Self {
            status,
            executed,
            this_call: row.this_call,
            retryable: row.retryable,
            operation_id: None,
            state: None,
            poll_after: defaults::poll_after(status, executed),
            attempt: None,
            result: None,
            result_ref: None,
            field: None,
            reason: None,
            same_params: None,
            trace_id: None,
        }
    }

    /// Whether the next step is to ask for the operation's status.
    #[must_use]
    pub const fn polls(&self) -> bool {
        defaults::polls(self.status, self.executed)
    }

    /// Names the operation.
    #[must_use]
    pub const fn with_operation(mut self, id: OperationId) -> Self {
        self.operation_id = Some(id);
        self
    }

    /// Says where the operation stands. `executed` stays as it is.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<OperationState>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// Says whether the operation happened. The table's waiting time follows; one that was set by hand stays.
    ///
    /// A value that the status can't have ([`Status::possible_executed`]) becomes `unknown`, or what the status alone
    /// says if that can't be either: so that member, text and schema always agree.
    #[must_use]
    pub fn with_executed(mut self, executed: Executed) -> Self {
        let executed = defaults::settle(self.status, executed);
        if self.poll_after == defaults::poll_after(self.status, self.executed) {
            self.poll_after = defaults::poll_after(self.status, executed);
        }
        self.executed = executed;
        self
    }

    /// Says whether this call ran the handler.
    #[must_use]
    pub const fn with_this_call(mut self, this_call: ThisCall) -> Self {
        self.this_call = this_call;
        self
    }

    /// Adds the first result.
    #[must_use]
    pub fn with_result(mut self, result: StoredResult) -> Self {
        self.result = Some(result);
        self
    }

    /// Adds the business document's number.
    #[must_use]
    pub fn with_result_ref(mut self, result_ref: impl Into<String>) -> Self {
        self.result_ref = Some(result_ref.into());
        self
    }

    /// Names the field to mend.
    #[must_use]
    pub fn with_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Says what is wrong with the field, in one word of a closed list.
    #[must_use]
    pub const fn with_reason(mut self, reason: &'static str) -> Self {
        self.reason = Some(reason);
        self
    }

    /// Says how many attempts claimed the operation.
    #[must_use]
    pub const fn with_attempt(mut self, attempt: u32) -> Self {
        self.attempt = Some(attempt);
        self
    }

    /// Says how long to wait before the next step.
    #[must_use]
    pub const fn with_poll_after(mut self, poll_after: Duration) -> Self {
        self.poll_after = Some(poll_after);
        self
    }

    /// Says whether the holder's params are those of this call.
    #[must_use]
    pub const fn with_same_params(mut self, same: bool) -> Self {
        self.same_params = Some(same);
        self
    }

    /// Names the trace.
    #[must_use]
    pub fn with_trace_id(mut self, trace_id: impl Into<String>) -> Self {
        self.trace_id = Some(trace_id.into());
        self
    }
}
