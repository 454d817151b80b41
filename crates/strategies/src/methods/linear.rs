use std::ops::RangeInclusive;

use cogwork_text::Name;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::shared::{ask_for_answer, or, respond};
use crate::session::{Thought, ThoughtId};
use crate::{Answer, Ask, Method, Solve, Stage, Stop, Strategy, StrategyName};

/// Thinks one thought after the other, with evaluations, revisions and branches, and ends with a
/// verified hypothesis.
///
/// Every question includes the number of the next thought, so that the model can refer to earlier
/// ones. A revision replaces a thought in the session. A branch is a branch of the session, on
/// which the run continues. If the model names a thought that isn't on the path, or uses the name
/// of an existing branch, it is asked again. A hypothesis that doesn't hold leads back to
/// `continuation_decision`.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `initial_thought_planning` | the model: the approach, and how many thoughts it will take |
/// | `thought_generation` | the model |
/// | `thought_evaluation` | the model: an evaluation, and how to continue |
/// | `thought_revision` | the model |
/// | `continuation_decision` | the method: the choice in the evaluation; otherwise, the model |
/// | `thought_adjustment` | the method: how many more thoughts the model expects |
/// | `branch_creation` | the model |
/// | `hypothesis_generation`, `hypothesis_verification` | the model |
/// | `solution_finalization` | the model: the solution, with the answer |
/// | `final_response` | the method: the answer |
///
/// A branch starts at the thought that the model named. If the table doesn't allow
/// `thought_generation` from there, it starts at the next thought from which that is allowed, so
/// that the evaluation of the named thought is kept. If a run is stopped, its best answer is the last
/// hypothesis, even if it didn't hold, or else the last thought. While there is room for little more
/// than a hypothesis and its verification, nothing else is asked for.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::methods::Linear;
/// use cogwork_strategies::Solver;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "thought: Tens and ones.\nthoughts_needed: 4",
///     "30 and 21 make 51.",
///     "thought: Right.\nnext: hypothesis_generation",
///     "hypothesis: 51",
///     "verification: 51 / 3 = 17.\nholds: yes",
///     "thought: 17 * 3 = 30 + 21 = 51.\nanswer: 51",
/// ]);
/// let solved = Solver::new(client, Linear::default()).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linear {
    /// The maximum number of generated thoughts and hypotheses, which is at least 1. Once it is
    /// reached, the model is asked for a last hypothesis, and the run gives up if that hypothesis
    /// doesn't hold. The default is 30.
    pub max_thoughts: usize,
}

impl Default for Linear {
    fn default() -> Self {
        Self { max_thoughts: 30 }
    }
}

/// The maximum number of branches.
const MAX_BRANCHES: usize = 10;

/// The maximum number of earlier thoughts that a question names. Older ones are in the
/// conversation.
const MAX_NAMED: usize = 50;

/// The numbers of further thoughts that are asked for.
const FEW_THOUGHTS: RangeInclusive<u32> = 1..=20;

/// The number of calls to the end after another thought: the thought and two evaluations, then a
/// hypothesis, its verification and the solution.
const CALLS_TO_END: u32 = 6;

const PLANNING: &str = "initial_thought_planning";
const GENERATION: &str = "thought_generation";

// The ways to continue, which are stages.
const REVISE: &str = "thought_revision";
const THINK_MORE: &str = "thought_adjustment";
const BRANCH: &str = "branch_creation";
const CONCLUDE: &str = "hypothesis_generation";

// The fields with the number of an earlier thought, and with the name of a branch.
const REVISES: &str = "revises_thought";
const FROM: &str = "branch_from_thought";
const NAME: &str = "branch_id";

/// The approach, which is the thought, and its length.
#[derive(Deserialize, JsonSchema)]
struct Outline {
    thought: String,
    /// how many more thoughts you expect to need
    #[schemars(range(min = 1, max = 1000))]
    thoughts_needed: usize,
}

/// What is needed after an evaluation or a decision.
#[derive(Default, Deserialize, JsonSchema)]
struct Needed {
    /// how many more thoughts you expect to need
    #[schemars(range(min = 1, max = 1000))]
    thoughts_needed: Option<usize>,
}

/// How the model wants to continue: the next stage, and how many more thoughts it expects to need.
struct Choice {
    way: String,
    needed: Option<usize>,
}

impl Method for Linear {
    fn strategy(&self) -> Strategy {
        StrategyName::Linear.strategy()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        cx.think_problem()?;
        let question = Ask::of::<Outline>(prompt(cx, PLANNING)?);
        let outline = cx.ask(PLANNING, question.choosing("thoughts_needed", FEW_THOUGHTS))?;
        let (way, needed) = (
            or(&outline.thought, "The way is open."),
            outline.thoughts_needed,
        );
        cx.think(PLANNING, format!("{way} {}", expected(needed)))?;

        let mut note = String::new();
        loop {
            generate(cx, &note)?;
            note.clear();

            let mut choice = self.evaluate(cx)?;
            while choice.way == CONCLUDE {
                if hypothesis_holds(cx)? {
                    let question = Ask::of(prompt(cx, "solution_finalization")?);
                    let answer = ask_for_answer(cx, "solution_finalization", question)?;
                    return respond(cx, answer);
                }
                if self.is_over(cx) {
                    let thoughts = generated(cx);
                    return Err(Stop::give_up(format!(
                        "after {thoughts} thoughts the hypothesis does not hold"
                    )));
                }
                choice = self.decide(cx)?;
            }

            if choice.way == BRANCH {
                note = branch(cx)?;
            } else {
                adjust(cx, choice.needed)?;
            }
        }
    }
}

impl Linear {
    /// Returns whether there is no room for another thought.
    fn is_over(&self, cx: &Solve) -> bool {
        // A hypothesis that was verified is worth more than a further thought without one.
        let is_hurried = cx.calls_left().is_some_and(|left| left <= CALLS_TO_END);
        is_hurried || generated(cx) >= self.max_thoughts.max(1)
    }

    /// Returns the ways to continue.
    fn ways(&self, cx: &Solve) -> Vec<&'static str> {
        if self.is_over(cx) {
            vec![CONCLUDE]
        // A small model may branch whenever it may.
        } else if cx.session().branches().len() > MAX_BRANCHES {
            vec![THINK_MORE, CONCLUDE]
        } else {
            vec![THINK_MORE, BRANCH, CONCLUDE]
        }
    }

    /// Asks for an evaluation of the last thought, and how to continue. A wrong thought is revised
    /// first.
    fn evaluate(&self, cx: &mut Solve) -> Result<Choice, Stop> {
        let mut ways = self.ways(cx);
        // A wrong thought can be put right even if there is no room for another one.
        ways.push(REVISE);

        let choice = choose(cx, "thought_evaluation", &ways, "Judged.")?;
        if choice.way == REVISE {
            revise(cx)?;
            return self.decide(cx);
        }

        cx.think("continuation_decision", format!("Next: {}.", choice.way))?;
        Ok(choice)
    }

    /// Asks how to continue, unless there is only one way.
    fn decide(&self, cx: &mut Solve) -> Result<Choice, Stop> {
        let ways = self.ways(cx);
        let [way] = ways.as_slice() else {
            return choose(cx, "continuation_decision", &ways, "Decided.");
        };

        cx.think("continuation_decision", format!("Next: {way}."))?;
        Ok(Choice {
            way: (*way).to_owned(),
            needed: None,
        })
    }
}

/// Returns the number of generated thoughts and hypotheses.
fn generated(cx: &Solve) -> usize {
    let thoughts = cx.session().thoughts().iter();
    thoughts.filter(is_generated).count()
}

fn is_generated(thought: &&Thought) -> bool {
    [GENERATION, CONCLUDE].contains(&&*thought.stage)
}

/// Returns the prompt of the stage, with the number of the thought.
fn prompt(cx: &Solve, stage: &str) -> Result<String, Stop> {
    let number = cx.session().thoughts().len() + 1;
    let prompt = cx.prompt(&[stage])?;
    Ok(format!("This is thought {number}. {prompt}"))
}

/// Asks for the next thought, after a note about the branch.
fn generate(cx: &mut Solve, note: &str) -> Result<(), Stop> {
    let question = Ask::new(format!("{note}{}", prompt(cx, GENERATION)?));
    let thought = cx.ask(GENERATION, question)?.text;
    // A hypothesis is closer to an answer than any thought.
    if !has_hypothesis(cx) {
        cx.keep_guess(&thought);
    }
    cx.think(GENERATION, &*thought)?;
    cx.progress(thought)
}

fn has_hypothesis(cx: &Solve) -> bool {
    let mut thoughts = cx.session().thoughts().iter();
    thoughts.any(|thought| thought.stage == CONCLUDE)
}

/// Asks for an evaluation or a decision, and for one of the `ways` to continue.
fn choose(cx: &mut Solve, stage: &str, ways: &[&str], otherwise: &str) -> Result<Choice, Stop> {
    let listed = ways.iter().map(|way| match *way {
        REVISE => "thought_revision to put a wrong thought right",
        THINK_MORE => "thought_adjustment to think more",
        BRANCH => "branch_creation to try another way",
        _ => "hypothesis_generation when you see a solution",
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    let question = format!("{}\nThen go on: {listed}.", prompt(cx, stage)?);

    let stages = ways.iter().map(|way| cx.stage(way));
    let stages: Vec<&Stage> = stages.collect::<Result<_, _>>()?;
    let question = Ask::new(question)
        .with_fields_of::<Needed>()
        .choosing("thoughts_needed", FEW_THOUGHTS)
        .with_next(stages);
    let reply = cx.ask(stage, question)?;

    cx.think(stage, or(&reply.text, otherwise))?;
    let needed: Needed = reply.value().unwrap_or_default();
    Ok(Choice {
        needed: needed.thoughts_needed,
        // With only one way, the model isn't asked for it. One that repeats itself has no other way:
        // it would do so until the run is stopped.
        way: match reply.next.filter(|_| !is_repeating(cx)) {
            Some(way) => way,
            None => CONCLUDE.to_owned(),
        },
    })
}

/// Returns whether the last thought repeats the one before it. A hypothesis may say what the thought
/// before it said.
fn is_repeating(cx: &Solve) -> bool {
    let mut generated = cx.path().filter(is_generated);
    let Some((last, before)) = generated.next().zip(generated.next()) else {
        return false;
    };
    [last, before]
        .iter()
        .all(|thought| thought.stage == GENERATION)
        && last.text == before.text
}

/// Asks for a better version of an earlier thought.
fn revise(cx: &mut Solve) -> Result<(), Stop> {
    let is_revisable = |stage: &str| [PLANNING, GENERATION, REVISE].contains(&stage);
    let known = newest(cx.path().filter(|thought| is_revisable(&thought.stage)));

    let reply = cx.ask(REVISE, naming(cx, REVISE, REVISES, known)?)?;
    let text = or(&reply.text, "Revised.");
    cx.add(reply.draft(REVISE, text))?;
    cx.progress(text)
}

/// Adds the thought with the number of thoughts that the model expects.
fn adjust(cx: &mut Solve, needed: Option<usize>) -> Result<(), Stop> {
    let more = || "More thoughts are needed.".to_owned();
    cx.think(THINK_MORE, needed.map_or_else(more, expected))?;
    Ok(())
}

fn expected(thoughts: usize) -> String {
    format!("About {thoughts} more thoughts are needed.")
}

/// Asks for a branch, adds the thought that opens it, and continues on it. Returns a note about it
/// for the model.
fn branch(cx: &mut Solve) -> Result<String, Stop> {
    // A branch of this name could begin anywhere.
    let trial = cx.session().clone();
    let question = naming(cx, BRANCH, FROM, newest(cx.path()))?.with_check(move |reply| {
        let forked = trial.clone().fork(ThoughtId(1), reply.field(NAME));
        forked.map(drop).map_err(|refused| refused.to_string())
    });
    let reply = cx.ask(BRANCH, question)?;
    let name = reply.field(NAME);
    let last = cx.add(reply.draft(BRANCH, or(&reply.text, name)))?;

    let named = reply.fields.get(FROM).and_then(ThoughtId::of_value);
    let named = named.unwrap_or(ThoughtId(1));
    let leads_on = |thought: &&Thought| {
        let next = &cx.session().stage_of(thought).next;
        next.iter().any(|next| next == GENERATION) && thought.id >= named
    };
    // The path starts with the last thought, so this is the first one after the named one. There is
    // always one, since the thought that opens the branch qualifies.
    let from = cx.path().filter(leads_on).last().map_or(last, |one| one.id);
    let branch = cx.session_mut().fork(from, name)?;
    cx.session_mut().switch(branch)?;

    let aside = match from == last {
        true => String::new(),
        false => format!(" Thoughts {} to {last} are left aside.", from.0 + 1),
    };
    let name = Name(name);
    Ok(format!(
        "You are on the branch `{name}` now, from thought {named} on.{aside}\n\n"
    ))
}

/// Returns the first thoughts of a path that starts with the last one, in reverse order.
fn newest<'s>(path: impl Iterator<Item = &'s Thought>) -> Vec<ThoughtId> {
    let mut newest: Vec<ThoughtId> = path.map(|thought| thought.id).take(MAX_NAMED).collect();
    newest.reverse();
    newest
}

/// Asks for the parameters of a stage, one of which is the number of a `known` thought. The question
/// lists them, since models count badly.
fn naming(
    cx: &Solve,
    stage: &str,
    field: &'static str,
    known: Vec<ThoughtId>,
) -> Result<Ask, Stop> {
    let known: Vec<usize> = known.into_iter().map(|thought| thought.0).collect();
    let list = known.iter().map(usize::to_string).collect::<Vec<_>>();
    let list = list.join(", ");
    let prompt = prompt(cx, stage)?;

    let question = Ask::new(format!("{prompt} Thoughts that you can name: {list}."))
        .with_fields(&cx.stage(stage)?.parameters)
        .choosing(field, known.clone());
    Ok(question.with_check(move |reply| {
        let named = reply.fields.get(field).unwrap_or(&Value::Null);
        match known.iter().any(|known| *named == *known) {
            true => Ok(()),
            false => Err(format!(
                "`{field}` is {named}, expected one of the thoughts {list}"
            )),
        }
    }))
}

/// Asks for a hypothesis and for its test. Returns whether it holds.
fn hypothesis_holds(cx: &mut Solve) -> Result<bool, Stop> {
    let reply = cx.ask(CONCLUDE, parameters(cx, CONCLUDE)?)?;
    let hypothesis = reply.field("hypothesis");
    cx.add(reply.draft(CONCLUDE, or(&reply.text, hypothesis)))?;
    cx.keep_guess(hypothesis);
    cx.progress(hypothesis)?;

    let stage = "hypothesis_verification";
    let reply = cx.ask(stage, parameters(cx, stage)?)?;
    cx.add(reply.draft(stage, or(&reply.text, reply.field("verification"))))?;
    Ok(reply.is_true("holds"))
}

/// Asks for the parameters of a stage.
fn parameters(cx: &Solve, stage: &str) -> Result<Ask, Stop> {
    Ok(Ask::new(prompt(cx, stage)?).with_fields(&cx.stage(stage)?.parameters))
}
