//! What serde walks: members, elements, variants, and the text of a raw value.

use std::borrow::Cow;

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess,
    VariantAccess, Visitor, value::BorrowedStrDeserializer,
};

use super::{
    super::{
        error::{ParamsError, ParamsErrorKind},
        lexer::Token,
        reserved::{PREFIX, RAW_VALUE},
    },
    Decoder,
    error::DecodeError,
    key::Key,
};

/// The members of an object whose bracket is behind.
pub(super) struct Entries<'d, 'de> {
    decoder: &'d mut Decoder<'de>,
    first: bool,
    /// The member whose value comes next, for errors.
    name: Cow<'de, str>,
}

impl<'d, 'de> Entries<'d, 'de> {
    pub(super) fn new(decoder: &'d mut Decoder<'de>) -> Self {
        Self {
            decoder,
            first: true,
            name: Cow::Borrowed(""),
        }
    }

    /// Reads a name and the colon behind it.
    fn name(&mut self) -> Result<(), DecodeError> {
        let Decoder { lexer, buffer, .. } = &mut *self.decoder;
        if lexer.peek() != Some(b'"') {
            return Err(lexer
                .error("expected the name of a member in double quotes")
                .into());
        }
        self.name = match lexer.string(buffer)? {
            Token::Plain(text) => Cow::Borrowed(text),
            Token::Unescaped(text) => Cow::Owned(text.to_owned()),
        };
        if !lexer.eat(b':') {
            return Err(lexer
                .error("expected a colon after the name of a member")
                .into());
        }
        if self.name.starts_with(PREFIX) {
            let error = ParamsError::new(ParamsErrorKind::UnknownMember, "this name is reserved");
            return Err(DecodeError::from(error).under(&*self.name));
        }
        Ok(())
    }
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        if self.decoder.lexer.peek() == Some(b'}') {
            return Ok(None);
        }
        if !self.first && !self.decoder.lexer.eat(b',') {
            return Err(self
                .decoder
                .lexer
                .error("expected a comma or the end of the object")
                .into());
        }
        self.first = false;
        self.name()?;
        seed.deserialize(Key::new(&self.name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        seed.deserialize(&mut *self.decoder)
            .map_err(|error| error.under(&*self.name))
    }
}

/// The elements of an array whose bracket is behind.
pub(super) struct Elements<'d, 'de> {
    decoder: &'d mut Decoder<'de>,
    next: usize,
}

impl<'d, 'de> Elements<'d, 'de> {
    pub(super) fn new(decoder: &'d mut Decoder<'de>) -> Self {
        Self { decoder, next: 0 }
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        if self.decoder.lexer.peek() == Some(b']') {
            return Ok(None);
        }
        if self.next > 0 && !self.decoder.lexer.eat(b',') {
            return Err(self
                .decoder
                .lexer
                .error("expected a comma or the end of the array")
                .into());
        }
        let index = self.next;
        self.next += 1;
        seed.deserialize(&mut *self.decoder)
            .map(Some)
            .map_err(|error| error.under(index.to_string()))
    }
}

/// The one member of an object that names an enum's variant.
pub(super) struct EntryOfVariant<'d, 'de> {
    entries: Entries<'d, 'de>,
}

impl<'d, 'de> EntryOfVariant<'d, 'de> {
    pub(super) fn new(decoder: &'d mut Decoder<'de>) -> Self {
        Self {
            entries: Entries::new(decoder),
        }
    }
}

impl<'de> EnumAccess<'de> for EntryOfVariant<'_, 'de> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        mut self,
        seed: V,
    ) -> Result<(V::Value, Self), DecodeError> {
        match self.entries.next_key_seed(seed)? {
            Some(variant) => Ok((variant, self)),
            None => Err(DecodeError::invalid_value(
                de::Unexpected::Map,
                &"an object with one member",
            )),
        }
    }
}

impl<'de> VariantAccess<'de> for EntryOfVariant<'_, 'de> {
    type Error = DecodeError;

    fn unit_variant(mut self) -> Result<(), DecodeError> {
        self.entries.next_value::<()>()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        mut self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        self.entries.next_value_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(
        mut self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.entries.next_value_seed(TuplePayload(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.entries.next_value_seed(StructPayload(visitor))
    }
}

struct TuplePayload<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for TuplePayload<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_any(self.0)
    }
}

struct StructPayload<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for StructPayload<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_map(self.0)
    }
}

/// A raw value, as `serde_json` asks for it: one entry, whose name is reserved and whose value is the text.
pub(super) struct RawText<'de> {
    text: &'de str,
    given: bool,
}

impl<'de> RawText<'de> {
    pub(super) fn new(text: &'de str) -> Self {
        Self { text, given: false }
    }
}

impl<'de> MapAccess<'de> for RawText<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        if std::mem::replace(&mut self.given, true) {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(RAW_VALUE))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        seed.deserialize(BorrowedStrDeserializer::new(self.text))
    }
}
