//! The questions for the model. Each includes the number of the next thought.

use std::ops::RangeInclusive;

use cogwork_text::Name;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{Ask, Branch, Solve, Stage, StageReply, Stop, Thought, ThoughtId};

// The ways to continue, which are stages.
pub(super) const REVISE: &str = "thought_revision";
pub(super) const THINK_MORE: &str = "thought_adjustment";
pub(super) const BRANCH: &str = "branch_creation";
pub(super) const CONCLUDE: &str = "hypothesis_generation";

/// Returns when the model should choose a way. The text follows the name of the stage.
fn purpose(way: &str) -> &'static str {
    match way {
        REVISE => "to put a wrong thought right",
        THINK_MORE => "to think more",
        BRANCH => "to try another way",
        _ => "when you see a solution",
    }
}

/// The field with the number of further thoughts that the model expects.
const NEEDED: &str = "thoughts_needed";

/// The field with the number of the revised thought.
const REVISES: &str = "revises_thought";

/// The field with the number of the thought where a branch starts.
pub(super) const FROM: &str = "branch_from_thought";

/// The field with the name of a new branch.
pub(super) const NAME: &str = "branch_id";

/// The maximum number of earlier thoughts that a question names. Older ones are in the
/// conversation.
const MAX_NAMED: usize = 50;

/// The numbers of thoughts that are asked for.
const FEW_THOUGHTS: RangeInclusive<u32> = 1..=20;

/// The approach, which is the thought, and its length.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Outline {
    pub(super) thought: String,
    /// how many more thoughts you expect to need
    #[schemars(range(min = 1, max = 1000))]
    pub(super) thoughts_needed: u32,
}

/// What is needed after an evaluation or a decision.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Needed {
    /// how many more thoughts you expect to need
    #[schemars(range(min = 1, max = 1000))]
    pub(super) thoughts_needed: Option<u32>,
}

/// Asks for the approach, and how many thoughts it will take.
pub(super) fn outline(cx: &Solve, stage: &str) -> Result<Ask<Outline>, Stop> {
    let question = Ask::of::<Outline>(prompt(cx, stage)?);
    Ok(question.choosing(NEEDED, FEW_THOUGHTS))
}

/// Asks for the next thought.
pub(super) fn thought(cx: &Solve, stage: &str) -> Result<Ask, Stop> {
    let branch = on_new_branch(cx);
    Ok(Ask::new(format!("{branch}{}", prompt(cx, stage)?)))
}

/// Asks for an evaluation or a decision, and for one of the `ways` to continue.
pub(super) fn choice(cx: &Solve, stage: &str, ways: &[&str]) -> Result<Ask, Stop> {
    let way = |way: &&str| format!("{way} {}", purpose(way));
    let listed: Vec<String> = ways.iter().map(way).collect();
    let question = format!("{}\nThen go on: {}.", prompt(cx, stage)?, listed.join(", "));

    let stages = ways.iter().map(|way| cx.stage(way));
    let stages: Vec<&Stage> = stages.collect::<Result<_, _>>()?;
    Ok(Ask::new(question)
        .with_fields_of::<Needed>()
        .choosing(NEEDED, FEW_THOUGHTS)
        .with_next(stages)
        .narrowed_next(conclusion(cx)))
}

/// Returns the stage of a conclusion if the last thought repeats the one before it. A model that
/// repeats itself would do so until the run is stopped.
fn conclusion(cx: &Solve) -> Option<&'static str> {
    let generation = |thought: &&Thought| thought.stage() == "thought_generation";
    let mut generated = cx.path().filter(generation).map(Thought::text);
    let last = generated.next()?;
    let before = generated.next()?;

    (last == before).then_some(CONCLUDE)
}

/// Asks for a better version of an earlier thought.
pub(super) fn revision(cx: &Solve, stage: &str) -> Result<Ask, Stop> {
    let known = revisable(cx);
    let question = format!("{}{}", prompt(cx, stage)?, can_name(&known));

    Ok(Ask::new(question)
        .with_fields(cx.stage(stage)?.parameters())
        .choosing(REVISES, known.iter().map(|known| known.get()))
        .with_check(move |reply| check_named(reply, REVISES, &known)))
}

/// Asks for the thought where a branch starts, and for its name.
pub(super) fn branch(cx: &Solve, stage: &str) -> Result<Ask, Stop> {
    let known = newest(cx.path());
    let branches = cx.session().branches().iter();
    let taken: Vec<String> = branches.map(|branch| branch.name().to_owned()).collect();
    let question = format!("{}{}", prompt(cx, stage)?, can_name(&known));

    let ask = Ask::new(question)
        .with_fields(cx.stage(stage)?.parameters())
        .choosing(FROM, known.iter().map(|known| known.get()));
    Ok(ask.with_check(move |reply| {
        check_named(reply, FROM, &known)?;
        check_free(reply.field(NAME), &taken)
    }))
}

/// Asks for the parameters of the stage.
pub(super) fn parameters(cx: &Solve, stage: &str) -> Result<Ask, Stop> {
    Ok(Ask::new(prompt(cx, stage)?).with_fields(cx.stage(stage)?.parameters()))
}

/// Returns the prompt of the stage, with the number of the thought.
pub(super) fn prompt(cx: &Solve, stage: &str) -> Result<String, Stop> {
    let number = cx.session().thoughts().len() + 1;
    Ok(format!(
        "This is thought {number}. {}",
        cx.prompt(&[stage])?
    ))
}

/// Returns the thoughts that can be revised, the last one last.
fn revisable(cx: &Solve) -> Vec<ThoughtId> {
    const REVISABLE: [&str; 3] = [
        "initial_thought_planning",
        "thought_generation",
        "thought_revision",
    ];
    newest(
        cx.path()
            .filter(|thought| REVISABLE.contains(&thought.stage())),
    )
}

/// Returns the first thoughts of a path that starts with the last one, in reverse order.
fn newest<'s>(path: impl Iterator<Item = &'s Thought>) -> Vec<ThoughtId> {
    let mut newest: Vec<ThoughtId> = path.map(Thought::id).take(MAX_NAMED).collect();
    newest.reverse();
    newest
}

/// Lists the numbers that the model can name, since models count badly.
fn can_name(known: &[ThoughtId]) -> String {
    format!(" Thoughts that you can name: {}.", list(known))
}

fn list(thoughts: &[ThoughtId]) -> String {
    let thoughts: Vec<String> = thoughts.iter().map(ThoughtId::to_string).collect();
    thoughts.join(", ")
}

/// Returns the number in a field.
pub(super) fn number(reply: &StageReply, field: &str) -> Option<u64> {
    reply.fields.get(field).and_then(Value::as_u64)
}

/// Checks that a field names one of the `known` thoughts.
fn check_named(reply: &StageReply, field: &str, known: &[ThoughtId]) -> Result<(), String> {
    let number = number(reply, field);
    if number.is_some_and(|number| known.iter().any(|known| u64::from(known.get()) == number)) {
        return Ok(());
    }

    let found = reply.fields.get(field);
    let found = found.map_or_else(String::new, Value::to_string);
    let found = Name(&found);
    Err(format!(
        "`{field}` is {found}, expected one of the thoughts {}",
        list(known)
    ))
}

/// Checks that a branch can have this name.
fn check_free(name: &str, taken: &[String]) -> Result<(), String> {
    let shown = Name(name);
    if taken.iter().any(|taken| taken == name) {
        return Err(format!(
            "`{NAME}` is `{shown}`, expected a name that no branch has yet"
        ));
    }

    if name.trim().is_empty() || name.chars().count() > 64 {
        return Err(format!(
            "`{NAME}` is `{shown}`, expected a name of 1 to 64 characters"
        ));
    }

    Ok(())
}

/// Returns a note on the current branch if it is new.
fn on_new_branch(cx: &Solve) -> String {
    let new_branch = || {
        let session = cx.session();
        let branch = session.branch(session.current()).ok()?;
        let from = branch
            .forked_from()
            .filter(|_| branch.thoughts().is_empty())?;

        described(branch, from, session.thoughts().last()?)
    };
    new_branch().unwrap_or_default()
}

/// Returns the description of a branch that was opened by the thought `opening`.
fn described(branch: &Branch, from: ThoughtId, opening: &Thought) -> Option<String> {
    let name = Name(branch.name());
    let named = opening.parameter(FROM)?;

    let last = opening.id();
    let aside = if from == last {
        String::new()
    } else {
        let first = from.get().saturating_add(1);
        format!(" Thoughts {first} to {last} are left aside.")
    };

    Some(format!(
        "You are on the branch `{name}` now, from thought {named} on.{aside}\n\n"
    ))
}
