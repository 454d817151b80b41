use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::shape::{Bounds, Form, Property, Shape};

/// A key of an answer whose keys are put together when a program runs. See
/// [`AnswerReader::of_keys`](crate::AnswerReader::of_keys).
///
/// ```
/// use cogwork_typed::{AnswerKey, AnswerReader};
/// use serde_json::json;
///
/// let reader = AnswerReader::of_keys([
///     AnswerKey::new("thought", "your thought", &json!({"type": "string"})).wanted(),
///     AnswerKey::new("action", "what is done", &json!({"type": "string"}))
///         .offering(&json!({"enum": ["search", "finish"]})),
/// ]);
///
/// let read = reader.in_lines().read("I look it up.\n**Action:** search")?;
/// assert_eq!(read.value, json!({"thought": "I look it up.", "action": "search"}));
/// # Ok::<(), cogwork_typed::AnswerProblem>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerKey(pub(crate) Property);

impl AnswerKey {
    /// Creates a key that every answer has, with the values that a JSON Schema describes. The
    /// description is for the model.
    pub fn new(name: impl Into<String>, description: impl Into<String>, schema: &Value) -> Self {
        Self(Property {
            description: description.into(),
            ..Property::new(name, Form::of_schema(schema).root)
        })
    }

    /// Returns the keys of a type, in its order. There are none if it isn't an object.
    pub fn of<T: JsonSchema + DeserializeOwned>() -> Vec<Self> {
        // The keys are taken out of the form, where references would lead nowhere.
        let form = Form::of::<T>().inlined();
        form.properties().iter().cloned().map(Self).collect()
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns whether every answer has the key.
    pub fn is_required(&self) -> bool {
        self.0.is_required
    }

    /// Allows that the key is missing.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.0.is_required = false;
        self
    }

    /// Asks for a value even though the key may be missing.
    #[must_use]
    pub fn wanted(mut self) -> Self {
        self.0.is_required = false;
        self.0.is_wanted = true;
        self
    }

    /// Says in lines what the value is, as in "a text".
    #[must_use]
    pub fn with_kind(mut self, kind: impl Into<String>) -> Self {
        self.0.kind = Some(kind.into());
        self
    }

    /// Asks for the values that another schema describes. All values of the key are still read.
    #[must_use]
    pub fn offering(mut self, schema: &Value) -> Self {
        self.0.offered = Some(Form::of_schema(schema).root);
        self
    }

    /// Asks for a list of at least and at most this many items. Longer and shorter lists are still
    /// read.
    #[must_use]
    pub fn offering_items(mut self, least: usize, most: usize) -> Self {
        if let Shape::List(items, _) = &self.0.shape {
            // A server refuses a schema whose minimum is above its maximum.
            let bounds = Bounds::of_counts(least, most.max(least));
            self.0.offered = Some(Shape::List(items.clone(), bounds));
        }
        self
    }
}
