use serde_json::Value;

use crate::ParameterType;

/// What the JSON Schema of a field allows less than its parameter. Servers apply it while the model
/// writes, so the model isn't asked again as often. It isn't checked when a reply is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Narrowing {
    /// The accepted values. If there are none, all values of the type are accepted.
    pub(super) choices: Vec<Value>,
    /// A type whose values are also values of the parameter's type.
    pub(super) kind: Option<ParameterType>,
    pub(super) min_items: Option<usize>,
    pub(super) max_items: Option<usize>,
    /// Whether a value is required although the parameter is optional.
    pub(super) is_required: bool,
}

/// The maximum number of values that a schema lists.
const MAX_CHOICES: usize = 64;

impl Narrowing {
    /// Accepts these values, unless there are none or too many.
    pub(crate) fn choices<T: Into<Value>>(choices: impl IntoIterator<Item = T>) -> Self {
        let choices: Vec<Value> = choices
            .into_iter()
            .take(MAX_CHOICES + 1)
            .map(Into::into)
            .collect();

        Self {
            choices: if choices.len() > MAX_CHOICES {
                Vec::new()
            } else {
                choices
            },
            ..Self::default()
        }
    }

    /// Accepts values of this type.
    pub(crate) fn kind(kind: ParameterType) -> Self {
        Self {
            kind: Some(kind),
            ..Self::default()
        }
    }

    /// Accepts lists of at most this many items.
    pub(crate) fn max_items(items: usize) -> Self {
        Self {
            max_items: Some(items),
            ..Self::default()
        }
    }

    /// Accepts lists of at least this many items.
    #[must_use]
    pub(crate) fn with_min_items(mut self, items: usize) -> Self {
        self.min_items = Some(items);
        self
    }

    /// Requires a value.
    pub(crate) fn required() -> Self {
        Self {
            is_required: true,
            ..Self::default()
        }
    }
}
