//! The approaches that the model names.

use cogwork_text::{MultiLine, is_invisible};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Session;

/// The maximum number of characters of a step. Longer ones are truncated, since every question
/// about the branch repeats the step.
const MAX_STEP: usize = 4_000;

/// The maximum number of characters of an approach that go into the name of a branch.
const MAX_NAME: usize = 40;

/// An approach.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Approach {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) promise: f64,
}

/// Returns the approaches in a checked parameter, in order. Long texts are truncated.
pub(super) fn approaches(parameter: Option<&Value>) -> Vec<Approach> {
    let read = |value: &Value| serde_json::from_value::<Approach>(value.clone()).ok();
    let items = parameter.and_then(Value::as_array).into_iter().flatten();

    let approaches = items.filter_map(read).map(|approach| Approach {
        id: cut(approach.id.trim()),
        description: cut(approach.description.trim()),
        promise: approach.promise,
    });

    approaches
        .filter(|approach| !approach.id.is_empty() && !approach.description.is_empty())
        .collect()
}

/// Returns a text that is short enough to be repeated in every question.
pub(super) fn cut(text: &str) -> String {
    MultiLine::new(text).with_max_chars(MAX_STEP).to_string()
}

/// Returns a name for a branch of an approach, with a number after it if the name is taken.
pub(super) fn free_name(session: &Session, approach: &str) -> String {
    let letters = approach.chars().filter(|letter| !is_invisible(*letter));
    let short: String = letters.take(MAX_NAME).collect();
    let base = match short.trim() {
        "" => "approach",
        name => name,
    };

    let numbered = (2..).map(|number: u32| format!("{base}-{number}"));
    let mut names = std::iter::once(base.to_owned()).chain(numbered);
    let free = names.find(|name| session.branch_named(name).is_none());

    free.unwrap_or_else(|| base.to_owned())
}
