//! Deserialises text that may also be written as a number or a boolean.

use std::any::type_name;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

/// Reads text, a number or a boolean as text, and `null` as `None`.
pub(crate) struct ReadText;

/// Returns whether a deserialiser returns the source text of any scalar when asked for text.
///
/// The YAML deserialiser does, and this is the only way to keep `65.50` unchanged: when asked for
/// any type, it returns the number 65.5. Others, such as the JSON deserialiser, refuse a number
/// when asked for text. Serde has no method for this, so the name of the type is checked, which
/// works for wrappers too. If the name changed, numbers would lose their spelling and nothing else.
fn gives_scalars_verbatim<D>() -> bool {
    type_name::<D>().contains("::DeserializerFromEvents")
}

impl<'de> DeserializeSeed<'de> for ReadText {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Option<String>, D::Error> {
        // Asked first, since YAML's text for `null` is the same as for "null".
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for ReadText {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<String>, D::Error> {
        if gives_scalars_verbatim::<D>() {
            deserializer.deserialize_str(self)
        } else {
            deserializer.deserialize_any(self)
        }
    }

    fn visit_none<E: Error>(self) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<String>, E> {
        Ok(Some(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Option<String>, E> {
        Ok(Some(text))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Option<String>, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Option<String>, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Option<String>, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Option<String>, E> {
        Ok(Some(value.to_string()))
    }
}
