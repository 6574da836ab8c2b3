//! What is wrong with params, said without their values.

use std::{borrow::Cow, fmt};

/// Params that can't be read, decoded or hashed.
///
/// It names the field by JSON pointer where one is known, and never holds a value of the input, which may be a
/// secret: only names of members, positions and what would have been accepted. Names are cut at
/// [`ParamsError::MAX_FIELD`] bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct ParamsError {
    kind: ParamsErrorKind,
    field: Option<Box<str>>,
    offset: Option<usize>,
    detail: Cow<'static, str>,
}

/// The kinds of [`ParamsError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParamsErrorKind {
    /// Not one RFC 8259 JSON text in UTF-8. [`ParamsError::offset`] says where.
    Syntax,
    /// A member name stands twice in one object.
    DuplicateMember,
    /// More nested containers than [`super::MAX_DEPTH`].
    TooDeep,
    /// The text, or its canonical form, is longer than the policy allows.
    TooLarge,
    /// A number token is too long, or its written exponent too large.
    NumberTooLong,
    /// Readers with 64-bit integers and doubles would execute another number than the one written.
    LossyNumber,
    /// NaN or an infinity.
    NotFinite,
    /// A declared decimal field holds something that isn't a decimal of a sane length.
    InvalidDecimal,
    /// A value or map key that JSON has no exact form for: bytes, a float as a key, a container as a key.
    Unsupported,
    /// The value's own `Serialize` failed.
    Serialize,
    /// A member that the params don't have.
    UnknownMember,
    /// A member that the params must have.
    MissingMember,
    /// A value of another type than the params have there.
    WrongType,
    /// A value of the right type that the params don't accept.
    InvalidValue,
}

impl ParamsErrorKind {
    /// The kind in one word, as an answer's `reason` has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::DuplicateMember => "duplicate_member",
            Self::TooDeep => "too_deep",
            Self::TooLarge => "too_large",
            Self::NumberTooLong => "number_too_long",
            Self::LossyNumber => "lossy_number",
            Self::NotFinite => "not_finite",
            Self::InvalidDecimal => "invalid_decimal",
            Self::Unsupported => "unsupported",
            Self::Serialize => "serialize",
            Self::UnknownMember => "unknown_member",
            Self::MissingMember => "missing_member",
            Self::WrongType => "wrong_type",
            Self::InvalidValue => "invalid_value",
        }
    }
}

impl ParamsError {
    /// The longest pointer that [`ParamsError::field`] gives, in bytes; a longer one is cut and ends in `…`.
    pub const MAX_FIELD: usize = 256;

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> ParamsErrorKind {
        self.kind
    }

    /// The field, as a JSON pointer (RFC 6901), where one is known. The empty pointer is the whole of the params.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// For [`ParamsErrorKind::Syntax`], the byte of the input at which reading stopped, from 0.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }

    pub(super) fn new(kind: ParamsErrorKind, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            field: None,
            offset: None,
            detail: detail.into(),
        }
    }

    pub(super) fn syntax(offset: usize, detail: &'static str) -> Self {
        Self {
            offset: Some(offset),
            ..Self::new(ParamsErrorKind::Syntax, detail)
        }
    }

    pub(super) fn without_offset(self) -> Self {
        Self {
            offset: None,
            ..self
        }
    }

    /// Names the field, unless a more exact place is named already.
    pub(super) fn in_field(mut self, pointer: impl FnOnce() -> String) -> Self {
        if self.field.is_none() {
            self.field = Some(cut(pointer()).into_boxed_str());
        }
        self
    }
}

/// One clear sentence that a model can act on: the field, the fault, and what would be accepted.
impl fmt::Display for ParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_deref() {
            // A name may hold control characters, which must not reach a terminal or a prompt as they are.
            Some(field) if !field.is_empty() => write!(f, "param {}: ", field.escape_debug())?,
            _ => f.write_str("params: ")?,
        }
        f.write_str(&self.detail)?;
        match self.offset {
            Some(offset) => write!(f, " (at byte {offset})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for ParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParamsError")
            .field("kind", &self.kind)
            .field("field", &self.field)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for ParamsError {}

/// The message is dropped: a type's own `Serialize` may have put a value into it.
impl serde::ser::Error for ParamsError {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self::new(
            ParamsErrorKind::Serialize,
            "the value refused to be serialized",
        )
    }
}

fn cut(mut pointer: String) -> String {
    if pointer.len() > ParamsError::MAX_FIELD {
        let mark = '…';
        pointer.truncate(pointer.floor_char_boundary(ParamsError::MAX_FIELD - mark.len_utf8()));
        pointer.push(mark);
    }
    pointer
}
