//! Paths as branches of the session.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::names::{ANSWERS, LOST, PATH};
use super::votes::Votes;
use crate::drivers::answering::{ANSWER, take_as_it_is};
use crate::{
    AskProblem, Asked, Branch, BranchId, Done, Next, SolveError, Solving, Stage, StageReply,
    Thought, ThoughtDraft, ThoughtId,
};

/// A path of reasoning, which is the thought, and its answer.
#[derive(Deserialize, JsonSchema)]
pub(super) struct PathAnswer {
    thought: String,
    /// the answer alone, as short as can be, with its unit if it has one
    answer: String,
}

/// Returns the answer of a path.
///
/// The answer is the last line of the form, so its text also contains what the model added after
/// it: a closing remark after an empty line, or a line with another label. These don't belong to the
/// vote.
pub(super) fn answer_of(reply: &StageReply) -> &str {
    without_remarks(reply.field(ANSWER))
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

/// Adds a branch for each path, and keeps the answers.
pub(super) fn take_paths(
    solving: &mut Solving,
    stage: &Stage,
    done: Done,
) -> Result<Next, SolveError> {
    let next = done.next_of(stage);
    let Done::AllAsked(asked) = done else {
        return take_as_it_is(solving, stage, &done);
    };

    let Some(sampled) = solving.path().next().map(Thought::id) else {
        return Err(SolveError::driver("the paths have nothing to begin from"));
    };

    // Kept first, so that the votes are known even if the session has no room for all paths.
    let replied = asked.iter().filter(|path| path.reply.is_ok()).count();
    let needed = asked.iter().filter(|path| is_needed(path)).count();
    let answers: Vec<(&str, &str)> = asked.iter().filter_map(vote).collect();
    solving.set_note(ANSWERS, json!(answers));
    solving.set_note(LOST, needed - replied);

    for path in asked.into_iter().filter(is_needed) {
        take_path(solving, stage, sampled, path)?;
    }

    Ok(next)
}

/// Returns whether a path finished, with an answer or without.
fn is_needed(path: &Asked) -> bool {
    path.reply != Err(AskProblem::NotNeeded)
}

/// Returns the name and the answer of a path.
fn vote(path: &Asked) -> Option<(&str, &str)> {
    let reply = path.reply.as_ref().ok()?;
    Some((path.name.as_str(), answer_of(reply)))
}

/// Adds a branch for a path. A branch without an answer is pruned.
fn take_path(
    solving: &mut Solving,
    stage: &Stage,
    sampled: ThoughtId,
    path: Asked,
) -> Result<(), SolveError> {
    let session = solving.session_mut();
    let branch = session.fork(sampled, path.name.as_str())?;
    let draft = ThoughtDraft::at(stage.name(), path_text(&path)).with(PATH, path.name.as_str());
    session.think_on(branch, draft)?;

    if path.reply.is_err() {
        session.prune(branch)?;
    }

    Ok(())
}

fn path_text(path: &Asked) -> String {
    let reply = match &path.reply {
        Ok(reply) => reply,
        Err(problem) => return format!("No answer: {problem}"),
    };
    match reply.value() {
        Some(PathAnswer { thought, answer }) if thought.is_empty() => {
            without_remarks(&answer).to_owned()
        }
        Some(PathAnswer { thought, .. }) => thought,
        None => reply.text.clone(),
    }
}

/// Merges the branches that have an answer into one that has the winning answer, and continues
/// there.
pub(super) fn merge(
    solving: &mut Solving,
    votes: &Votes,
    draft: ThoughtDraft,
) -> Result<(), SolveError> {
    let session = solving.session_mut();
    let branch = |path: &str| session.branch_named(path).map(Branch::id);
    let branches: Vec<BranchId> = votes.paths().filter_map(branch).collect();

    let Some((target, others)) = branches.split_first() else {
        return Err(SolveError::driver("no path has an answer"));
    };

    let mut others = others.to_vec();
    others.sort_unstable();

    session.switch(*target)?;
    if others.is_empty() {
        session.think(draft)?;
    } else {
        session.merge(&others, *target, draft)?;
    }

    Ok(())
}
