//! A request that is refused before anything is claimed.

use counterfoil_core::answer::Answer;
use http::StatusCode;

/// An answer, and the HTTP status where it is not that of the table.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(super) answer: Box<Answer>,
    pub(super) http: Option<StatusCode>,
}

impl Refusal {
    /// Under another status than the table's.
    pub(crate) fn with_http(answer: Answer, http: StatusCode) -> Self {
        Self {
            answer: Box::new(answer),
            http: Some(http),
        }
    }
}

impl From<Answer> for Refusal {
    fn from(answer: Answer) -> Self {
        Self {
            answer: Box::new(answer),
            http: None,
        }
    }
}
