use serde::Deserialize;
use serde_json::Value;

use crate::Check;

/// A question, and how its answers are checked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// The name in the table, which is unique in a suite.
    pub id: String,
    /// The question.
    pub question: String,
    /// How an answer is checked.
    pub check: Check,
    /// The groups to which it belongs.
    pub tags: Vec<String>,
    /// The difficulty, higher for harder problems.
    pub difficulty: Option<u32>,
}

impl Problem {
    /// Creates a problem without tags.
    pub fn new(id: impl Into<String>, question: impl Into<String>, check: Check) -> Self {
        Self {
            id: id.into(),
            question: question.into(),
            check,
            tags: Vec::new(),
            difficulty: None,
        }
    }

    /// Returns the tags, and one for the difficulty.
    pub(crate) fn all_tags(&self) -> Vec<String> {
        let difficulty = self.difficulty.map(|level| format!("difficulty {level}"));
        self.tags.iter().cloned().chain(difficulty).collect()
    }
}

/// A problem as it is written in a suite or in a line of a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenProblem {
    id: Option<String>,
    question: String,
    answer: Option<Value>,
    check: Option<Check>,
    #[serde(default)]
    tags: Vec<String>,
    difficulty: Option<u32>,
}

/// What stands before the answer of a problem of GSM8K (Cobbe et al. 2021, "Training Verifiers to
/// Solve Math Word Problems").
const GSM8K: &str = "####";

impl WrittenProblem {
    /// Returns the problem, or what is wrong with it.
    pub(crate) fn into_problem(self, default_id: String) -> Result<Problem, String> {
        let check = match (self.check, &self.answer) {
            (Some(check), _) => check,
            (None, Some(Value::String(text))) if text.contains(GSM8K) => {
                let answer = text.rsplit(GSM8K).next().unwrap_or_default();
                Check::of_answer(&Value::from(answer.trim()))
            }
            (None, Some(answer)) => Check::of_answer(answer),
            (None, None) => return Err("no answer; expected `answer` or `check`".to_owned()),
        };

        if let Some(problem) = check.problem() {
            return Err(problem);
        }
        if self.question.trim().is_empty() {
            return Err("the question is blank; expected a text".to_owned());
        }

        Ok(Problem {
            id: self.id.unwrap_or(default_id),
            question: self.question,
            check,
            tags: self.tags,
            difficulty: self.difficulty,
        })
    }
}

/// Reads problems from JSON lines, each an object with `question` and `answer` or `check`, and
/// optionally `id`, `tags` and `difficulty`. In an answer in the form of GSM8K, the text after `####`
/// counts. Ids default to `name` and the number of the line.
pub(crate) fn from_lines(name: &str, text: &str) -> Result<Vec<Problem>, String> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());

    let problems = lines.map(|(index, line)| {
        let number = index + 1;
        let written: WrittenProblem = serde_json::from_str(line)
            .map_err(|error| format!("{name}, line {number}: {error}"))?;
        written
            .into_problem(format!("{name}-{number}"))
            .map_err(|problem| format!("{name}, line {number}: {problem}"))
    });
    problems.collect()
}
