//! JSON to be sent: fields in the order in which they are written, and parts that are already JSON.
//! The order matters in schemas and arguments, because models read and write in it.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A value to be sent. Texts are borrowed from the request.
pub(crate) enum Json<'a> {
    /// Nothing: the field or element is left out.
    Absent,
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<(&'a str, Json<'a>)>),
    /// Text that is JSON already.
    Raw(Box<RawValue>),
    Value(Value),
}

impl Json<'_> {
    pub(crate) fn is_present(&self) -> bool {
        !matches!(self, Self::Absent)
    }
}

/// Returns an object with those of the fields that are present.
pub(crate) fn object<'a>(fields: impl IntoIterator<Item = (&'a str, Json<'a>)>) -> Json<'a> {
    Json::Object(fields.into_iter().collect())
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent => serializer.serialize_unit(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => {
                serializer.collect_seq(values.iter().filter(|value| value.is_present()))
            }
            Self::Object(fields) => {
                let mut map = serializer.serialize_map(None)?;
                for (name, value) in fields.iter().filter(|(_, value)| value.is_present()) {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
            Self::Raw(raw) => raw.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
        }
    }
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<Cow<'a, str>> for Json<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::Text(text)
    }
}

impl From<&RawValue> for Json<'_> {
    fn from(raw: &RawValue) -> Self {
        Self::Raw(raw.to_owned())
    }
}

impl From<Value> for Json<'_> {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<bool> for Json<'_> {
    fn from(value: bool) -> Self {
        Self::Value(value.into())
    }
}

/// An empty list is left out.
impl From<&[String]> for Json<'_> {
    fn from(texts: &[String]) -> Self {
        let is_empty = texts.is_empty();
        Some(Value::from(texts)).filter(|_| !is_empty).into()
    }
}

impl<'a, T: Into<Json<'a>>> From<Option<T>> for Json<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

/// An empty list is left out.
impl<'a> From<Vec<Json<'a>>> for Json<'a> {
    fn from(values: Vec<Json<'a>>) -> Self {
        Some(values)
            .filter(|values| !values.is_empty())
            .map_or(Self::Absent, Self::List)
    }
}

impl<'a> FromIterator<Json<'a>> for Json<'a> {
    fn from_iter<I: IntoIterator<Item = Json<'a>>>(values: I) -> Self {
        Self::List(values.into_iter().collect())
    }
}
