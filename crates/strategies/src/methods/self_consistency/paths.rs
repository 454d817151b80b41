//! Paths as branches of the session.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Path;
use crate::{Solve, Stop, ThoughtDraft, ThoughtId};

/// A path of reasoning, which is the thought, and its answer.
#[derive(Deserialize, JsonSchema)]
pub(super) struct PathAnswer {
    thought: String,
    /// the answer alone, as short as can be, with its unit if it has one
    answer: String,
}

impl PathAnswer {
    /// Returns the answer.
    ///
    /// It is the last line of the form, so its text also contains what the model added after it: a
    /// closing remark after an empty line, or a line with another label. These don't belong to the
    /// vote.
    pub(super) fn answer(&self) -> &str {
        without_remarks(&self.answer)
    }
}

fn without_remarks(answer: &str) -> &str {
    let answer = answer.trim();
    let mut end = 0;

    for line in answer.split_inclusive('\n') {
        let is_added = end > 0 && (line.trim().is_empty() || is_labelled(line));
        if is_added {
            break;
        }

        end += line.len();
    }

    answer.get(..end).unwrap_or(answer).trim()
}

/// Returns whether a line begins with a label of a few words, such as `Confidence: high`.
fn is_labelled(line: &str) -> bool {
    let Some((label, _)) = line.split_once(':') else {
        return false;
    };

    let label = label.trim_matches(|mark: char| mark.is_whitespace() || "*_`-".contains(mark));
    let is_word = |character: char| character.is_alphabetic() || character == ' ';
    !label.is_empty() && label.chars().count() <= MAX_LABEL && label.chars().all(is_word)
}

/// The maximum number of characters of a label.
const MAX_LABEL: usize = 30;

/// Adds a branch for a path. A branch without an answer is pruned.
pub(super) fn think_path(
    cx: &mut Solve,
    stage: &str,
    sampled: ThoughtId,
    name: &str,
    path: &Path,
) -> Result<(), Stop> {
    let text = match path {
        Ok(path) if path.thought.is_empty() => path.answer().to_owned(),
        Ok(path) => path.thought.clone(),
        Err(problem) => format!("No answer: {problem}"),
    };

    let branch = cx.session_mut().fork(sampled, name)?;
    cx.add_on(branch, ThoughtDraft::at(stage, text).with("path_id", name))?;
    if path.is_err() {
        cx.session_mut().prune(branch)?;
    }
    Ok(())
}
