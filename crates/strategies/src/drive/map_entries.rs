//! The entries of a map, which a schema describes as a list of names and values.

use serde_json::{Map, Value};

/// The key of a map's entry that has the name.
pub(crate) const NAME: &str = "name";

/// The key of a map's entry that has the value.
pub(crate) const VALUE: &str = "value";

/// Returns an object that a schema describes as a list of names and values.
pub(super) fn object_of(entries: &[Value]) -> Option<Value> {
    let entry = |entry: &Value| {
        let entry = entry.as_object().filter(|entry| entry.len() == 2)?;
        let name = entry.get(NAME)?.as_str()?;
        let value = entry.get(VALUE)?;

        Some((name.to_owned(), value.clone()))
    };

    let object: Map<String, Value> = entries.iter().map(entry).collect::<Option<_>>()?;
    Some(object.into())
}
