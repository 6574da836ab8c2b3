//! What an answer says, in a language.
//!
//! A model acts on these texts, so they say three things and no more: whether the operation happened, whether calling
//! again changes anything, and the one next step. They are fixed, with placeholders for typed values only; nothing that
//! came from a request, a handler or an error can get into them. Each can be replaced.
//!
//! Where an idempotency key names the operation, [`Wording::for_keys`] has texts that speak of keys in the place of
//! previews and fingerprints.

mod case;
mod chinese;
mod chinese_keys;
mod english;
mod english_keys;
mod text;
mod texts;
mod titles;

#[cfg(test)]
mod tests;

use std::{borrow::Cow, collections::BTreeMap};

use super::{Answer, Status};
use crate::OperationId;
use texts::{PollWith, Texts};

pub use case::Case;
pub use text::{InvalidText, Text};

/// The words of a service's answers: a language, the texts that replace some of it, and what the status is asked with.
///
/// ```
/// use counterfoil_core::answer::{Answer, Status, Text, Wording};
///
/// let text = Text::new("Die Überweisung läuft.", "Warte {poll_after} s, dann frage mit {poll_with}.")?;
/// let wording = Wording::english()
///     .with_text(Status::InProgress, text)
///     .with_poll_with("transfer_status");
/// let said = wording.say(&Answer::new(Status::InProgress));
/// assert_eq!(said.instruction, "Warte 2 s, dann frage mit transfer_status.");
/// # Ok::<(), counterfoil_core::answer::InvalidText>(())
/// ```
#[derive(Clone, Debug)]
pub struct Wording {
    built_in: &'static Texts,
    built_in_for_keys: &'static Texts,
    replaced: BTreeMap<Case, Text>,
    titles: BTreeMap<Status, Cow<'static, str>>,
    poll_with: Option<Cow<'static, str>>,
    poll_path: Option<Cow<'static, str>>,
}

/// An answer's texts, filled in.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Said {
    /// What happened.
    pub meaning: String,
    /// The one thing to do next.
    pub instruction: String,
}

impl Wording {
    /// The name of the status tool where none is configured. [For keys](Self::for_keys) there is none then: a program has
    /// no tools, and its texts say to ask with the id or the key.
    pub const POLL_WITH: &'static str = "get_operation";

    /// English.
    #[must_use]
    pub const fn english() -> Self {
        Self::new(&english::TEXTS, &english_keys::KEY_TEXTS)
    }

    /// Chinese, in simplified characters.
    #[must_use]
    pub const fn chinese() -> Self {
        Self::new(&chinese::TEXTS, &chinese_keys::KEY_TEXTS)
    }

    /// Replaces a text: a [`Status`](super::Status) for all its cases, or a narrower [`Case`]. The narrower of two
    /// replacements wins, and any replacement wins over what is built in.
    #[must_use]
    pub fn with_text(mut self, case: impl Into<Case>, text: Text) -> Self {
        self.replaced.insert(case.into(), text);
        self
    }

    /// Replaces the title of a status in problem details: a short one, the same whenever it is told.
    #[must_use]
    pub fn with_title(mut self, status: Status, title: impl Into<Cow<'static, str>>) -> Self {
        self.titles.insert(status, title.into());
        self
    }

    /// The title of a status in problem details.
    #[must_use]
    pub fn title(&self, status: Status) -> &str {
        match self.titles.get(&status) {
            Some(title) => title,
            None => (self.built_in.title)(status),
        }
    }

    /// The same words for callers that send idempotency keys: built-in texts that would speak of previews and fingerprints
    /// speak of keys. Replacements stay.
    #[must_use]
    pub fn for_keys(mut self) -> Self {
        self.built_in = self.built_in_for_keys;
        self
    }

    /// Names the tool or endpoint that tells an operation's status. It stands in instructions: a constant of the
    /// service, never anything from a request.
    #[must_use]
    pub fn with_poll_with(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.poll_with = Some(name.into());
        self
    }

    /// Adds `poll_path` to answers that are to be polled: this prefix, such as `/v1/operations/`, and the operation id.
    #[must_use]
    pub fn with_poll_path(mut self, prefix: impl Into<Cow<'static, str>>) -> Self {
        self.poll_path = Some(prefix.into());
        self
    }

    /// Says an answer.
    #[must_use]
    pub fn say(&self, answer: &Answer) -> Said {
        let replaced = Case::of(answer)
            .iter()
            .find_map(|case| self.replaced.get(case));
        let (meaning, instruction) = match replaced {
            Some(text) => (text.meaning(), text.instruction()),
            None => {
                let has_result = answer.result.is_some();
                let say = self
                    .built_in
                    .pick(answer.status, answer.executed, has_result);
                (say.meaning, say.instruction)
            }
        };
        let poll_with = match (self.poll_with.as_deref(), self.built_in.poll_with) {
            (Some(name), _) | (None, PollWith::Tool(name) | PollWith::Words(name)) => name,
        };
        Said {
            meaning: text::fill(meaning, answer, poll_with),
            instruction: text::fill(instruction, answer, poll_with),
        }
    }

    /// The name of the status tool, if there is one.
    #[must_use]
    pub fn poll_with(&self) -> Option<&str> {
        match (&self.poll_with, self.built_in.poll_with) {
            (Some(name), _) => Some(name),
            (None, PollWith::Tool(name)) => Some(name),
            (None, PollWith::Words(_)) => None,
        }
    }

    /// Where the status of an operation is asked for, if a path is configured.
    #[must_use]
    pub fn poll_path(&self, id: OperationId) -> Option<String> {
        self.poll_path
            .as_ref()
            .map(|prefix| format!("{prefix}{id}"))
    }

    const fn new(built_in: &'static Texts, for_keys: &'static Texts) -> Self {
        Self {
            built_in,
            built_in_for_keys: for_keys,
            replaced: BTreeMap::new(),
            titles: BTreeMap::new(),
            poll_with: None,
            poll_path: None,
        }
    }
}

/// English.
impl Default for Wording {
    fn default() -> Self {
        Self::english()
    }
}
