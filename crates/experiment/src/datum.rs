//! Values that were checked against the schema, as input for serde. Mappings keep the order of the file.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserialize, Deserializer, EnumAccess, IntoDeserializer, MapAccess, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// Value of a known type.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    List(Vec<Datum>),
    Map(Vec<(String, Datum)>),
}

impl IntoDeserializer<'_, Error> for Datum {
    type Deserializer = Datum;
    fn into_deserializer(self) -> Datum {
        self
    }
}

impl<'de> Deserializer<'de> for Datum {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Datum::Null => visitor.visit_unit(),
            Datum::Bool(it) => visitor.visit_bool(it),
            Datum::Unsigned(it) => visitor.visit_u64(it),
            Datum::Signed(it) => visitor.visit_i64(it),
            Datum::Float(it) => visitor.visit_f64(it),
            Datum::Text(it) => visitor.visit_string(it),
            Datum::List(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter())),
            Datum::Map(entries) => visitor.visit_map(MapDeserializer::new(entries.into_iter())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Datum::Null => visitor.visit_none(),
            it => visitor.visit_some(it),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let (name, content) = match self {
            Datum::Map(mut entries) if entries.len() == 1 => entries.remove(0),
            Datum::Text(name) => (name, Datum::Null),
            _ => (String::new(), Datum::Null),
        };
        visitor.visit_enum(Variant(name, content))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

struct Variant(String, Datum);

impl<'de> EnumAccess<'de> for Variant {
    type Error = Error;
    type Variant = Datum;

    fn variant_seed<T: serde::de::DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Datum), Error> {
        Ok((seed.deserialize(self.0.into_deserializer())?, self.1))
    }
}

impl<'de> VariantAccess<'de> for Datum {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: serde::de::DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }
}

/// Mapping with user-defined names, in the file's order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderedMap<T>(pub Vec<(String, T)>);

impl<T> Default for OrderedMap<T> {
    fn default() -> OrderedMap<T> {
        OrderedMap(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrderedMap<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OrderedMap<T>, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = OrderedMap<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedMap<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(OrderedMap(entries))
            }
        }
        from.deserialize_map(Entries(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OrderedMap<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("MapOf{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, T>::json_schema(generator)
    }
}
