//! What a reply means: the handler's word, else the gRPC status.

use counterfoil_core::{
    engine::{Attempt, Disposition, Outcome},
    store::StoredResult,
};
use tonic::Code;

use crate::Failures;

/// The outcome of a reply that ended with `code`; `None` where no final status came.
pub(super) fn outcome(
    code: Option<Code>,
    attempt: &Attempt,
    failures: Failures,
    result: impl FnOnce() -> Option<StoredResult>,
) -> Outcome {
    let Some(code) = code else {
        // Whatever the word was: its caller can't have got the reply, and nobody else could.
        return Outcome::Unknown("the reply ended without a gRPC status");
    };
    match reading(code, attempt.declared(), attempt.is_clean(), failures) {
        Disposition::Done => Outcome::Done(result()),
        Disposition::Failed => Outcome::Failed(result()),
        Disposition::NotExecuted => Outcome::NotExecuted,
        _ => Outcome::Unknown("the gRPC status and the handler don't say what happened"),
    }
}

fn reading(code: Code, word: Option<Disposition>, clean: bool, failures: Failures) -> Disposition {
    if let Some(word) = word {
        return word;
    }
    match (code, failures) {
        (Code::Ok, _) => Disposition::Done,
        (_, Failures::ByWord) => Disposition::Unknown,
        (_, Failures::ByStatusWhileClean) if !clean => Disposition::Unknown,
        (Code::Unauthenticated | Code::PermissionDenied | Code::ResourceExhausted, _) => {
            Disposition::NotExecuted
        }
        (
            Code::InvalidArgument
            | Code::NotFound
            | Code::FailedPrecondition
            | Code::OutOfRange
            | Code::Unimplemented,
            _,
        ) => Disposition::Failed,
        // The others say nothing: a timeout, a conflict that may be with this very operation's effect, a fault.
        _ => Disposition::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes from 1 to 16 that are read as `wanted`.
    fn codes(wanted: Disposition, clean: bool, failures: Failures) -> Vec<i32> {
        (1..=16)
            .filter(|code| reading(Code::from(*code), None, clean, failures) == wanted)
            .collect()
    }

    #[test]
    fn only_ok_is_done_without_a_word() {
        for failures in [Failures::ByWord, Failures::ByStatusWhileClean] {
            assert_eq!(reading(Code::Ok, None, false, failures), Disposition::Done);
            assert_eq!(codes(Disposition::Done, true, failures), [] as [i32; 0]);
        }
    }

    #[test]
    fn an_error_without_a_word_leaves_doubt_unless_it_is_read_while_clean() {
        let by_status = Failures::ByStatusWhileClean;
        assert_eq!(
            codes(Disposition::Unknown, true, Failures::ByWord).len(),
            16
        );
        assert_eq!(codes(Disposition::Unknown, false, by_status).len(), 16);
        assert_eq!(codes(Disposition::NotExecuted, true, by_status), [7, 8, 16]);
        assert_eq!(
            codes(Disposition::Failed, true, by_status),
            [3, 5, 9, 11, 12]
        );
    }

    #[test]
    fn the_word_wins_over_every_code() {
        for word in [
            Disposition::Done,
            Disposition::Failed,
            Disposition::NotExecuted,
            Disposition::Unknown,
        ] {
            for code in 0..=16 {
                let read = reading(Code::from(code), Some(word), false, Failures::ByWord);
                assert_eq!(read, word);
            }
        }
    }
}
