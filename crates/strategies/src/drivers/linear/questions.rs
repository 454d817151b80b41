//! The questions for the model. Each includes the number of the next thought.

use std::ops::RangeInclusive;

use cogwork_text::Name;
use cogwork_typed::AnswerKey;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::names::{BRANCH, FROM, LinearStage, NEEDED, REVISES};
use super::ways::Way;
use crate::drivers::answering::{ask, ask_for_answer, choosing};
use crate::drivers::stage_names::StageName;
use crate::{Ask, Branch, Solving, Stage, StageReply, StageTurn, Thought, ThoughtId};

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
pub(super) struct Decision {
    /// how many more thoughts you expect to need
    #[schemars(range(min = 1, max = 1000))]
    pub(super) thoughts_needed: Option<u32>,
}

/// Asks for the approach, and how many thoughts it will take.
pub(super) fn outline(turn: &StageTurn<'_>) -> Ask {
    ask(turn, prompt(turn))
        .with_fields_of::<Outline>()
        .narrowed(NEEDED, choosing(FEW_THOUGHTS))
}

/// Asks for the next thought.
pub(super) fn thought(turn: &StageTurn<'_>) -> Ask {
    let branch = on_new_branch(turn.solving);
    ask(turn, format!("{branch}{}", prompt(turn)))
}

/// Asks for an evaluation or a decision, and for one of the `ways` to continue.
pub(super) fn choice(turn: &StageTurn<'_>, ways: &[Way]) -> Ask {
    let way = |way: &Way| format!("{} {}", way.stage().name(), way.purpose());
    let listed: Vec<String> = ways.iter().map(way).collect();
    let question = format!("{}\nThen go on: {}.", prompt(turn), listed.join(", "));

    let in_table = |way: &Way| turn.strategy.stage(way.stage().name());
    let stages: Vec<&Stage> = ways.iter().filter_map(in_table).collect();
    ask(turn, question)
        .with_fields_of::<Decision>()
        .narrowed(NEEDED, choosing(FEW_THOUGHTS))
        .with_next(stages)
        .narrowed_next(conclusion(turn.solving))
}

/// Returns the stage of a conclusion if the last thought repeats the one before it. A model that
/// repeats itself would do so until the run is stopped.
fn conclusion(solving: &Solving) -> Option<&'static str> {
    let generation = |thought: &&Thought| LinearStage::ThoughtGeneration.is_stage_of(thought);
    let mut generated = solving.path().filter(generation).map(Thought::text);
    let last = generated.next()?;
    let before = generated.next()?;

    (last == before).then(|| Way::Conclude.stage().name())
}

/// Asks for a better version of an earlier thought.
pub(super) fn revision(turn: &StageTurn<'_>) -> Ask {
    let known = revisable(turn.solving);
    let question = format!("{}{}", prompt(turn), can_name(&known));

    ask(turn, question)
        .with_fields(turn.stage.parameters())
        .narrowed(REVISES, one_of(&known))
        .with_check(move |reply| check_named(reply, REVISES, &known))
}

/// Asks for the thought where a branch starts, and for its name.
pub(super) fn branch(turn: &StageTurn<'_>) -> Ask {
    let known = newest(turn.solving.path());
    let branches = turn.solving.session().branches().iter();
    let taken: Vec<String> = branches.map(|branch| branch.name().to_owned()).collect();
    let question = format!("{}{}", prompt(turn), can_name(&known));

    let ask = ask(turn, question)
        .with_fields(turn.stage.parameters())
        .narrowed(FROM, one_of(&known));
    ask.with_check(move |reply| {
        check_named(reply, FROM, &known)?;
        check_free(reply.field(BRANCH), &taken)
    })
}

/// Asks for the parameters of the stage.
pub(super) fn parameters(turn: &StageTurn<'_>) -> Ask {
    ask(turn, prompt(turn)).with_fields(turn.stage.parameters())
}

/// Asks for the solution, with the answer.
pub(super) fn solution(turn: &StageTurn<'_>) -> Ask {
    ask_for_answer(turn, ask(turn, prompt(turn)))
}

/// Returns the prompt of the stage, with the number of the thought.
fn prompt(turn: &StageTurn<'_>) -> String {
    let number = turn.solving.session().thoughts().len() + 1;
    format!("This is thought {number}. {}", turn.stage.prompt())
}

fn one_of(known: &[ThoughtId]) -> impl FnOnce(AnswerKey) -> AnswerKey + use<> {
    let numbers: Vec<u32> = known.iter().map(|known| known.get()).collect();
    choosing(numbers)
}

/// Returns the thoughts that can be revised, the last one last.
fn revisable(solving: &Solving) -> Vec<ThoughtId> {
    const REVISABLE: [LinearStage; 3] = [
        LinearStage::InitialThoughtPlanning,
        LinearStage::ThoughtGeneration,
        LinearStage::ThoughtRevision,
    ];

    let is_revisable =
        |thought: &&Thought| REVISABLE.iter().any(|stage| stage.is_stage_of(thought));
    newest(solving.path().filter(is_revisable))
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

/// Checks that a field names one of the `known` thoughts.
fn check_named(reply: &StageReply, field: &str, known: &[ThoughtId]) -> Result<(), String> {
    let value = reply.fields.get(field);
    let number = value.and_then(Value::as_u64);
    if number.is_some_and(|number| known.iter().any(|known| u64::from(known.get()) == number)) {
        return Ok(());
    }

    let found = value.map_or_else(String::new, Value::to_string);
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
            "`{BRANCH}` is `{shown}`, expected a name that no branch has yet"
        ));
    }

    if name.trim().is_empty() || name.chars().count() > 64 {
        return Err(format!(
            "`{BRANCH}` is `{shown}`, expected a name of 1 to 64 characters"
        ));
    }

    Ok(())
}

/// Returns a note on the current branch if it is new.
fn on_new_branch(solving: &Solving) -> String {
    let new_branch = || {
        let session = solving.session();
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
