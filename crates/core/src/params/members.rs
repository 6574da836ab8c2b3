//! A body, read once and strictly, as members that parts can be taken from and joined to.

use std::{collections::BTreeMap, fmt};

use super::{
    error::{ParamsError, ParamsErrorKind},
    lexer::Lexer,
    pointer, text,
};

/// A body as [`super::Canonicalizer::read`] gives it.
#[derive(Clone)]
#[non_exhaustive]
pub enum Reading {
    /// A JSON object.
    Object(Members),
    /// Any other JSON value, as its canonical text.
    Other(String),
}

/// The members of a body's top-level object, in canonical order, each with the canonical text of its value.
///
/// Decimals are in their normal form; nulls are kept and nothing is ignored. What [`Members::to_text`] gives is decoded
/// by the handler's type: exactly what was read, so that no parser with other rules ever sees the bytes.
///
/// ```
/// use counterfoil_core::params::{Canonicalizer, ParamsPolicy, Reading};
///
/// let mut canonicalizer = Canonicalizer::new(&ParamsPolicy::default().compile()?);
/// let Reading::Object(mut members) = canonicalizer.read(br#"{"to":"a","fingerprint":"fp1.x"}"#)? else {
///     panic!("an object was sent");
/// };
/// assert_eq!(members.take_string("fingerprint"), Some(Ok("fp1.x".to_owned())));
/// members.join("account", "acc-1")?;
/// assert_eq!(members.to_text(), r#"{"account":"acc-1","to":"a"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Members {
    /// Of the body: sorted by name, in UTF-16 order, no name twice.
    entries: Vec<(String, String)>,
    /// From elsewhere, none of them in the body. Apart from those, so that many of both are joined in no time.
    joined: BTreeMap<String, String>,
}

/// A param that was given in two places.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the param {name:?} is given in two places; send it once")]
pub struct Twice {
    name: String,
}

impl Members {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn of<'a>(sorted: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        Self {
            entries: sorted
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            joined: BTreeMap::new(),
        }
    }

    /// Whether a member of this name is there, even if it is null.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_ok() || self.joined.contains_key(name)
    }

    /// The names, in canonical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sorted().into_iter().map(|(name, _)| name)
    }

    /// Takes a member out, and gives the canonical text of its value.
    pub fn take(&mut self, name: &str) -> Option<String> {
        match self.find(name) {
            Ok(at) => Some(self.entries.remove(at).1),
            Err(_) => self.joined.remove(name),
        }
    }

    /// Takes a member out that must be a string, and gives that string.
    ///
    /// # Errors
    ///
    /// [`ParamsErrorKind::WrongType`] if it is anything else, null too.
    pub fn take_string(&mut self, name: &str) -> Option<Result<String, ParamsError>> {
        self.take(name).map(|value| {
            string_of(&value).ok_or_else(|| {
                let error = ParamsError::new(ParamsErrorKind::WrongType, "expected a string");
                error.in_field(|| {
                    let mut field = String::new();
                    pointer::push_token(&mut field, name);
                    field
                })
            })
        })
    }

    /// Joins a value from the path or the query, as a JSON string.
    ///
    /// # Errors
    ///
    /// [`Twice`] if a member of this name is there; nothing is changed then.
    pub fn join(&mut self, name: &str, value: &str) -> Result<(), Twice> {
        if self.contains(name) {
            return Err(Twice {
                name: name.to_owned(),
            });
        }
        let mut text = String::with_capacity(value.len() + 2);
        text::push_string(&mut text, value);
        self.joined.insert(name.to_owned(), text);
        Ok(())
    }

    /// The canonical text of the object that the members make.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::from("{");
        for (i, (name, value)) in self.sorted().into_iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            text::push_string(&mut out, name);
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
        out
    }

    /// All of them, in canonical order.
    fn sorted(&self) -> Vec<(&str, &str)> {
        let all = self.entries.iter().map(|(name, value)| (name, value));
        let mut all: Vec<(&str, &str)> = all
            .chain(&self.joined)
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        if !self.joined.is_empty() {
            all.sort_by(|(a, _), (b, _)| text::utf16_order(a, b));
        }
        all
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.entries
            .binary_search_by(|(member, _)| text::utf16_order(member, name))
    }
}

impl Twice {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The names; never the values.
impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// The names of an object's members; never a value.
impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(members) => f.debug_tuple("Object").field(members).finish(),
            Self::Other(_) => f.write_str("Other(…)"),
        }
    }
}

fn string_of(text: &str) -> Option<String> {
    let mut lexer = Lexer::new(text);
    if lexer.peek() != Some(b'"') {
        return None;
    }
    let mut buffer = String::new();
    let token = lexer.string(&mut buffer).ok()?;
    Some(token.as_str().to_owned())
}
