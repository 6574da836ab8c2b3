//! The parts of a `Serializer` that a serializer for texts refuses.

/// Inside an `impl Serializer` whose type has `refused()`: refuses the scalars named, bytes, nulls and containers.
macro_rules! text_only {
    (refuse: $($method:ident($type:ty)),* ;) => {
        type Ok = ();
        type Error = ParamsError;
        type SerializeSeq = ser::Impossible<(), ParamsError>;
        type SerializeTuple = ser::Impossible<(), ParamsError>;
        type SerializeTupleStruct = ser::Impossible<(), ParamsError>;
        type SerializeTupleVariant = ser::Impossible<(), ParamsError>;
        type SerializeMap = ser::Impossible<(), ParamsError>;
        type SerializeStruct = ser::Impossible<(), ParamsError>;
        type SerializeStructVariant = ser::Impossible<(), ParamsError>;

        $(fn $method(self, _value: $type) -> Result<(), ParamsError> {
            Err(Self::refused())
        })*

        fn serialize_bytes(self, _value: &[u8]) -> Result<(), ParamsError> {
            Err(Self::refused())
        }

        fn serialize_none(self) -> Result<(), ParamsError> {
            Err(Self::refused())
        }

        fn serialize_unit(self) -> Result<(), ParamsError> {
            Err(Self::refused())
        }

        fn serialize_unit_struct(self, _name: &'static str) -> Result<(), ParamsError> {
            Err(Self::refused())
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _value: &T,
        ) -> Result<(), ParamsError> {
            Err(Self::refused())
        }

        fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq, ParamsError> {
            Err(Self::refused())
        }

        fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple, ParamsError> {
            Err(Self::refused())
        }

        fn serialize_tuple_struct(
            self,
            _name: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeTupleStruct, ParamsError> {
            Err(Self::refused())
        }

        fn serialize_tuple_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeTupleVariant, ParamsError> {
            Err(Self::refused())
        }

        fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap, ParamsError> {
            Err(Self::refused())
        }

        fn serialize_struct(
            self,
            _name: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeStruct, ParamsError> {
            Err(Self::refused())
        }

        fn serialize_struct_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeStructVariant, ParamsError> {
            Err(Self::refused())
        }
    };
}

pub(super) use text_only;
