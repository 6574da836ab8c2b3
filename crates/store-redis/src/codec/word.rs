//! What somebody said of an operation: the owner of its run, downstream, a reconciler, a caller who calls it off.

use counterfoil_core::{
    Subject, Timestamp,
    lifecycle::{Ending, State},
    store::{Completion, StoredResult},
};

use super::{
    bytes::{Reader, Unreadable, Write},
    fields::{read_result, read_state, read_subject, state_number, write_result, write_subject},
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

    /// Lua reads as far as the deadline: state, result with its length, flags, deadline where there is one.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut result = Vec::new();
        write_result(&mut result, self.result.as_ref());
        let flags = [
            (HAS_RESULT, self.has_result),
            (ENDS_DOUBT, self.ends_doubt),
            (REASON, self.reason.is_some()),
            (BY, self.by.is_some()),
            (RESULT_REF, self.result_ref.is_some()),
            (DEADLINE, self.deadline.is_some()),
        ];
        let flags = flags.iter().filter(|(_, set)| *set);

        let mut bytes = Vec::with_capacity(result.len() + 48);
        bytes.u8(state_number(self.state));
        bytes.bytes_u32(&result);
        bytes.u8(flags.map(|(flag, _)| flag).sum());
        if let Some(deadline) = self.deadline {
            bytes.time(deadline);
        }
        if let Some(reason) = &self.reason {
            bytes.bytes_u32(reason.as_bytes());
        }
        if let Some(by) = &self.by {
            write_subject(&mut bytes, by);
        }
        if let Some(result_ref) = &self.result_ref {
            bytes.bytes_u32(result_ref.as_bytes());
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        let mut reader = Reader::new(bytes);
        let state = read_state(&mut reader)?;
        let result = read_result(Reader::new(reader.bytes_u32()?))?;
        let flags = reader.u8()?;
        if flags & !(HAS_RESULT | ENDS_DOUBT | REASON | BY | RESULT_REF | DEADLINE) != 0 {
            return Err(Unreadable);
        }
        let has = |flag| flags & flag != 0;
        let text = |reader: &mut Reader<'_>| reader.text().map(str::to_owned);
        let word = Self {
            state,
            result,
            has_result: has(HAS_RESULT),
            ends_doubt: has(ENDS_DOUBT),
            deadline: has(DEADLINE).then(|| reader.time()).transpose()?,
            reason: has(REASON).then(|| text(&mut reader)).transpose()?,
            by: has(BY).then(|| read_subject(&mut reader)).transpose()?,
            result_ref: has(RESULT_REF).then(|| text(&mut reader)).transpose()?,
        };
        reader.end()?;
        Ok(word)
    }
}

const HAS_RESULT: u8 = 1;
const ENDS_DOUBT: u8 = 2;
const REASON: u8 = 4;
const BY: u8 = 8;
const RESULT_REF: u8 = 16;
/// The highest, which Lua tells by comparing.
const DEADLINE: u8 = 32;
