//! Serde's faults by their kind, with the way to the field, and without values.

use std::{
    borrow::Cow,
    fmt::{self, Write},
};

use serde::de::{self, Expected, Unexpected};

use super::super::{
    error::{ParamsError, ParamsErrorKind},
    pointer,
};

pub(super) const UNKNOWN: &str = "there is no param of this name; leave it out or correct the name";

/// A fault on its way out of the containers that it is in.
#[derive(Debug)]
pub(super) struct DecodeError {
    error: ParamsError,
    /// Innermost first.
    path: Vec<String>,
}

impl DecodeError {
    fn new(kind: ParamsErrorKind, detail: impl Into<Cow<'static, str>>) -> Self {
        ParamsError::new(kind, detail).into()
    }

    /// The same fault, seen from the container of the member or element.
    pub(super) fn under(mut self, token: impl Into<String>) -> Self {
        self.path.push(token.into());
        self
    }

    pub(super) fn into_params(self) -> ParamsError {
        let Self { error, path } = self;
        error.in_field(|| {
            let mut field = String::new();
            for token in path.iter().rev() {
                pointer::push_token(&mut field, token);
            }
            field
        })
    }
}

impl From<ParamsError> for DecodeError {
    fn from(error: ParamsError) -> Self {
        Self {
            error,
            path: Vec::new(),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for DecodeError {}

/// What is expected is the type author's text; what was found is named by its type only.
impl de::Error for DecodeError {
    /// The message is dropped: a type's own `Deserialize` likes to quote the value in it.
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self::new(
            ParamsErrorKind::InvalidValue,
            "the value is not one that this param accepts",
        )
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = type_of(unexpected);
        let detail = format!("expected {expected}, found {found}");
        Self::new(ParamsErrorKind::WrongType, detail)
    }

    fn invalid_value(_unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(
            ParamsErrorKind::InvalidValue,
            format!("expected {expected}"),
        )
    }

    fn invalid_length(_len: usize, expected: &dyn Expected) -> Self {
        Self::new(
            ParamsErrorKind::InvalidValue,
            format!("expected {expected}"),
        )
    }

    fn unknown_variant(_variant: &str, expected: &'static [&'static str]) -> Self {
        let detail = format!("expected {}", one_of(expected));
        Self::new(ParamsErrorKind::InvalidValue, detail)
    }

    fn unknown_field(field: &str, _expected: &'static [&'static str]) -> Self {
        Self::new(ParamsErrorKind::UnknownMember, UNKNOWN).under(field)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(ParamsErrorKind::MissingMember, "is missing; send it").under(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(
            ParamsErrorKind::DuplicateMember,
            "is given twice; send it once",
        )
        .under(field)
    }
}

fn type_of(unexpected: Unexpected<'_>) -> &'static str {
    match unexpected {
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
        Unexpected::Char(_) | Unexpected::Str(_) => "a string",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "an array",
        Unexpected::Map => "an object",
        _ => "something else",
    }
}

fn one_of(names: &[&str]) -> String {
    let mut text = String::from("one of");
    for (i, name) in names.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        // Writing into a String cannot fail.
        let _ = write!(text, "{comma} {name:?}");
    }
    text
}
