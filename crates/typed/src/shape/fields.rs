//! The names of the fields of types, which a JSON Schema doesn't tell in their order.

use std::cell::Cell;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserializer, forward_to_deserialize_any};

/// The names of the fields of a struct, with their aliases, in the order of the type.
pub(crate) type Fields = &'static [&'static str];

/// Returns the fields of a type and of the structs inside it, those of the type itself first. There
/// are none of structs with flattened fields, or inside enums and maps.
pub(crate) fn fields<T: DeserializeOwned>() -> Vec<Fields> {
    let mut known: Vec<Fields> = Vec::new();
    let mut paths: Vec<Vec<&str>> = vec![Vec::new()];

    // A type is only asked what it expects, and each question leads along one path.
    while let Some(path) = paths.pop() {
        let found = Cell::new(None);
        drop(T::deserialize(Question {
            path: &path,
            found: &found,
        }));

        // A type that contains itself has no new fields further in.
        let new = found.get().filter(|fields| !known.contains(fields));
        for field in new.into_iter().flatten() {
            paths.push(path.iter().copied().chain([*field]).collect());
        }
        known.extend(new);
    }
    known
}

/// Asks for the fields of the struct at the end of a path of fields. There is never a value.
#[derive(Clone, Copy)]
struct Question<'a> {
    path: &'a [&'static str],
    found: &'a Cell<Option<Fields>>,
}

impl<'de> Deserializer<'de> for Question<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: Fields,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if self.path.is_empty() {
            self.found.set(Some(fields));
        }
        visitor.visit_map(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(no_value())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Question<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let (field, rest) = self.path.split_first().ok_or_else(no_value)?;
        self.path = rest;

        let name: StrDeserializer<'_, Error> = (*field).into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(*self)
    }
}

impl<'de> SeqAccess<'de> for Question<'_> {
    type Error = Error;

    fn next_element_seed<I: DeserializeSeed<'de>>(
        &mut self,
        seed: I,
    ) -> Result<Option<I::Value>, Error> {
        seed.deserialize(*self).map(Some)
    }
}

fn no_value() -> Error {
    Error::custom("there is no value")
}
