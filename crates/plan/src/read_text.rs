//! Reading a text for which a number or a truth value may stand.

use std::any::type_name;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

/// Reads a text, a number or a truth value as a text, and `null` as none.
pub(crate) struct ReadText;

/// Whether a reader gives any scalar as it stands in the source when asked for a text.
///
/// YAML's does, and only so is `65.50` kept: asked for anything, it hands over the number 65.5. Others,
/// such as JSON's, refuse a number when asked for a text. Serde has no question for this, hence the look
/// at the name, which holds for wrappers too; were the name to change, numbers would lose their spelling
/// and nothing else.
fn gives_scalars_verbatim<D>() -> bool {
    type_name::<D>().contains("::DeserializerFromEvents")
}

impl<'de> DeserializeSeed<'de> for ReadText {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Option<String>, D::Error> {
        // Asked first, since a text of YAML no longer tells `null` from "null".
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
