//! Reads YAML within a budget, since aliases can expand a short text enormously.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Mapping, Value};

/// Reads a value, and takes its size from the budget, which is about the number of bytes.
pub(super) struct Limited<'b>(pub(super) &'b mut usize);

impl Limited<'_> {
    fn take<E: Error>(&mut self, value: impl Into<Value>, bytes: usize) -> Result<Value, E> {
        let left = self.0.checked_sub(bytes.saturating_add(16));
        *self.0 = left
            .ok_or_else(|| E::custom("the tables are too large; expected fewer or smaller ones"))?;
        Ok(value.into())
    }
}

impl<'de> DeserializeSeed<'de> for Limited<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Limited<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_unit<E: Error>(mut self) -> Result<Value, E> {
        self.take(Value::Null, 0)
    }

    fn visit_bool<E: Error>(mut self, value: bool) -> Result<Value, E> {
        self.take(value, 0)
    }

    fn visit_f64<E: Error>(mut self, value: f64) -> Result<Value, E> {
        self.take(value, 0)
    }

    fn visit_i64<E: Error>(mut self, value: i64) -> Result<Value, E> {
        self.take(value, 0)
    }

    fn visit_u64<E: Error>(mut self, value: u64) -> Result<Value, E> {
        self.take(value, 0)
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<Value, E> {
        self.take(text, text.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(Limited(self.0))? {
            items.push(item);
        }
        self.take(items, 0)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Mapping::new();
        while let Some(key) = map.next_key_seed(Limited(self.0))? {
            let value = map.next_value_seed(Limited(self.0))?;
            if entries.contains_key(&key) {
                let key = super::key(key);
                return Err(A::Error::custom(format!("`{key}` is defined twice")));
            }
            entries.insert(key, value);
        }
        self.take(entries, 0)
    }
}
