//! Adds thoughts and branches for what was done.

use serde_json::Value;

use super::names::{BRANCH, DECISION, FROM, HYPOTHESIS, LinearStage, NEEDED};
use super::questions::{Decision, Outline};
use super::ways::Way;
use crate::drivers::answering::{draft, take_answer, take_as_it_is};
use crate::drivers::stage_names::StageName;
use crate::{Done, Next, SolveError, Solving, Stage, StageReply, Thought, ThoughtDraft};

pub(super) fn take_outline(
    solving: &mut Solving,
    stage: &Stage,
    done: &Done,
) -> Result<Next, SolveError> {
    let Some(outline) = done.value::<Outline>() else {
        return take_as_it_is(solving, stage, done);
    };

    let thought = draft(stage, &outline.thought, "The way is open.");
    let thought = with_total(solving, thought, Some(outline.thoughts_needed));
    solving.think(thought)?;

    Ok(done.next_of(stage))
}

/// Continues with the revision, or keeps the model's choice for the decision.
pub(super) fn take_judgement(
    solving: &mut Solving,
    stage: &Stage,
    done: &Done,
) -> Result<Next, SolveError> {
    let Some(reply) = done.reply() else {
        return take_as_it_is(solving, stage, done);
    };

    solving.think(draft(stage, &reply.text, "Judged."))?;

    let revision = Next::stage(LinearStage::ThoughtRevision.name());
    if done.next_of(stage) == revision {
        return Ok(revision);
    }

    keep_choice(solving, reply);
    Ok(Next::stage(LinearStage::ContinuationDecision.name()))
}

/// Continues as the model chose, now or with its evaluation.
pub(super) fn take_decision(
    solving: &mut Solving,
    stage: &Stage,
    done: &Done,
) -> Result<Next, SolveError> {
    if let Some(reply) = done.reply() {
        keep_choice(solving, reply);
        solving.take_note(DECISION);
        solving.think(draft(stage, &reply.text, "Decided."))?;
        return Ok(done.next_of(stage));
    }

    let decision = solving.take_note(DECISION);
    solving.think(done.draft_at(stage))?;
    match decision {
        Some(Value::String(stage)) => Ok(Next::Stage(stage)),
        // Once the thoughts are used up, no other way is left.
        Some(_) | None => Ok(Next::stage(Way::Conclude.stage().name())),
    }
}

/// Keeps the model's choice, and how many thoughts it still expects.
fn keep_choice(solving: &mut Solving, reply: &StageReply) {
    if let Some(next) = &reply.next {
        solving.set_note(DECISION, next.as_str());
    }

    match reply.value() {
        Some(Decision {
            thoughts_needed: Some(needed),
        }) => solving.set_note(NEEDED, needed),
        _ => drop(solving.take_note(NEEDED)),
    }
}

pub(super) fn take_adjustment(
    solving: &mut Solving,
    stage: &Stage,
    done: &Done,
) -> Result<Next, SolveError> {
    let needed = solving.take_note(NEEDED).and_then(|needed| needed.as_u64());
    let needed = needed.and_then(|needed| u32::try_from(needed).ok());

    let thought = with_total(solving, done.draft_at(stage), needed);
    solving.think(thought.needs_more_thoughts())?;
    Ok(done.next_of(stage))
}

/// Adds the thought that opens a branch, and continues on that branch.
pub(super) fn take_branch(
    solving: &mut Solving,
    stage: &Stage,
    done: &Done,
) -> Result<Next, SolveError> {
    let Some(reply) = done.reply() else {
        return take_as_it_is(solving, stage, done);
    };

    let name = reply.field(BRANCH);
    let next = take_worded(solving, stage, done, name)?;

    let named = reply.fields.get(FROM).and_then(Value::as_u64);
    let named = named.unwrap_or_default();
    let leads_on = |thought: &&Thought| {
        let generation = LinearStage::ThoughtGeneration.name();
        let stage = solving.session().stage_of(thought);
        let may_follow = stage.next_names().iter().any(|next| next == generation);

        may_follow && u64::from(thought.id().get()) >= named
    };

    // The path starts with the last thought, so this is the first one after the named one. There is
    // always one, since the thought that opens the branch qualifies.
    let from = solving.path().filter(leads_on).last().map(Thought::id);
    if let Some(from) = from {
        let branch = solving.session_mut().fork(from, name)?;
        solving.session_mut().switch(branch)?;
    }

    Ok(next)
}

pub(super) fn take_hypothesis(
    solving: &mut Solving,
    stage: &Stage,
    done: &Done,
) -> Result<Next, SolveError> {
    let hypothesis = done.reply().map_or("", |reply| reply.field(HYPOTHESIS));
    take_worded(solving, stage, done, hypothesis)
}

pub(super) fn take_solution(
    solving: &mut Solving,
    stage: &Stage,
    done: &Done,
) -> Result<Next, SolveError> {
    let thought = take_answer(solving, stage, done);
    solving.think(thought)?;
    Ok(done.next_of(stage))
}

/// Adds a thought. If it has no text, because its fields contain everything, the text is
/// `otherwise`.
pub(super) fn take_worded(
    solving: &mut Solving,
    stage: &Stage,
    done: &Done,
    otherwise: &str,
) -> Result<Next, SolveError> {
    let mut thought = done.draft_at(stage);
    if thought.thought.is_empty() {
        thought.thought = otherwise.to_owned();
    }

    solving.think(thought)?;
    Ok(done.next_of(stage))
}

/// Sets the expected number of thoughts on the current branch, which never decreases.
fn with_total(solving: &Solving, thought: ThoughtDraft, needed: Option<u32>) -> ThoughtDraft {
    let Ok(branch) = solving.session().branch(solving.session().current()) else {
        return thought;
    };

    let so_far = u32::try_from(branch.thoughts().len()).unwrap_or(u32::MAX);
    let expected = so_far
        .saturating_add(1)
        .saturating_add(needed.unwrap_or_default());

    thought.with_total_thoughts(expected.max(branch.total_thoughts()))
}
