//! Paths as branches of the session.

use serde_json::json;

use super::names::{ANSWERS, PATH};
use super::votes::Votes;
use crate::drivers::answering::{ANSWER, take_as_it_is};
use crate::{
    AskProblem, Asked, Branch, BranchId, ConflictRule, Done, Next, SolveError, Solving, Stage,
    StageReply, Thought, ThoughtDraft, ThoughtId,
};

/// Returns the answer of a path.
pub(super) fn answer_of(reply: &StageReply) -> &str {
    reply.field(ANSWER).trim()
}

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

    let mut answers: Vec<(String, String)> = Vec::new();
    for path in asked {
        let name = path.name.clone();
        if let Some(answer) = take_path(solving, stage, sampled, path)? {
            answers.push((name, answer));
        }
    }

    solving.set_note(ANSWERS, json!(answers));
    Ok(next)
}

/// Adds a branch for a path, and returns the answer. A branch without an answer is pruned.
fn take_path(
    solving: &mut Solving,
    stage: &Stage,
    sampled: ThoughtId,
    path: Asked,
) -> Result<Option<String>, SolveError> {
    if path.reply == Err(AskProblem::NotNeeded) {
        return Ok(None);
    }

    let session = solving.session_mut();
    let branch = session.fork(sampled, path.name.as_str())?;
    let draft = ThoughtDraft::at(stage.name(), path_text(&path)).with(PATH, path.name);
    session.think_on(branch, draft)?;

    match path.reply {
        Ok(reply) => Ok(Some(answer_of(&reply).to_owned())),
        Err(_) => {
            session.prune(branch)?;
            Ok(None)
        }
    }
}

fn path_text(path: &Asked) -> String {
    match &path.reply {
        Ok(reply) if reply.text.is_empty() => answer_of(reply).to_owned(),
        Ok(reply) => reply.text.clone(),
        Err(problem) => format!("No answer: {problem}"),
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
        session.merge(&others, *target, ConflictRule::KeepTarget, draft)?;
    }

    Ok(())
}
