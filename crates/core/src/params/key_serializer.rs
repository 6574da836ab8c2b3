//! Map keys, as `serde_json` writes them: strings, and what has one spelling as a string.
//!
//! Integers, booleans, characters and unit variants become strings; newtypes and `Some` are what they hold. Floats are
//! refused (`serde_json` takes finite ones): a key's spelling names a member, and a float has several. All other
//! types are refused there too.

use std::fmt::{Display, Write};

use serde::{Serialize, ser};

use super::{
    emitter::Emitter,
    error::{ParamsError, ParamsErrorKind},
    text::StackText,
    text_only::text_only,
};

pub(super) struct KeySerializer<'e> {
    emitter: &'e mut Emitter,
    buffer: &'e mut String,
}

impl<'e> KeySerializer<'e> {
    pub(super) fn new(emitter: &'e mut Emitter, buffer: &'e mut String) -> Self {
        Self { emitter, buffer }
    }

    fn integer(self, value: impl Display) -> Result<(), ParamsError> {
        self.emitter
            .name(StackText::of(format_args!("{value}")).as_str())
    }

    fn refused() -> ParamsError {
        ParamsError::new(
            ParamsErrorKind::Unsupported,
            "a map key must be a string, an integer, a boolean or a unit variant",
        )
    }
}

impl ser::Serializer for KeySerializer<'_> {
    text_only! {
        refuse: serialize_f32(f32), serialize_f64(f64);
    }

    fn serialize_bool(self, value: bool) -> Result<(), ParamsError> {
        self.emitter.name(if value { "true" } else { "false" })
    }

    fn serialize_i8(self, value: i8) -> Result<(), ParamsError> {
        self.integer(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), ParamsError> {
        self.integer(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), ParamsError> {
        self.integer(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), ParamsError> {
        self.integer(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), ParamsError> {
        self.integer(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), ParamsError> {
        self.integer(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), ParamsError> {
        self.integer(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), ParamsError> {
        self.integer(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), ParamsError> {
        self.integer(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), ParamsError> {
        self.integer(value)
    }

    fn serialize_char(self, value: char) -> Result<(), ParamsError> {
        self.emitter.name(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), ParamsError> {
        self.emitter.name(value)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), ParamsError> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), ParamsError> {
        self.emitter.name(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), ParamsError> {
        value.serialize(self)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), ParamsError> {
        self.buffer.clear();
        write!(self.buffer, "{value}").map_err(ser::Error::custom)?;
        self.emitter.name(self.buffer)
    }
}
