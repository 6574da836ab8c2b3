//! Which text an answer gets: by status, by what is known of the operation, by whether the result is there.

use crate::answer::{Answer, Executed, Status};

/// What a text is for. The narrower case wins over the wider one.
///
/// ```
/// use counterfoil_core::answer::{Case, Executed, Status};
///
/// let every = Case::from(Status::AlreadyExists);
/// let done = Case::from((Status::AlreadyExists, Executed::Yes));
/// let done_and_shown = done.with_result();
/// assert!(Case::all().any(|case| case == done_and_shown));
/// # let _ = every;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Case {
    pub(super) status: Status,
    pub(super) executed: Option<Executed>,
    pub(super) result: Option<bool>,
}

impl Case {
    /// Narrows the case to answers that carry the result.
    #[must_use]
    pub const fn with_result(mut self) -> Self {
        self.result = Some(true);
        self
    }

    /// Narrows the case to answers without the result, such as one that was too large to keep.
    #[must_use]
    pub const fn without_result(mut self) -> Self {
        self.result = Some(false);
        self
    }

    /// The status.
    #[must_use]
    pub const fn status(self) -> Status {
        self.status
    }

    /// What is known of the operation; `None` stands for whatever it is.
    #[must_use]
    pub const fn executed(self) -> Option<Executed> {
        self.executed
    }

    /// Whether the result is there; `None` where the text is the same.
    #[must_use]
    pub const fn has_result(self) -> Option<bool> {
        self.result
    }

    /// Every case that has a text of its own, for whoever writes another language.
    pub fn all() -> impl Iterator<Item = Self> {
        Status::ALL.iter().flat_map(|&status| {
            status
                .possible_executed()
                .iter()
                .flat_map(move |&executed| {
                    let case = Self::from((status, executed));
                    if result_matters(status, executed) {
                        vec![case.with_result(), case.without_result()]
                    } else {
                        vec![case]
                    }
                })
        })
    }

    /// The cases that an answer falls under, the narrowest first.
    pub(super) fn of(answer: &Answer) -> [Self; 4] {
        let (status, executed) = (answer.status, Some(answer.executed));
        let result = Some(answer.result.is_some());
        [
            (executed, result),
            (executed, None),
            (None, result),
            (None, None),
        ]
        .map(|(executed, result)| Self {
            status,
            executed,
            result,
        })
    }
}

impl From<Status> for Case {
    fn from(status: Status) -> Self {
        Self {
            status,
            executed: None,
            result: None,
        }
    }
}

impl From<(Status, Executed)> for Case {
    fn from((status, executed): (Status, Executed)) -> Self {
        Self {
            status,
            executed: Some(executed),
            result: None,
        }
    }
}

/// Where a text speaks of the result, and must not when it is missing.
const fn result_matters(status: Status, executed: Executed) -> bool {
    match status {
        Status::Completed | Status::AlreadyCompleted | Status::AlreadyFailed => true,
        Status::AlreadyExists => matches!(executed, Executed::Yes),
        _ => false,
    }
}
