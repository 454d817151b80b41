//! The names of the fields of a type, which its JSON Schema doesn't tell in their order.

use serde::Deserializer;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// Returns the names of the fields of a struct, with their aliases, in the order of the type. There
/// are none if the type isn't a struct, or has flattened fields.
pub(crate) fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &[&str] = &[];
    // The type is only asked what it expects.
    drop(T::deserialize(Question(&mut fields)));
    fields
}

struct Question<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Question<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("there is no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
