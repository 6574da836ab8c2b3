//! What a response means: the handler's word, else the status.

use counterfoil_core::engine::{Disposition, Outcome};
use counterfoil_core::store::StoredResult;
use http::StatusCode;

/// How a response without the handler's word counts if its status is no success.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Failures {
    /// Only the handler's word can say that nothing happened; a status alone leaves the outcome unknown. A proxy, a
    /// client library or a `?` may have made it after the effect.
    #[default]
    ByWord,
    /// While the attempt is clean (no downstream key taken, no effect started, no provider reference set), 401, 403,
    /// 425 and 429 release the operation, and every other 4xx but 408 and 409 fails it for good. For handlers that
    /// tell every effect to their [`Attempt`](counterfoil_core::engine::Attempt) first.
    ByStatusWhileClean,
}

/// What a 202 means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Accepted {
    /// The work was handed on and its receipt is outstanding.
    #[default]
    Outstanding,
    /// Being accepted is the effect: the operation is done.
    IsTheEffect,
}

/// What the first caller gets where its call left the outcome unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Doubt {
    /// The handler's own response, whatever it says; `Counterfoil-Status: outcome_unknown` stands beside it.
    #[default]
    Response,
    /// The answer that every retry gets. For callers that are models: they obey what a body says, and a bare 500 or a
    /// "please try again" reads as leave to begin anew.
    Answer,
}

/// The reading of one response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    Done,
    Failed,
    Accepted,
    NotExecuted,
    Unknown,
}

/// Reads a response. The word wins over the status.
pub(super) fn meaning(
    status: StatusCode,
    word: Option<Disposition>,
    clean: bool,
    failures: Failures,
    accepted: Accepted,
) -> Meaning {
    match word {
        Some(Disposition::Done) => return Meaning::Done,
        Some(Disposition::Failed) => return Meaning::Failed,
        Some(Disposition::NotExecuted) => return Meaning::NotExecuted,
        // A word of a later version that we don't know leaves doubt, as the word for it does.
        Some(_) => return Meaning::Unknown,
        None => {}
    }
    match (status.as_u16(), failures) {
        (200 | 201 | 203..=206 | 303, _) => Meaning::Done,
        (202, _) => match accepted {
            Accepted::Outstanding => Meaning::Accepted,
            Accepted::IsTheEffect => Meaning::Done,
        },
        (_, Failures::ByWord) => Meaning::Unknown,
        (_, Failures::ByStatusWhileClean) if !clean => Meaning::Unknown,
        (401 | 403 | 425 | 429, Failures::ByStatusWhileClean) => Meaning::NotExecuted,
        // 408: a timeout says nothing. 409: the conflict may be with this very operation's effect.
        (408 | 409, Failures::ByStatusWhileClean) => Meaning::Unknown,
        (400..=499, Failures::ByStatusWhileClean) => Meaning::Failed,
        _ => Meaning::Unknown,
    }
}

impl Meaning {
    /// The outcome, with the captured response where a result is kept.
    pub(super) fn outcome(self, result: impl FnOnce() -> Option<StoredResult>) -> Outcome {
        match self {
            Self::Done => Outcome::Done(result()),
            Self::Failed => Outcome::Failed(result()),
            Self::Accepted => Outcome::Accepted(result()),
            Self::NotExecuted => Outcome::NotExecuted,
            Self::Unknown => {
                Outcome::Unknown("the response's status and the handler don't say what happened")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every final status, read without a word.
    fn readings(clean: bool, failures: Failures, accepted: Accepted) -> Vec<(u16, Meaning)> {
        (200..600)
            .map(|code| {
                let status = StatusCode::from_u16(code).unwrap();
                (code, meaning(status, None, clean, failures, accepted))
            })
            .collect()
    }

    const DONE: [u16; 7] = [200, 201, 203, 204, 205, 206, 303];

    #[test]
    fn without_a_word_only_a_success_says_what_happened() {
        for clean in [true, false] {
            for (code, read) in readings(clean, Failures::ByWord, Accepted::Outstanding) {
                let expected = match code {
                    _ if DONE.contains(&code) => Meaning::Done,
                    202 => Meaning::Accepted,
                    _ => Meaning::Unknown,
                };
                assert_eq!(read, expected, "{code}, clean: {clean}");
            }
        }
    }

    #[test]
    fn by_status_a_clean_attempt_is_released_or_fails() {
        for (code, read) in readings(true, Failures::ByStatusWhileClean, Accepted::Outstanding) {
            let expected = match code {
                _ if DONE.contains(&code) => Meaning::Done,
                202 => Meaning::Accepted,
                401 | 403 | 425 | 429 => Meaning::NotExecuted,
                408 | 409 => Meaning::Unknown,
                _ if (400..500).contains(&code) => Meaning::Failed,
                _ => Meaning::Unknown,
            };
            assert_eq!(read, expected, "{code}");
        }
    }

    #[test]
    fn by_status_a_dirty_attempt_is_in_doubt() {
        assert_eq!(
            readings(false, Failures::ByStatusWhileClean, Accepted::Outstanding),
            readings(false, Failures::ByWord, Accepted::Outstanding)
        );
    }

    #[test]
    fn where_being_accepted_is_the_effect_202_is_done() {
        for failures in [Failures::ByWord, Failures::ByStatusWhileClean] {
            let read = meaning(
                StatusCode::ACCEPTED,
                None,
                true,
                failures,
                Accepted::IsTheEffect,
            );
            assert_eq!(read, Meaning::Done);
        }
    }

    #[test]
    fn the_word_wins_over_every_status() {
        let words = [
            (Disposition::Done, Meaning::Done),
            (Disposition::Failed, Meaning::Failed),
            (Disposition::NotExecuted, Meaning::NotExecuted),
            (Disposition::Unknown, Meaning::Unknown),
        ];
        for code in 200..600 {
            let status = StatusCode::from_u16(code).unwrap();
            for failures in [Failures::ByWord, Failures::ByStatusWhileClean] {
                for (word, expected) in words {
                    for clean in [true, false] {
                        let accepted = Accepted::Outstanding;
                        let read = meaning(status, Some(word), clean, failures, accepted);
                        assert_eq!(read, expected, "{code} {word:?}");
                    }
                }
            }
        }
    }
}
