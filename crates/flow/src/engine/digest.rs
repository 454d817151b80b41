//! Digests of states.

use std::fmt;
use std::hash::Hasher;

use cogwork_text::Name;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use siphasher::sip::SipHasher24;

/// A digest of a state, by which a run recognises the state with which it began.
///
/// It is the same in every process and on every platform. Two states are equal if their JSON values
/// are: the order of keys doesn't matter, so a `HashMap` can be part of a state, but the order of
/// items in a list does. A `HashSet` is a list in a different order each time.
///
/// The digest is written as 32 hexadecimal digits. The first 16 are the SipHash-2-4, with a key of
/// zeros, of the JSON text without spaces and with sorted keys. The others are that of the same
/// text with the items of all lists sorted by their texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StateDigest(u128);

impl StateDigest {
    /// Returns the digest of a JSON text. Returns `None` if it has more than about 120 levels of
    /// nesting.
    pub(super) fn of(text: &str) -> Option<Self> {
        let state: Value = serde_json::from_str(text).ok()?;
        let exact = hash(&canonical(&state, false));
        let unordered = hash(&canonical(&state, true));

        Some(Self(u128::from(exact) << 64 | u128::from(unordered)))
    }

    /// Returns whether two states are equal if the order of items in lists doesn't matter.
    pub fn is_equal_in_any_order(&self, other: &Self) -> bool {
        // The lower half is the hash of the text with sorted lists.
        self.0 as u64 == other.0 as u64
    }
}

impl fmt::Display for StateDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl From<StateDigest> for String {
    fn from(digest: StateDigest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for StateDigest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digest = u128::from_str_radix(&text, 16).ok().map(Self);
        // A sign, upper case or fewer digits would be a second spelling, which the parser accepts.
        let digest = digest.filter(|digest| digest.to_string() == text);

        digest.ok_or_else(|| {
            let text = Name(&text);
            format!("`{text}` isn't the digest of a state; expected 32 hexadecimal digits")
        })
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
