//! From a text that was read strictly to the handler's type.
//!
//! The decoder is ours, over the reader's own lexer, and not `serde_json`'s: no feature that another crate switches on
//! there changes what is decoded, a double is read to the nearest, a fault is known by its kind and place rather than
//! by its text, and no error holds a value.
//!
//! - A member that the type doesn't take is refused and named, at every depth. But serde itself collects the members of
//!   flattened, untagged and internally tagged types before it asks for any: in those they are refused only where the type says
//!   `deny_unknown_fields`, and a fault is named by the container.
//! - A number that a float would hold as another one is refused, so that two amounts never become one. But what serde
//!   collects first, as above, it hands to a float without asking: declare amounts decimals there.
//! - Objects are objects: a struct is not read from an array.
//! - A map key that stands for a number has one spelling.
//! - Names that begin with `$serde_json::private::` are refused: `serde_json`'s own types take them for more than names.
//! - Members given twice are not looked for: [`super::Canonicalizer::read`] has refused them.

mod access;
mod error;
mod key;

use serde::de::{
    self, DeserializeOwned, Deserializer, Error as _, IgnoredAny, Unexpected, Visitor,
};

use self::{
    access::{Elements, Entries, EntryOfVariant, RawText},
    error::DecodeError,
};
use super::{
    MAX_DEPTH,
    error::{ParamsError, ParamsErrorKind},
    lexer::{Lexer, Token},
    number::Number,
    reserved::RAW_VALUE,
};

/// Decodes a value from the text that [`super::Members::to_text`] or [`super::Reading::Other`] gives.
///
/// # Errors
///
/// [`ParamsError`] with the pointer of the member that is unknown, missing, or of the wrong type or value.
///
/// ```
/// use counterfoil_core::params::{ParamsErrorKind, decode};
///
/// #[derive(Debug, serde::Deserialize)]
/// struct Transfer {
///     payee_id: String,
/// }
///
/// let error = decode::<Transfer>(r#"{"payee":"p1"}"#).expect_err("there is no member of that name");
/// assert_eq!(error.kind(), ParamsErrorKind::UnknownMember);
/// assert_eq!(error.field(), Some("/payee"));
/// # let _ = |t: Transfer| t.payee_id;
/// ```
pub fn decode<T: DeserializeOwned>(text: &str) -> Result<T, ParamsError> {
    let mut decoder = Decoder {
        lexer: Lexer::new(text),
        buffer: String::new(),
        depth: 0,
        skipping: false,
    };
    let value = T::deserialize(&mut decoder).map_err(DecodeError::into_params)?;
    decoder.lexer.end()?;
    Ok(value)
}

struct Decoder<'de> {
    lexer: Lexer<'de>,
    /// For strings with escapes.
    buffer: String,
    depth: usize,
    /// Inside a raw value, whose members nobody takes by name.
    skipping: bool,
}

impl<'de> Decoder<'de> {
    fn string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.lexer.string(&mut self.buffer)? {
            Token::Plain(text) => visitor.visit_borrowed_str(text),
            Token::Unescaped(text) => visitor.visit_str(text),
        }
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        let token = self.lexer.number()?;
        if let Ok(value) = token.parse::<u64>() {
            return visitor.visit_u64(value);
        }
        if let Ok(value) = token.parse::<i64>() {
            return visitor.visit_i64(value);
        }
        let exact = match Number::parse(token) {
            Some(number) => number?.is_lossless(),
            None => false,
        };
        match token.parse::<f64>() {
            Ok(value) if exact => visitor.visit_f64(value),
            _ => Err(lossy()),
        }
    }

    /// A number for a float, which takes an integer too: refused where `holds` says that the float would be another
    /// number. Else two amounts that are one float would be one hash.
    fn float<V: Visitor<'de>>(
        &mut self,
        holds: impl FnOnce(&Number<'_>) -> bool,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if let Some(b'-' | b'0'..=b'9') = self.lexer.peek()
            && let Some(number) = Number::parse(self.lexer.clone().number()?)
            && !holds(&number?)
        {
            return Err(lossy());
        }
        self.deserialize_any(visitor)
    }

    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        self.enter(b'{')?;
        let value = visitor.visit_map(Entries::new(self))?;
        self.leave(b'}')?;
        Ok(value)
    }

    fn array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        self.enter(b'[')?;
        let value = visitor.visit_seq(Elements::new(self))?;
        self.leave(b']')?;
        Ok(value)
    }

    fn enter(&mut self, bracket: u8) -> Result<(), DecodeError> {
        self.lexer.eat(bracket);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let error =
                ParamsError::new(ParamsErrorKind::TooDeep, "nested more than 64 levels deep");
            return Err(error.into());
        }
        Ok(())
    }

    fn leave(&mut self, bracket: u8) -> Result<(), DecodeError> {
        self.depth -= 1;
        if self.lexer.eat(bracket) {
            return Ok(());
        }
        Err(ParamsError::new(ParamsErrorKind::WrongType, "holds more than its type takes").into())
    }

    /// What stands here, for an error; the text of an error never says more.
    fn unexpected(&mut self) -> Unexpected<'static> {
        match self.lexer.peek() {
            Some(b'{') => Unexpected::Map,
            Some(b'[') => Unexpected::Seq,
            Some(b'"') => Unexpected::Str(""),
            Some(b't' | b'f') => Unexpected::Bool(false),
            Some(b'n') => Unexpected::Unit,
            _ => Unexpected::Unsigned(0),
        }
    }

    /// The text of the next value, whatever it is.
    fn raw(&mut self) -> Result<&'de str, DecodeError> {
        self.lexer.peek();
        let from = self.lexer.offset();
        let outer = std::mem::replace(&mut self.skipping, true);
        let skipped = self.deserialize_any(IgnoredAny);
        self.skipping = outer;
        skipped.map(|_| self.lexer.since(from))
    }
}

impl<'de> Deserializer<'de> for &mut Decoder<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.lexer.peek() {
            Some(b'{') => self.object(visitor),
            Some(b'[') => self.array(visitor),
            Some(b'"') => self.string(visitor),
            Some(b't') => {
                self.lexer.literal("true")?;
                visitor.visit_bool(true)
            }
            Some(b'f') => {
                self.lexer.literal("false")?;
                visitor.visit_bool(false)
            }
            Some(b'n') => {
                self.lexer.literal("null")?;
                visitor.visit_unit()
            }
            Some(b'-' | b'0'..=b'9') => self.number(visitor),
            _ => Err(self.lexer.error("expected a JSON value").into()),
        }
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.lexer.peek() {
            Some(b'-' | b'0'..=b'9') => match self.lexer.clone().number()?.parse() {
                Ok(value) => {
                    self.lexer.number()?;
                    visitor.visit_i128(value)
                }
                Err(_) => self.number(visitor),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.lexer.peek() {
            Some(b'0'..=b'9') => match self.lexer.clone().number()?.parse() {
                Ok(value) => {
                    self.lexer.number()?;
                    visitor.visit_u128(value)
                }
                Err(_) => self.number(visitor),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.float(|number| number.is_a_single(), visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.float(|number| number.is_a_double(), visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.lexer.peek() == Some(b'n') {
            self.lexer.literal("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if name == RAW_VALUE {
            return visitor.visit_map(RawText::new(self.raw()?));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.lexer.peek() {
            Some(b'{') => self.object(visitor),
            _ => Err(DecodeError::invalid_type(self.unexpected(), &"an object")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.lexer.peek() {
            Some(b'"') => {
                let token = self.lexer.string(&mut self.buffer)?;
                visitor.visit_enum(de::value::StrDeserializer::new(token.as_str()))
            }
            Some(b'{') => {
                self.enter(b'{')?;
                let value = visitor.visit_enum(EntryOfVariant::new(self))?;
                self.leave(b'}')?;
                Ok(value)
            }
            _ => Err(DecodeError::invalid_type(
                self.unexpected(),
                &"the name of a variant, or an object with that name",
            )),
        }
    }

    /// Serde asks for this where nobody takes the value.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.skipping {
            return self.deserialize_any(visitor);
        }
        Err(ParamsError::new(ParamsErrorKind::UnknownMember, error::UNKNOWN).into())
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct identifier
    }
}

fn lossy() -> DecodeError {
    let detail = "a number has more digits or range than its type holds";
    ParamsError::new(ParamsErrorKind::LossyNumber, detail).into()
}
