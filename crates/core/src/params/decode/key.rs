//! The name of a member, as the key type of a map reads it.

use std::borrow::Cow;

use serde::de::{Deserializer, Visitor, value::StrDeserializer};

use super::{super::text::StackText, error::DecodeError};

/// A name that may stand for an integer, a boolean or a variant.
pub(super) struct Key<'n, 'de> {
    name: &'n Cow<'de, str>,
}

impl<'n, 'de> Key<'n, 'de> {
    pub(super) fn new(name: &'n Cow<'de, str>) -> Self {
        Self { name }
    }
}

/// An integer by its one spelling: two names must not become one key.
macro_rules! integers {
    ($($method:ident: $type:ty => $visit:ident),* $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            match self.name.parse::<$type>() {
                Ok(value) if StackText::of(format_args!("{value}")).as_str() == self.name => visitor.$visit(value),
                _ => self.deserialize_any(visitor),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for Key<'_, 'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.name {
            Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
            Cow::Owned(name) => visitor.visit_str(name),
        }
    }

    integers! {
        deserialize_i8: i8 => visit_i8,
        deserialize_i16: i16 => visit_i16,
        deserialize_i32: i32 => visit_i32,
        deserialize_i64: i64 => visit_i64,
        deserialize_i128: i128 => visit_i128,
        deserialize_u8: u8 => visit_u8,
        deserialize_u16: u16 => visit_u16,
        deserialize_u32: u32 => visit_u32,
        deserialize_u64: u64 => visit_u64,
        deserialize_u128: u128 => visit_u128,
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &**self.name {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_enum(StrDeserializer::new(self.name))
    }

    serde::forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
