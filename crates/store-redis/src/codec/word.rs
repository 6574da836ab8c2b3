//! What somebody said of an operation: the owner of its run, downstream, a reconciler, a caller who calls it off.

use counterfoil_core::{
    Subject, Timestamp,
    lifecycle::{Ending, State},
    store::{Completion, StoredResult},
};

use super::{
    bytes::{Reader, Unreadable, Write},
    fields::{
        read_result, read_state, read_subject, read_text, state_number, write_result,
        write_subject, write_text,
    },
};

/// A statement that vouches for the state that it leads to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Word {
    pub(crate) state: State,
    /// When a receipt is overdue.
    pub(crate) deadline: Option<Timestamp>,
    /// Whether [`result`](Self::result) is the record's, also where it is none. Without it an acceptance's stays.
    pub(crate) has_result: bool,
    pub(crate) result: Option<StoredResult>,
    /// Whether it ended the doubt that a takeover left.
    pub(crate) ends_doubt: bool,
    pub(crate) reason: Option<String>,
    pub(crate) by: Option<Subject>,
    /// The document's number, if this word brought one.
    pub(crate) result_ref: Option<String>,
}

impl Word {
    /// A state, and nothing more said.
    pub(crate) const fn new(state: State) -> Self {
        Self {
            state,
            deadline: None,
            has_result: false,
            result: None,
            ends_doubt: false,
            reason: None,
            by: None,
            result_ref: None,
        }
    }

    /// It may have happened or not.
    pub(crate) fn doubt(reason: &str) -> Self {
        Self {
            reason: Some(reason.to_owned()),
            ..Self::new(State::Unknown)
        }
    }

    /// How it ended, with what every retry gets.
    pub(crate) fn ended(
        ending: Ending,
        result: Option<StoredResult>,
        result_ref: Option<String>,
    ) -> Self {
        Self {
            has_result: true,
            result,
            result_ref,
            ..Self::new(ending.state())
        }
    }

    /// What an owner says; `None` for a way to end that this crate doesn't know.
    pub(crate) fn of(completion: &Completion) -> Option<Self> {
        match completion {
            Completion::Ended {
                ending,
                result,
                result_ref,
            } => Some(Self::ended(*ending, result.clone(), result_ref.clone())),
            Completion::Accepted {
                deadline,
                result,
                result_ref,
            } => Some(Self {
                deadline: *deadline,
                has_result: true,
                result: result.clone(),
                result_ref: result_ref.clone(),
                ..Self::new(State::Accepted)
            }),
            Completion::Unknown { reason } => Some(Self::doubt(reason)),
            _ => None,
        }
    }

    /// The completion that this word is, if an owner said it.
    pub(crate) fn into_completion(self) -> Option<Completion> {
        let ending = match self.state {
            State::Done => Ending::Done,
            State::Failed => Ending::Failed,
            State::Accepted => {
                return Some(Completion::Accepted {
                    deadline: self.deadline,
                    result: self.result,
                    result_ref: self.result_ref,
                });
            }
            State::Unknown => {
                return self.reason.map(|reason| Completion::Unknown { reason });
            }
            _ => return None,
        };
        Some(Completion::Ended {
            ending,
            result: self.result,
            result_ref: self.result_ref,
        })
    }

    /// Lua reads the first fields, up to the result: state, deadline in nine bytes, result with its length.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut result = Vec::new();
        write_result(&mut result, self.result.as_ref());
        let mut bytes = Vec::with_capacity(result.len() + 48);
        bytes.u8(state_number(self.state));
        bytes.flag(self.deadline.is_some());
        bytes.time(self.deadline.unwrap_or(Timestamp::from_unix_ms(0)));
        bytes.bytes_u32(&result);
        bytes.flag(self.has_result);
        bytes.flag(self.ends_doubt);
        write_text(&mut bytes, self.reason.as_deref());
        write_subject(&mut bytes, self.by.as_ref());
        write_text(&mut bytes, self.result_ref.as_deref());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        let mut reader = Reader::new(bytes);
        let state = read_state(&mut reader)?;
        let due = reader.flag()?;
        let deadline = reader.time()?;
        let result = read_result(Reader::new(reader.bytes_u32()?))?;
        let word = Self {
            state,
            deadline: due.then_some(deadline),
            result,
            has_result: reader.flag()?,
            ends_doubt: reader.flag()?,
            reason: read_text(&mut reader)?,
            by: read_subject(&mut reader)?,
            result_ref: read_text(&mut reader)?,
        };
        reader.end()?;
        Ok(word)
    }
}
