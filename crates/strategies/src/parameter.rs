use std::collections::BTreeMap;

use cogwork_typed::{AnswerKey, AnswerReader};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// A parameter of the thoughts in a stage: a JSON Schema with these keys.
///
/// | key | meaning |
/// |---|---|
/// | `description` | the description for the model |
/// | `optional` | whether a thought may leave it out; by default, `false` |
/// | `type` | `string`, `integer`, `number`, `boolean`, `array`, `object`, or `thought`; by default, any JSON |
/// | `enum` | the accepted values; by default, any of the type |
/// | `minimum`, `maximum` | the range of an integer or a number, inclusive |
/// | `items`, `minItems`, `maxItems` | the schema of the items of an array, and how many there are |
/// | `properties`, `required` | the schemas of the fields of an object by name, and which it must have |
/// | `additionalProperties` | the schema of other fields of an object, or `false` |
///
/// The type `thought` is the number of a thought, which the session checks. A value has at most 32
/// levels. It may be written as models write it, such as `"7"` for a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a mapping with `type` and `description`")]
#[non_exhaustive]
pub struct Parameter {
    /// The description for the model.
    pub description: String,
    /// Whether a thought may leave it out.
    #[serde(
        default,
        rename = "optional",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub is_optional: bool,
    /// The other keys.
    #[serde(flatten, deserialize_with = "schema")]
    pub schema: Value,
}

/// The keys of a schema. It is only read to refuse others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "the reader of replies reads the schema itself")]
struct Keywords {
    r#type: Option<Kind>,
    r#enum: Option<Vec<Value>>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    items: Option<Box<Keywords>>,
    min_items: Option<usize>,
    max_items: Option<usize>,
    properties: Option<BTreeMap<String, Keywords>>,
    required: Option<Vec<String>>,
    additional_properties: Option<Additional>,
    description: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`additionalProperties` is neither true or false nor a schema"
)]
#[expect(dead_code, reason = "the reader of replies reads the schema itself")]
enum Additional {
    Allowed(bool),
    Values(Box<Keywords>),
}

/// Reads a schema, and refuses keys that a reader would ignore.
fn schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let schema = Value::deserialize(deserializer)?;
    if schema != json!({"type": THOUGHT}) {
        Keywords::deserialize(&schema).map_err(D::Error::custom)?;
    }
    Ok(schema)
}

/// The type of the number of a thought, which isn't one of JSON Schema.
const THOUGHT: &str = "thought";

impl Parameter {
    /// Creates a required parameter with the values of a JSON Schema. The description is sent to the
    /// model.
    pub fn new(schema: Value, description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            is_optional: false,
            schema,
        }
    }

    /// Creates a required parameter that accepts any text.
    pub fn text(description: impl Into<String>) -> Self {
        Self::new(json!({"type": "string"}), description)
    }

    /// Makes the parameter optional.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// Returns whether it is the number of a thought.
    pub(crate) fn is_thought(&self) -> bool {
        self.schema.get("type").is_some_and(|kind| kind == THOUGHT)
    }

    /// Returns the key of a reply with this parameter.
    pub(crate) fn key(&self, name: &str) -> AnswerKey {
        let description = self.description.as_str();
        let key = match self.is_thought() {
            // The schema only knows an integer, and a model should know what it counts.
            true => AnswerKey::new(name, description, &json!({"type": "integer", "minimum": 1}))
                .with_kind("the number of a thought"),
            false => AnswerKey::new(name, description, &self.schema),
        };
        if self.is_optional {
            key.optional()
        } else {
            key
        }
    }

    /// Returns a value in the form of the schema.
    ///
    /// # Errors
    ///
    /// Returns what is wrong, and where, also if there is no value.
    pub(crate) fn fit(&self, name: &str, value: Option<&Value>) -> Result<Value, String> {
        let given = match value {
            Some(value) if !is_shallow(value) => {
                return Err(format!(
                    "`{name}` has too many levels; expected at most {MAX_DEPTH}"
                ));
            }
            // Nothing is to be read into a value that may be anything.
            Some(value) if self.schema == json!({}) => return Ok(value.clone()),
            Some(value) => json!({name: value}),
            None => json!({}),
        };

        let reader = AnswerReader::of_keys([self.key(name)]);
        let fitted = reader.fit_value(&given).map_err(|problem| {
            let message = problem.message();
            match problem.pointer().trim_start_matches('/') {
                "" => message.to_owned(),
                place => format!("`{place}`: {message}"),
            }
        })?;
        Ok(fitted.get(name).cloned().unwrap_or_default())
    }
}

/// The maximum depth of a value.
const MAX_DEPTH: usize = 32;

/// Returns whether a value is shallow enough to be saved and read again.
pub(crate) fn is_shallow(value: &Value) -> bool {
    fn has_levels(value: &Value, most: usize) -> bool {
        most > 0
            && match value {
                Value::Array(items) => items.iter().all(|item| has_levels(item, most - 1)),
                Value::Object(fields) => fields.values().all(|field| has_levels(field, most - 1)),
                _ => true,
            }
    }

    has_levels(value, MAX_DEPTH)
}
