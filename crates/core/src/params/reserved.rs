//! The names under which `serde_json` passes numbers and raw JSON through serde, and the text inside them.

use serde::{Serialize, ser};

use super::{
    emitter::Emitter,
    error::{ParamsError, ParamsErrorKind},
    serializer::write_reserved,
    text_only::text_only,
};

/// A number of arbitrary precision.
pub(super) const NUMBER: &str = "$serde_json::private::Number";
/// A JSON text.
pub(super) const RAW_VALUE: &str = "$serde_json::private::RawValue";
/// What both begin with, and what a typed body's members may not: depending on the features that are on, a reader
/// takes such a member for a number or for JSON inside a string.
pub(super) const PREFIX: &str = "$serde_json::private::";

/// What a reserved struct holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Text {
    Number,
    Json,
}

/// Takes the one string in a reserved struct, and nothing else.
pub(super) struct TextSerializer<'e> {
    text: Text,
    emitter: &'e mut Emitter,
    buffer: &'e mut String,
}

impl<'e> TextSerializer<'e> {
    pub(super) fn new(text: Text, emitter: &'e mut Emitter, buffer: &'e mut String) -> Self {
        Self {
            text,
            emitter,
            buffer,
        }
    }

    pub(super) fn refused() -> ParamsError {
        ParamsError::new(
            ParamsErrorKind::Unsupported,
            "a struct of a reserved name must hold one string",
        )
    }
}

impl ser::Serializer for TextSerializer<'_> {
    fn serialize_str(self, value: &str) -> Result<(), ParamsError> {
        write_reserved(self.text, value, self.emitter, self.buffer)
    }

    text_only! {
        refuse: serialize_bool(bool), serialize_char(char),
            serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_i128(i128),
            serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_u128(u128),
            serialize_f32(f32), serialize_f64(f64);
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _value: &T) -> Result<(), ParamsError> {
        Err(Self::refused())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
    ) -> Result<(), ParamsError> {
        Err(Self::refused())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _value: &T,
    ) -> Result<(), ParamsError> {
        Err(Self::refused())
    }
}
