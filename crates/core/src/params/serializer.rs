//! Tells the emitter what a value's `Serialize` says.
//!
//! The form is `serde_json`'s, whatever features of it are switched on elsewhere: its numbers of arbitrary precision
//! and its raw values come as structs of a reserved name, and are written as the number or the text that they hold.

use std::fmt::{Display, Write};

use serde::{Serialize, ser};

use super::{
    emitter::Emitter,
    error::{ParamsError, ParamsErrorKind},
    key_serializer::KeySerializer,
    reader,
    reserved::{NUMBER, RAW_VALUE, Text, TextSerializer},
};

/// Serializes one value into the emitter.
pub(super) struct ValueSerializer<'e> {
    emitter: &'e mut Emitter,
    /// For texts that come by way of `Display`, and for raw values.
    buffer: &'e mut String,
}

/// A container that is open.
pub(super) struct Compound<'e> {
    emitter: &'e mut Emitter,
    buffer: &'e mut String,
    close: Close,
}

#[derive(Clone, Copy)]
enum Close {
    Array,
    Object,
    /// The variant's payload, and the object that names the variant.
    VariantArray,
    VariantObject,
    /// A reserved struct, which writes its only field's text.
    Reserved(Text),
    /// One that has written it.
    Written,
}

impl<'e> ValueSerializer<'e> {
    pub(super) fn new(emitter: &'e mut Emitter, buffer: &'e mut String) -> Self {
        Self { emitter, buffer }
    }

    fn open(self, close: Close) -> Compound<'e> {
        Compound {
            emitter: self.emitter,
            buffer: self.buffer,
            close,
        }
    }
}

impl<'e> Compound<'e> {
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ParamsError> {
        value.serialize(ValueSerializer::new(self.emitter, self.buffer))
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), ParamsError> {
        match self.close {
            Close::Reserved(text) => {
                self.close = Close::Written;
                value.serialize(TextSerializer::new(text, self.emitter, self.buffer))
            }
            Close::Written => Err(TextSerializer::refused()),
            _ => {
                self.emitter.name(name)?;
                self.value(value)
            }
        }
    }

    fn finish(self) -> Result<(), ParamsError> {
        match self.close {
            Close::Array => self.emitter.end_array(),
            Close::Object => self.emitter.end_object(),
            Close::VariantArray => {
                self.emitter.end_array()?;
                self.emitter.end_object()
            }
            Close::VariantObject => {
                self.emitter.end_object()?;
                self.emitter.end_object()
            }
            Close::Written => Ok(()),
            Close::Reserved(_) => Err(TextSerializer::refused()),
        }
    }
}

impl<'e> ser::Serializer for ValueSerializer<'e> {
    type Ok = ();
    type Error = ParamsError;
    type SerializeSeq = Compound<'e>;
    type SerializeTuple = Compound<'e>;
    type SerializeTupleStruct = Compound<'e>;
    type SerializeTupleVariant = Compound<'e>;
    type SerializeMap = Compound<'e>;
    type SerializeStruct = Compound<'e>;
    type SerializeStructVariant = Compound<'e>;

    fn serialize_bool(self, value: bool) -> Result<(), ParamsError> {
        self.emitter.bool(value)
    }

    fn serialize_i8(self, value: i8) -> Result<(), ParamsError> {
        self.emitter.integer(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), ParamsError> {
        self.emitter.integer(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), ParamsError> {
        self.emitter.integer(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), ParamsError> {
        self.emitter.integer(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), ParamsError> {
        self.emitter.integer(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), ParamsError> {
        self.emitter.integer(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), ParamsError> {
        self.emitter.integer(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), ParamsError> {
        self.emitter.integer(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), ParamsError> {
        self.emitter.integer(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), ParamsError> {
        self.emitter.integer(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), ParamsError> {
        self.emitter.float(value, value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<(), ParamsError> {
        self.emitter.float(value, value.is_finite())
    }

    fn serialize_char(self, value: char) -> Result<(), ParamsError> {
        self.emitter.string(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), ParamsError> {
        self.emitter.string(value)
    }

    /// Bytes have no one form in JSON: an array of numbers here, base64 or hex there.
    fn serialize_bytes(self, _value: &[u8]) -> Result<(), ParamsError> {
        Err(ParamsError::new(
            ParamsErrorKind::Unsupported,
            "bytes have no JSON form; serialize them as a string",
        ))
    }

    fn serialize_none(self) -> Result<(), ParamsError> {
        self.emitter.null()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), ParamsError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), ParamsError> {
        self.emitter.null()
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), ParamsError> {
        self.emitter.null()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), ParamsError> {
        self.emitter.string(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), ParamsError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), ParamsError> {
        self.emitter.begin_object()?;
        self.emitter.variant(variant)?;
        value.serialize(ValueSerializer::new(self.emitter, self.buffer))?;
        self.emitter.end_object()
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Compound<'e>, ParamsError> {
        self.emitter.begin_array()?;
        Ok(self.open(Close::Array))
    }

    fn serialize_tuple(self, len: usize) -> Result<Compound<'e>, ParamsError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        len: usize,
    ) -> Result<Compound<'e>, ParamsError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'e>, ParamsError> {
        self.emitter.begin_object()?;
        self.emitter.variant(variant)?;
        self.emitter.begin_array()?;
        Ok(self.open(Close::VariantArray))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Compound<'e>, ParamsError> {
        self.emitter.begin_object()?;
        Ok(self.open(Close::Object))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _len: usize,
    ) -> Result<Compound<'e>, ParamsError> {
        let close = match name {
            NUMBER => Close::Reserved(Text::Number),
            RAW_VALUE => Close::Reserved(Text::Json),
            _ => {
                self.emitter.begin_object()?;
                Close::Object
            }
        };
        Ok(self.open(close))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'e>, ParamsError> {
        self.emitter.begin_object()?;
        self.emitter.variant(variant)?;
        self.emitter.begin_object()?;
        Ok(self.open(Close::VariantObject))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), ParamsError> {
        self.buffer.clear();
        write!(self.buffer, "{value}").map_err(ser::Error::custom)?;
        self.emitter.string(self.buffer)
    }
}

impl ser::SerializeSeq for Compound<'_> {
    type Ok = ();
    type Error = ParamsError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ParamsError> {
        self.value(value)
    }

    fn end(self) -> Result<(), ParamsError> {
        self.finish()
    }
}

impl ser::SerializeTuple for Compound<'_> {
    type Ok = ();
    type Error = ParamsError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ParamsError> {
        self.value(value)
    }

    fn end(self) -> Result<(), ParamsError> {
        self.finish()
    }
}

impl ser::SerializeTupleStruct for Compound<'_> {
    type Ok = ();
    type Error = ParamsError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ParamsError> {
        self.value(value)
    }

    fn end(self) -> Result<(), ParamsError> {
        self.finish()
    }
}

impl ser::SerializeTupleVariant for Compound<'_> {
    type Ok = ();
    type Error = ParamsError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ParamsError> {
        self.value(value)
    }

    fn end(self) -> Result<(), ParamsError> {
        self.finish()
    }
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = ParamsError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ParamsError> {
        key.serialize(KeySerializer::new(self.emitter, self.buffer))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ParamsError> {
        self.value(value)
    }

    fn end(self) -> Result<(), ParamsError> {
        self.finish()
    }
}

impl ser::SerializeStruct for Compound<'_> {
    type Ok = ();
    type Error = ParamsError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ParamsError> {
        self.member(name, value)
    }

    fn end(self) -> Result<(), ParamsError> {
        self.finish()
    }
}

impl ser::SerializeStructVariant for Compound<'_> {
    type Ok = ();
    type Error = ParamsError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ParamsError> {
        self.member(name, value)
    }

    fn end(self) -> Result<(), ParamsError> {
        self.finish()
    }
}

/// Writes a reserved struct's text at the emitter's place.
pub(super) fn write_reserved(
    text: Text,
    content: &str,
    emitter: &mut Emitter,
    buffer: &mut String,
) -> Result<(), ParamsError> {
    match text {
        Text::Number => emitter.number(content),
        // An offset in this text is none in the params.
        Text::Json => reader::read(content, emitter, buffer).map_err(ParamsError::without_offset),
    }
}
