//! Digests of states.

use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use siphasher::sip::SipHasher24;

use super::Json;

/// A digest of a state, by which a run recognises the state with which it began.
///
/// It is the same in every process and on every platform. Two states are equal if their JSON values
/// are: the order of keys doesn't matter, so a `HashMap` can be part of a state, but the order of
/// items in a list does. A `HashSet` is a list in a different order each time.
///
/// The digest is written as two numbers. The first is the SipHash-2-4, with a key of zeros, of the
/// JSON text without spaces and with sorted keys. The second is that of the same text with the items
/// of all lists sorted by their texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StateDigest(u64, u64);

impl StateDigest {
    /// Returns the digest of a state. Returns `None` if it has more than about 120 levels of nesting.
    pub fn of(state: &Json) -> Option<Self> {
        let state: Value = state.read().ok()?;
        let exact = hash(&canonical(&state, false));
        let unordered = hash(&canonical(&state, true));

        Some(Self(exact, unordered))
    }

    /// Returns whether two states are equal if the order of items in lists doesn't matter.
    pub fn is_equal_in_any_order(&self, other: &Self) -> bool {
        self.1 == other.1
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = SipHasher24::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Returns the JSON text with sorted keys and without spaces. Values that were read are nested to a
/// bounded depth.
fn canonical(value: &Value, sorts_lists: bool) -> String {
    match value {
        Value::Array(items) => list(items, sorts_lists),
        Value::Object(fields) => object(fields, sorts_lists),
        value => value.to_string(),
    }
}

fn list(items: &[Value], sorts_lists: bool) -> String {
    let items = items.iter().map(|item| canonical(item, sorts_lists));
    let mut items: Vec<_> = items.collect();
    if sorts_lists {
        items.sort_unstable();
    }

    format!("[{}]", items.join(","))
}

fn object(fields: &Map<String, Value>, sorts_lists: bool) -> String {
    let mut sorted: Vec<_> = fields.iter().collect();
    // With a feature of `serde_json`, a map keeps the order of insertion.
    sorted.sort_unstable_by_key(|(key, _)| *key);

    let field = |(key, value): (&String, &Value)| {
        let key = Value::from(key.as_str());
        format!("{key}:{}", canonical(value, sorts_lists))
    };
    let fields: Vec<_> = sorted.into_iter().map(field).collect();
    format!("{{{}}}", fields.join(","))
}
