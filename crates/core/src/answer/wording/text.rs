//! One text: a meaning and an instruction, with placeholders for typed values.

use std::borrow::Cow;

use crate::answer::Answer;

/// What a text says and asks for. Checked when it is made, so that an answer can't fail on it.
///
/// Placeholders, which stand in braces: `{operation_id}`; `{poll_after}`, whole seconds; `{poll_with}`, the name of the
/// tool or endpoint that tells the status. There is none for anything that came from a request, a handler or an error:
/// a model reads these texts as instructions.
///
/// ```
/// use counterfoil_core::answer::Text;
///
/// assert!(Text::new("It runs.", "Wait {poll_after} s.").is_ok());
/// assert!(Text::new("It runs.", "Wait {delay} s.").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    meaning: Cow<'static, str>,
    instruction: Cow<'static, str>,
}

impl Text {
    /// Checks a meaning (what happened) and an instruction (the one thing to do next).
    ///
    /// # Errors
    ///
    /// [`InvalidText`] for an empty text, an unknown placeholder, or a brace that belongs to none.
    pub fn new(
        meaning: impl Into<Cow<'static, str>>,
        instruction: impl Into<Cow<'static, str>>,
    ) -> Result<Self, InvalidText> {
        let text = Self {
            meaning: meaning.into(),
            instruction: instruction.into(),
        };
        check(&text.meaning)?;
        check(&text.instruction)?;
        Ok(text)
    }

    /// What happened.
    #[must_use]
    pub fn meaning(&self) -> &str {
        &self.meaning
    }

    /// The one thing to do next.
    #[must_use]
    pub fn instruction(&self) -> &str {
        &self.instruction
    }
}

/// A text that can't be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidText {
    /// Nothing is said.
    #[error("a text must say something")]
    Empty,
    /// A placeholder that doesn't exist.
    #[error(
        "`{{{0}}}` is no placeholder; there are {{operation_id}}, {{poll_after}} and {{poll_with}}"
    )]
    UnknownPlaceholder(String),
    /// A brace without its partner.
    #[error("a brace stands alone; braces enclose placeholders only")]
    LoneBrace,
}

/// A piece of a text.
enum Piece<'a> {
    Plain(&'a str),
    Placeholder(&'a str),
}

/// Fills the placeholders in.
pub(super) fn fill(text: &str, answer: &Answer, poll_with: &str) -> String {
    let mut out = String::with_capacity(text.len() + 36);
    let mut rest = text;
    // Checked when the text was made; were a piece wrong all the same, it would stand as it is.
    while let Ok(Some((piece, tail))) = next_piece(rest) {
        match piece {
            Piece::Plain(plain) => out.push_str(plain),
            Piece::Placeholder("poll_with") => out.push_str(poll_with),
            Piece::Placeholder("poll_after") => out.push_str(&whole_seconds(answer).to_string()),
            Piece::Placeholder(_) => match answer.operation_id {
                Some(id) => out.push_str(&id.to_string()),
                None => out.push('?'),
            },
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// The waiting time in seconds, rounded up and never 0: a model told to wait 0 s asks in a loop.
fn whole_seconds(answer: &Answer) -> u64 {
    let wait = answer.poll_after.unwrap_or_default();
    let up = u64::from(wait.subsec_nanos() > 0);
    wait.as_secs().saturating_add(up).max(1)
}

fn check(text: &str) -> Result<(), InvalidText> {
    if text.trim().is_empty() {
        return Err(InvalidText::Empty);
    }
    let mut rest = text;
    while let Some((piece, tail)) = next_piece(rest)? {
        if let Piece::Placeholder(name) = piece
            && !["operation_id", "poll_after", "poll_with"].contains(&name)
        {
            return Err(InvalidText::UnknownPlaceholder(name.to_owned()));
        }
        rest = tail;
    }
    Ok(())
}

/// The next piece and what follows it; `None` at the end.
fn next_piece(text: &str) -> Result<Option<(Piece<'_>, &str)>, InvalidText> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.find(['{', '}']) {
        None => Ok(Some((Piece::Plain(text), ""))),
        Some(0) => {
            let (name, tail) = text
                .strip_prefix('{')
                .and_then(|inner| inner.split_once('}'))
                .filter(|(name, _)| !name.contains('{'))
                .ok_or(InvalidText::LoneBrace)?;
            Ok(Some((Piece::Placeholder(name), tail)))
        }
        Some(at) => Ok(Some((Piece::Plain(&text[..at]), &text[at..]))),
    }
}
