use cogwork_typed::ask::{NoAnswer, no_answer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Stage;

/// An answer to the problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// The answer.
    pub text: String,
    /// The confidence in the answer, from 0 to 1, if the strategy provides one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

impl Answer {
    /// Creates an answer without a confidence.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            confidence: None,
        }
    }

    /// Sets the confidence, clamped to the range from 0 to 1. NaN is ignored.
    #[must_use]
    pub(crate) fn with_confidence(mut self, confidence: f64) -> Self {
        self.confidence =
            Some(confidence.clamp(0.0, 1.0)).filter(|confidence| !confidence.is_nan());
        self
    }
}

/// Returns the answer in a thought: its text, or its parameters if it has no text.
pub(super) fn answer_text<'v>(
    text: &str,
    parameters: impl Iterator<Item = (&'v str, &'v Value)>,
) -> String {
    if !text.is_empty() {
        return text.to_owned();
    }

    let shown = |value: &Value| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    };

    let named: Vec<_> = parameters.collect();
    if let [(_, only)] = named.as_slice() {
        return shown(only);
    }

    let lines = named
        .iter()
        .map(|(name, value)| format!("{name}: {}", shown(value)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns why a text isn't an answer in a stage. The problem, the prompt of the stage and the type
/// of a parameter may offer a text such as `none` as a choice.
pub(super) fn no_answer_at(stage: &Stage, text: &str, problem: &str) -> Option<NoAnswer> {
    if stage
        .parameters()
        .values()
        .any(|parameter| parameter.kind().has_choice(text))
    {
        return None;
    }

    let prompt = stage.prompt();
    no_answer(text, &format!("{problem}\n{prompt}"))
}
