use std::collections::BTreeMap;
use std::fmt;

use cogwork_text::NameList;
use cogwork_typed::AnswerKey;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::table::named;

/// A parameter of the thoughts in a stage.
///
/// | key | meaning |
/// |---|---|
/// | `type` | see [`ParameterType`] |
/// | `description` | the description for the model |
/// | `required` | whether it is required; by default, `true` |
/// | `min`, `max` | the range of an integer or a number, inclusive; optional |
/// | `choices` | the accepted texts; by default, any |
/// | `items` | the items of a list, as a mapping with a `type` |
/// | `min_items` | the minimum number of items; by default, 0 |
/// | `fields` | the fields of an object: parameters by name |
/// | `values` | the values of a map, as a mapping with a `type` |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a mapping with `type` and `description`")]
#[non_exhaustive]
pub struct Parameter {
    /// The description for the model.
    pub description: String,
    /// Whether a thought must have the parameter.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub required: bool,
    /// The type.
    #[serde(flatten)]
    pub kind: ParameterType,
}

fn yes() -> bool {
    true
}

/// The type of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    deny_unknown_fields,
    expecting = "a mapping with `type`"
)]
#[non_exhaustive]
pub enum ParameterType {
    /// `text`: any text, or one of the choices if there are any.
    Text {
        /// The accepted texts. If it is empty, any text is accepted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<String>,
    },
    /// `integer`.
    Integer {
        /// The minimum, inclusive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// The maximum, inclusive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    /// `number`.
    Number {
        /// The minimum, inclusive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// The maximum, inclusive.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    /// `boolean`.
    Boolean,
    /// `thought`: the number of a thought. The session checks that the thought exists.
    Thought,
    /// `list`.
    List {
        /// The type of the items.
        items: Box<ParameterType>,
        /// The minimum number of items.
        #[serde(default, skip_serializing_if = "is_zero")]
        min_items: usize,
    },
    /// `object`: exactly these fields.
    Object {
        /// The fields by name.
        #[serde(deserialize_with = "named")]
        fields: BTreeMap<String, Parameter>,
    },
    /// `map`: values of one type, under any names.
    Map {
        /// The type of the values.
        values: Box<ParameterType>,
    },
    /// `any`: any JSON, up to 32 levels deep.
    Any,
}

/// The maximum depth of a parameter of the type `any`.
pub(crate) const MAX_DEPTH: usize = 32;

impl Parameter {
    /// Creates a required parameter. The description is sent to the model.
    pub fn new(kind: ParameterType, description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            required: true,
            kind,
        }
    }

    /// Creates a required parameter that accepts any text.
    pub fn text(description: impl Into<String>) -> Self {
        Self::new(ParameterType::TEXT, description)
    }

    /// Makes the parameter optional.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// Returns the key of a reply with this parameter.
    pub(crate) fn key(&self, name: &str) -> AnswerKey {
        let key = AnswerKey::new(name, self.description.as_str(), &self.kind.schema());
        let key = match self.kind {
            // The schema only knows an integer, and a model should know what it counts.
            ParameterType::Thought => key.with_kind(self.kind.to_string()),
            _ => key,
        };
        if self.required { key } else { key.optional() }
    }
}

impl ParameterType {
    /// Any text.
    pub(crate) const TEXT: Self = Self::Text {
        choices: Vec::new(),
    };

    /// Returns the JSON Schema of the values.
    pub(crate) fn schema(&self) -> Value {
        match self {
            Self::Text { choices } if choices.is_empty() => json!({"type": "string"}),
            Self::Text { choices } => json!({"enum": choices}),
            Self::Integer { min, max } => {
                json!({"type": "integer", "minimum": min, "maximum": max})
            }
            Self::Number { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
            Self::Boolean => json!({"type": "boolean"}),
            // The schema cannot say which thoughts there are.
            Self::Thought => json!({"type": "integer", "minimum": 1}),
            Self::List { items, min_items } => {
                json!({"type": "array", "items": items.schema(), "minItems": min_items})
            }
            Self::Object { fields } => object_schema(fields),
            Self::Map { values } => {
                json!({"type": "object", "additionalProperties": values.schema()})
            }
            Self::Any => json!({}),
        }
    }
}

fn object_schema(fields: &BTreeMap<String, Parameter>) -> Value {
    let properties = fields.iter().map(|(name, field)| {
        let mut schema = field.kind.schema();
        if let Value::Object(keywords) = &mut schema {
            // Servers show the model the descriptions in the schema.
            keywords.insert("description".to_owned(), field.description.as_str().into());
        }
        (name.clone(), schema)
    });
    let required = fields.iter().filter(|(_, field)| field.required);
    let required: Vec<&String> = required.map(|(name, _)| name).collect();

    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "required": required,
        "additionalProperties": false,
    })
}

/// Writes what is accepted, as in `a number from 0 to 10`.
impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |min: &Option<f64>, max: &Option<f64>| match (min, max) {
            (Some(min), Some(max)) => format!(" from {min} to {max}"),
            (Some(min), None) => format!(" of at least {min}"),
            (None, Some(max)) => format!(" of at most {max}"),
            (None, None) => String::new(),
        };
        match self {
            Self::Text { choices } if choices.is_empty() => f.write_str("a text"),
            Self::Text { choices } => write!(f, "one of {}", NameList::and(choices)),
            Self::Integer { min, max } => write!(f, "an integer{}", range(min, max)),
            Self::Number { min, max } => write!(f, "a number{}", range(min, max)),
            Self::Boolean => f.write_str("true or false"),
            Self::Thought => f.write_str("the number of a thought"),
            Self::List { min_items: 0, .. } => f.write_str("a list"),
            Self::List { min_items: 1, .. } => f.write_str("a list that is not empty"),
            Self::List { min_items, .. } => write!(f, "a list of at least {min_items} items"),
            Self::Object { fields } => {
                write!(f, "an object with {}", NameList::and(fields.keys()))
            }
            Self::Map { .. } => f.write_str("an object"),
            Self::Any => write!(f, "JSON of at most {MAX_DEPTH} levels"),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
