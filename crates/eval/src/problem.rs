use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Check;

/// A question, and how its answers are checked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// The name in the table, which is unique in a suite.
    #[serde(default)]
    pub id: String,
    /// The question.
    pub question: String,
    /// How an answer is checked.
    #[serde(rename = "answer", alias = "check", deserialize_with = "check")]
    pub check: Check,
    /// The groups to which it belongs.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The difficulty, higher for harder problems.
    #[serde(default)]
    pub difficulty: Option<u32>,
}

/// Reads a check, such as `{choice: B}`, or an answer, such as `B`.
fn check<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Check, D::Error> {
    // All checks are mappings, and no answer is.
    let value = Value::deserialize(deserializer)?;
    if value.is_null() {
        return Err(D::Error::custom("no answer; expected `answer` or `check`"));
    }
    let check = if value.is_object() {
        Check::deserialize(value).map_err(D::Error::custom)?
    } else {
        Check::of_answer(&value)
    };
    match check.problem() {
        Some(problem) => Err(D::Error::custom(problem)),
        None => Ok(check),
    }
}

/// Returns why a problem cannot be read.
pub(crate) fn unread(error: serde_json::Error) -> String {
    // `check` is read as another name of `answer`, which nobody has to know.
    let two = "there are two answers; expected either `answer` or `check`";
    error.to_string().replace("duplicate field `answer`", two)
}

impl Problem {
    /// Reads problems from JSON lines.
    pub(crate) fn from_lines(name: &str, text: &str) -> Result<Vec<Self>, String> {
        let text = text.trim_start_matches('\u{feff}');
        let lines = (1..).zip(text.lines());
        let lines = lines.filter(|(_, line)| !line.trim().is_empty());

        let problems = lines.map(|(number, line)| {
            let problem = serde_json::from_str::<Self>(line).map_err(unread);
            let problem = problem.map_err(|error| format!("{name}, line {number}: {error}"))?;
            Ok(problem.with_default_id(name, number))
        });
        problems.collect()
    }

    /// Makes an id of where the problem is if it has none.
    pub(crate) fn with_default_id(mut self, place: &str, number: usize) -> Self {
        if self.id.is_empty() {
            self.id = format!("{place}-{number}");
        }
        self
    }

    /// Returns the tags, and one for the difficulty.
    pub(crate) fn all_tags(&self) -> impl Iterator<Item = String> {
        let difficulty = self.difficulty.map(|level| format!("difficulty {level}"));
        self.tags.iter().cloned().chain(difficulty)
    }
}
